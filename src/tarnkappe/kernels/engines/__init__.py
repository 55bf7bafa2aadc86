"""Kernels of the engines."""
