"""Kernels of several tables."""
