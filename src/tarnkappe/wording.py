"""How numbers and paths are written for people, on the screen and in print."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from tarnkappe.fixes import known_columns

#: Whole numbers below it are exact as floats, and short enough to be written out.
_ALL_DIGITS = 1e15
#: What computing with floats may add to a number of three digits.
_A_HAIR = 1e-9


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
    rounded = f"{100 * share:.1f} %"
    return {"0.0 %": "< 0.1 %", "100.0 %": "> 99.9 %"}.get(rounded, rounded)


def duration(seconds: float) -> str:
    """A time, as roughly as it is known.

    >>> [duration(s) for s in (0.02, 3.2, 59, 600, 40_000)]
    ['less than 1 s', '3 s', '59 s', '10 min', '11 h']
    """
    if seconds < 1:
        return "less than 1 s"
    for unit, most, name in ((1, 120, "s"), (60, 7200, "min")):
        if seconds < most:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 3600:.0f} h"


def size(n_bytes: int) -> str:
    """An amount of memory.

    >>> [size(n) for n in (20_000, 5_400_000, 3_210_000_000)]
    ['less than 1 MB', '5 MB', '3.2 GB']
    """
    if n_bytes < 10**6:
        return "less than 1 MB"
    return f"{n_bytes / 1e6:.0f} MB" if n_bytes < 10**9 else f"{n_bytes / 1e9:.1f} GB"


def figure(number: float) -> str:
    """A level that was reached: whole numbers without decimals, others short.

    >>> figure(10.0), figure(0.28713), figure(math.inf)
    ('10', '0.287', '∞')
    """
    if math.isnan(number):
        return "nothing"
    if math.isinf(number):
        return "∞" if number > 0 else "−∞"
    return count(int(number)) if float(number).is_integer() else f"{number:.3g}"


def stated(number: float) -> str:
    """A number that was asked for, with all its digits: a bound that is rounded is another bound.

    >>> stated(5.0), stated(0.25), stated(1234567.0), stated(100000.5), stated(1e-06)
    ('5', '0.25', '1234567', '100000.5', '1e-06')
    """
    if float(number).is_integer() and abs(number) < _ALL_DIGITS:
        return str(int(number))
    return str(float(number))


def stated_share(share: float) -> str:
    """A share that was asked for, in percent with all its digits.

    >>> stated_share(0.02), stated_share(0.12345), stated_share(0.0004), stated_share(1.0)
    ('2.0 %', '12.345 %', '0.04 %', '100 %')
    """
    exact = 100 * Decimal(str(share))
    return percent(share) if exact == round(exact, 1) else f"{exact.normalize():f} %"


def at_most(number: float) -> str:
    """A number that something does not exceed, in three digits: rounded up, or the sentence would not be true.

    >>> at_most(2.71828), at_most(2.01375), at_most(1.5), at_most(20.0855), at_most(22026.4)
    ('2.72', '2.02', '1.5', '20.1', '22100')
    """
    if not 0 < number < math.inf:
        return figure(number)
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return stated(float(f"{math.ceil(number / step - _A_HAIR) * step:.6g}"))


def shown_path(path: str | Path) -> str:
    """A path as one would type it from here: relative if that is shorter."""
    full = Path(path)
    try:
        inside = full.resolve().relative_to(Path.cwd())
    except (ValueError, OSError):
        return str(full)
    return str(inside)


def command_to_verify(file: Path, columns: Sequence[str]) -> str:
    """What to type to check a file that says nothing about itself.

    >>> command_to_verify(Path("my census.csv"), ["age", "sex", "zip"])
    "tarnkappe verify 'my census.csv' --quasi age,sex --k 5"
    """
    return f"tarnkappe verify {shlex.quote(str(file))} {known_columns(columns)} --k 5"
