"""Kernels of multidimensional recoding."""
