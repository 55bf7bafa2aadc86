"""Kernels of microaggregation."""
