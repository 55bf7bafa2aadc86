"""Kernels of releases of the same people."""
