"""How numbers and paths are written for people, on the screen and in print."""

from __future__ import annotations

import math
from pathlib import Path


def count(number: int) -> str:
    """A number for people.

    >>> count(30162)
    '30 162'
    """
    return f"{number:,}".replace(",", " ")


def plural(number: int, noun: str, nouns: str | None = None) -> str:
    """A number with its noun.

    >>> plural(1, "row"), plural(2, "row")
    ('1 row', '2 rows')
    """
    return f"{count(number)} {noun if number == 1 else nouns or noun + 's'}"


def percent(share: float) -> str:
    """A share for people; only what is nothing or everything is called 0 or 100 per cent.

    >>> percent(0.0699), percent(0.00001), percent(1.0), percent(0.99999)
    ('7.0 %', '< 0.1 %', '100 %', '> 99.9 %')
    """
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    if share < 0.0005:
        return "< 0.1 %"
    return "> 99.9 %" if share > 0.9995 else f"{100 * share:.1f} %"


def figure(number: float) -> str:
    """A level that was reached: whole numbers without decimals, others short.

    >>> figure(10.0), figure(0.28713)
    ('10', '0.287')
    """
    if math.isnan(number):
        return "nothing"
    return count(int(number)) if float(number).is_integer() else f"{number:.3g}"


def shown_path(path: str | Path) -> str:
    """A path as one would type it from here: relative if that is shorter."""
    full = Path(path)
    try:
        inside = full.resolve().relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(full)
    return str(inside)
