"""Kernels of masks."""
