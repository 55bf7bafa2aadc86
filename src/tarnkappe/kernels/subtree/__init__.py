"""Kernels of subtree recoding."""
