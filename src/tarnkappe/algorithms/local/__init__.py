"""Algorithms of the local scheme: equal values may be published differently in different groups."""
