"""Kernels of local recoding."""
