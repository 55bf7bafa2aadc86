"""Microaggregation: groups of near records publish their centre instead of their values."""
