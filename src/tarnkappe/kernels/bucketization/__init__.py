"""Kernels of bucketisation."""
