"""Kernels of evaluations."""
