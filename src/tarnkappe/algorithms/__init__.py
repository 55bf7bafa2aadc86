"""Algorithms in rooms by scheme. A new file with an `Algorithm` in it is found by itself."""

from __future__ import annotations

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.registry import lookup, registered

__all__ = ["Algorithm", "algorithm_class", "all_algorithms"]


def all_algorithms() -> dict[str, type[Algorithm]]:
    """All algorithms by name."""
    return registered(__name__, Algorithm)  # type: ignore[type-abstract]


def algorithm_class(name: str, where: str | None = None) -> type[Algorithm]:
    """The algorithm registered under `name`."""
    return lookup(__name__, Algorithm, name, "algorithm", where)  # type: ignore[type-abstract]
