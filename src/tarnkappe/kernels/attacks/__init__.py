"""Kernels of attacks."""
