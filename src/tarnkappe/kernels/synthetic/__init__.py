"""Kernels for made-up people."""
