"""Kernels of single criteria."""
