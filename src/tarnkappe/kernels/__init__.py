"""Compiled functions on arrays: arrays in, arrays out, no objects, no I/O, no randomness of their own."""
