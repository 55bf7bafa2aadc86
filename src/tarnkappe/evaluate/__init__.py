"""Evaluators: what a release is worth against an attack that no criterion speaks about."""

from tarnkappe.evaluate.isolation import Isolation, isolation

__all__ = ["Isolation", "isolation"]
