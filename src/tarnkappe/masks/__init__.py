"""Masks change values instead of coarsening them: one file each. A new file with a `Mask` in it is found by itself."""

from __future__ import annotations

from tarnkappe.masks.base import Kept, Mask, MaskCard
from tarnkappe.registry import lookup, registered

__all__ = ["Kept", "Mask", "MaskCard", "all_masks", "mask_class"]


def all_masks() -> dict[str, type[Mask]]:
    """All masks by name."""
    return registered(__name__, Mask)  # type: ignore[type-abstract]


def mask_class(name: str, where: str | None = None) -> type[Mask]:
    """The mask registered under `name`."""
    return lookup(__name__, Mask, name, "mask", where)  # type: ignore[type-abstract]
