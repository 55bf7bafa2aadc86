"""Privacy criteria: one file each. A new file with a `Criterion` in it is found by itself."""

from __future__ import annotations

from tarnkappe.criteria.base import Card, Criterion, Verdict
from tarnkappe.registry import lookup, registered

__all__ = ["Card", "Criterion", "Verdict", "all_criteria", "criterion_class"]


def all_criteria() -> dict[str, type[Criterion]]:
    """All criteria by name."""
    return registered(__name__, Criterion)  # type: ignore[type-abstract]


def criterion_class(name: str, where: str | None = None) -> type[Criterion]:
    """The criterion registered under `name`."""
    return lookup(__name__, Criterion, name, "criterion", where)  # type: ignore[type-abstract]
