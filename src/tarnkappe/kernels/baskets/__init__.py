"""Kernels on sets of items: persons one after the other, the items of each in ascending order."""
