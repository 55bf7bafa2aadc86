"""Kernels of the room of risks."""
