"""Everything that speaks for a column pointing at people."""

from __future__ import annotations

from functools import cache

from tarnkappe.looks.base import Detector, Finding, Sight
from tarnkappe.registry import registered

#: Rows looked at to recognise what a column holds.
SAMPLE = 10_000

_ORDER = ("who", "which", "known")


@cache
def all_detectors() -> tuple[Detector, ...]:
    """The detectors, those first that find who somebody is."""
    found = registered("tarnkappe.looks.identifiers", Detector)  # type: ignore[type-abstract]
    return tuple(sorted((cls() for cls in found.values()), key=lambda d: _ORDER.index(d.tells)))


def findings(sight: Sight) -> tuple[Finding, ...]:
    """What the detectors find, the surest and worst first.

    >>> import polars as pl
    >>> sight = Sight.of("contact", pl.Series([f"p{i}@example.org" for i in range(30)]))
    >>> [f.reason for f in findings(sight)][0]
    'its values look like e-mail addresses'
    """
    found = [f for f in (detector.find(sight) for detector in all_detectors()) if f is not None]
    return tuple(sorted(found, key=lambda f: (_ORDER.index(f.tells), not f.by_content)))
