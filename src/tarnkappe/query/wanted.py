"""What a query wants of one column: all its conditions on it, taken together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Wanted:
    """The values of a column that a query asks for; a record without a value is asked for only by `missing`.

    Numbers lie between `low` and `high`, an end that is not included is `open`. `among` are the only values possible,
    `beside` are excluded; they are numbers where the column has numbers, and texts otherwise. `present`: any value
    will do, but there must be one. `doubtful`: a condition was asked of which nobody can tell whether a value meets it.

    >>> both = Wanted().at_least(20.0).below(30.0)
    >>> both.low, both.high, both.open_low, both.open_high
    (20.0, 30.0, False, True)
    >>> both.is_void, both.without_value().is_void
    (False, True)
    """

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    among: frozenset[float | str] | None = None
    beside: frozenset[float | str] = frozenset()
    missing: bool = False
    present: bool = False
    doubtful: bool = False

    @property
    def is_void(self) -> bool:
        """Whether no record can be meant: what has no value meets no condition on values."""
        return self.missing and self != Wanted(missing=True)

    def at_least(self, value: float) -> Wanted:
        """Also this or more."""
        return self if value <= self.low else replace(self, low=value, open_low=False)

    def above(self, value: float) -> Wanted:
        """Also more than this."""
        return self if value < self.low else replace(self, low=value, open_low=True)

    def at_most(self, value: float) -> Wanted:
        """Also this or less."""
        return self if value >= self.high else replace(self, high=value, open_high=False)

    def below(self, value: float) -> Wanted:
        """Also less than this."""
        return self if value > self.high else replace(self, high=value, open_high=True)

    def one_of(self, values: frozenset[float | str]) -> Wanted:
        """Also one of these."""
        return replace(self, among=values if self.among is None else self.among & values)

    def other_than(self, value: float | str) -> Wanted:
        """Also not this one."""
        return replace(self, beside=self.beside | {value})

    def without_value(self) -> Wanted:
        """Only records that have no value."""
        return replace(self, missing=True)

    def with_value(self) -> Wanted:
        """Only records that have a value, whichever."""
        return replace(self, present=True)

    def perhaps(self) -> Wanted:
        """Also what nobody can tell of the values."""
        return replace(self, doubtful=True)
