"""How numbers are written in a report: commas between thousands, and no digit that means nothing."""

from __future__ import annotations

import math


def count(n: int) -> str:
    """A whole number with commas between thousands.

    >>> count(30162)
    '30,162'
    """
    return f"{n:,}"


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "group"), counted(4012, "group")
    ('1 group', '4,012 groups')
    """
    return f"{count(n)} {one if n == 1 else many or one + 's'}"


def compact(n: float) -> str:
    """A round number as short as an axis needs it.

    >>> [compact(n) for n in (0, 50, 1500, 20_000, 3_000_000)]
    ['0', '50', '1.5k', '20k', '3M']
    """
    for unit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if n >= unit:
            return f"{n / unit:.3g}{letter}"
    return f"{n:g}"


def percent(share: float) -> str:
    """A share in percent; what is not nothing never reads as nothing, what is not all never reads as all.

    >>> [percent(p) for p in (0, 0.0002, 0.346, 0.99991, 1)]
    ['0%', '<0.1%', '34.6%', '>99.9%', '100%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1:
        return ">99.9%"
    return f"{share:.1%}"


def figure(value: float) -> str:
    """A metric or a level with sensible precision.

    >>> [figure(x) for x in (5.0, 0.18734, 0.00002, 7.5021, 1234567.8, float("inf"))]
    ['5', '0.187', '<0.001', '7.50', '1,234,568', '∞']
    """
    if math.isnan(value):
        return "not applicable"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 1:
        return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:.3f}" if abs(value) >= 0.001 else "<0.001"
