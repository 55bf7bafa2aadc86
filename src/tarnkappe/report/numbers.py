"""How numbers are written in a report: as on the screen, but never broken over two lines."""

from __future__ import annotations

import math

from tarnkappe import wording


def count(n: int) -> str:
    """A whole number in groups of three digits.

    >>> count(30162).split()
    ['30', '162']
    """
    return _unbroken(wording.count(n))


def counted(n: int, one: str, many: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "group"), counted(12, "group")
    ('1 group', '12 groups')
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

    >>> [percent(p).split() for p in (0, 0.346)]
    [['0', '%'], ['34.6', '%']]
    """
    return _unbroken(wording.percent(share))


def _unbroken(number: str) -> str:
    return number.replace(" ", "\u00a0")


def figure(value: float) -> str:
    """A metric or a level with sensible precision.

    >>> [figure(x) for x in (5.0, 0.18734, 0.00002, 7.5021, float("inf"))]
    ['5', '0.187', '<0.001', '7.50', '∞']
    """
    if math.isnan(value):
        return "not applicable"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == int(value) or abs(value) >= 1000:
        return count(round(value))
    if abs(value) >= 1:
        return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"
    return f"{value:.3f}" if abs(value) >= 0.001 else "<0.001"
