"""Kernels of full-domain searches."""
