"""Subtree and value-level recoding."""
