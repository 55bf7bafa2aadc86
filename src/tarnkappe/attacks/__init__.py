"""Attacks on releases: one file each. A new file with an `Attack` in it is found by itself."""

from __future__ import annotations

from tarnkappe.attacks.base import Attack, AttackCard, Finding
from tarnkappe.registry import lookup, registered

__all__ = ["Attack", "AttackCard", "Finding", "all_attacks", "attack_class"]


def all_attacks() -> dict[str, type[Attack]]:
    """All attacks by name."""
    return registered(__name__, Attack)  # type: ignore[type-abstract]


def attack_class(name: str, where: str | None = None) -> type[Attack]:
    """The attack registered under `name`."""
    return lookup(__name__, Attack, name, "attack", where)  # type: ignore[type-abstract]
