"""Taxonomies: how the values of a column may be coarsened."""

from tarnkappe.taxonomy.tree import ANY, Taxonomy

__all__ = ["ANY", "Taxonomy"]
