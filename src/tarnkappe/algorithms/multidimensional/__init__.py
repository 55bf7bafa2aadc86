"""Multidimensional generalisation: the space of quasi-identifiers is cut into boxes."""
