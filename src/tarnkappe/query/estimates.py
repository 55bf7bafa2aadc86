"""Estimates from published tables, with the bounds that the tables imply.

Within a record that stays together, every column answers by itself: a label says which part of its values is wanted,
and whether all of them are, or any. Columns that were torn from each other within a group are independent there: of a
group of n records, of which a and b match on either side, between ``max(0, a + b - n)`` and ``min(a, b)`` match on
both, and ``a b / n`` are expected to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.query.columns import Match
from tarnkappe.query.tables import Records, Tables
from tarnkappe.query.wanted import Wanted

#: An estimate and its lower and upper bound; NaN is an estimate that nobody can make, infinity no bound.
Figure = tuple[float, float, float]

_NOBODY: Figure = (math.nan, math.nan, math.nan)


@dataclass(frozen=True, eq=False)
class _Side:
    """How the records of one strand answer, all conditions on its columns together."""

    records: Records
    share: Flags | Floats
    certain: Flags
    possible: Flags

    @property
    def bounds(self) -> tuple[Floats, Floats]:
        """How many records of every group match at least, and at most."""
        return self.records.per_group(self.certain), self.records.per_group(self.possible)


@dataclass(frozen=True, eq=False)
class _Others:
    """What the strands without the column that is added up leave of every group."""

    share: Floats
    least: Floats
    most: Floats


def counted(tables: Tables, wanted: Mapping[str, Wanted]) -> Figure:
    """How many records match."""
    sides = _sides(tables, wanted)
    if not sides:
        return (float(tables.n_records),) * 3
    if len(sides) == 1:
        (side,) = sides
        return float(side.share.sum()), float(side.certain.sum()), float(side.possible.sum())
    rest = _together(tables, sides)
    return float((rest.share * tables.sizes).sum()), float(rest.least.sum()), float(rest.most.sum())


def added_up(tables: Tables, wanted: Mapping[str, Wanted], column: str) -> Figure:
    """The sum of a column over the records that match and have a value."""
    found = _Found.of(tables, wanted, column)
    return found.expected_sum, found.least_sum, found.most_sum


def averaged(tables: Tables, wanted: Mapping[str, Wanted], column: str) -> Figure:
    """The mean of a column over the records that match and have a value."""
    found = _Found.of(tables, wanted, column)
    if not found.possible.any():
        return _NOBODY
    expected = found.expected_count
    mean = found.expected_sum / expected if expected > 0 else math.nan
    low, high = found.least_mean, -found.mirrored.least_mean
    return (min(max(mean, low), high) if not math.isnan(mean) else mean), low, high


def smallest(tables: Tables, wanted: Mapping[str, Wanted], column: str) -> Figure:
    """Bounds of the smallest value of a column among the records that match."""
    return _ends(_Found.of(tables, wanted, column).mirrored, mirrored=True)


def largest(tables: Tables, wanted: Mapping[str, Wanted], column: str) -> Figure:
    """Bounds of the largest value of a column among the records that match."""
    return _ends(_Found.of(tables, wanted, column), mirrored=False)


def _ends(found: _Found, *, mirrored: bool) -> Figure:
    if not found.possible.any():
        return _NOBODY
    low, high = found.least_maximum, found.most_maximum
    low, high = (-high, -low) if mirrored else (low, high)
    return (low if low == high else math.nan), low, high


def _sides(tables: Tables, wanted: Mapping[str, Wanted]) -> list[_Side]:
    return [_side(tables.strands[i], {n: wanted[n] for n in names}) for i, names in tables.homes(wanted).items()]


def _side(records: Records, wanted: Mapping[str, Wanted]) -> _Side:
    """The product of the shares, and the conjunction of what is certain and possible."""
    exact: Flags | None = None
    vague: list[tuple[Floats, Flags, Flags]] = []
    for name, asked in wanted.items():
        column = records.columns[name]
        match, codes = column.match(asked), column.codes  # a missing value has code -1, the last entry
        if match.is_exact:
            exact = match.certain[codes] if exact is None else exact & match.certain[codes]
        else:
            vague.append((match.share[codes], match.certain[codes], match.possible[codes]))
    exact = np.ones(len(records.group), np.bool_) if exact is None else exact
    if not vague:
        return _Side(records, exact, exact, exact)
    certain, possible, share = exact, exact, np.ones(len(exact))
    for part, sure, maybe in vague:
        certain, possible, share = certain & sure, possible & maybe, share * part
    # What is impossible in one column needs no estimate in another.
    return _Side(records, np.where(possible, share, 0.0), certain, possible)


def _together(tables: Tables, sides: list[_Side]) -> _Others:
    """What all of some sides leave of every group; all of it if there are none."""
    size = tables.sizes
    share, least, most = np.ones(len(size)), size, size
    for side in sides:
        share = share * (side.records.per_group(side.share) / size)
        low, high = side.bounds
        least, most = np.maximum(least + low - size, 0), np.minimum(most, high)
    return _Others(share, least, most)


@dataclass(frozen=True, eq=False)
class _Found:
    """The records of the strand that has a column of numbers, and what other strands leave of every group.

    Of the records with this column, those that are `certain` match on this side, and no others than those `possible`.
    Of a group, between `least` and `most` records match on all other sides; nobody knows which. So at least
    ``certain + least - n`` of the certain ones match altogether (`forced`), and at most `most`.
    """

    records: Records
    share: Floats
    certain: Flags
    possible: Flags
    low: Floats
    high: Floats
    mean: Floats
    others: _Others
    sizes: Floats

    @classmethod
    def of(cls, tables: Tables, wanted: Mapping[str, Wanted], column: str) -> _Found:
        """Look up what is known about the column, and about what else is asked."""
        asked = {column: Wanted(), **wanted}
        homes = tables.homes(asked)
        home = next(i for i, names in homes.items() if column in names)
        mine, records = _side(tables.strands[home], {n: asked[n] for n in homes[home]}), tables.strands[home]
        rest = [_side(tables.strands[i], {n: asked[n] for n in names}) for i, names in homes.items() if i != home]
        codes, match = records.columns[column].codes, records.columns[column].match(asked[column])
        low, high, mean = _numbers(match)
        return cls(
            records,
            mine.share.astype(np.float64),
            mine.certain,
            mine.possible,
            low[codes],
            high[codes],
            mean[codes],
            _together(tables, rest),
            tables.sizes,
        )

    @property
    def mirrored(self) -> _Found:
        """The same with all numbers negated: what was least is most."""
        return _Found(
            self.records,
            self.share,
            self.certain,
            self.possible,
            -self.high,
            -self.low,
            -self.mean,
            self.others,
            self.sizes,
        )

    @property
    def expected_count(self) -> float:
        """How many records match and have a value."""
        return float((self.records.per_group(self.share) * self.others.share).sum())

    @property
    def expected_sum(self) -> float:
        """What their values are expected to add up to."""
        return float((self.records.per_group(self.share * self.mean) * self.others.share).sum())

    @property
    def forced(self) -> Counts:
        """How many of the certain records of every group match at least."""
        least = self.records.per_group(self.certain) + self.others.least - self.sizes
        return np.maximum(np.rint(least), 0).astype(np.int64)

    @property
    def most_sum(self) -> float:
        """No sum is larger: the largest numbers of every group, and the least bad of those that must be among them."""
        high, group = self.high, self.records.group
        gains = self.possible & (high > 0)
        losses = self.certain & (high < 0)
        most = self.others.most.astype(np.int64)
        harmless = self.records.per_group(self.certain & (high >= 0)).astype(np.int64)
        must = np.maximum(self.forced - harmless, 0)
        if np.any(np.isinf(high[gains & (most[group] > 0)])):
            return math.inf
        best = _first(self.records, gains, -high, most)
        worst = _first(self.records, losses, -high, must)
        return float(high[best].sum() + high[worst].sum())

    @property
    def least_sum(self) -> float:
        """No sum is smaller."""
        return -self.mirrored.most_sum

    @property
    def least_mean(self) -> float:
        """No mean is smaller: the smallest numbers that must be among them, and further ones as long as they help."""
        forced = self.forced
        must = _first(self.records, self.certain, self.low, forced)
        more = np.maximum(self.others.most.astype(np.int64) - forced, 0)
        may = _first(self.records, self.possible & ~must, self.low, more)
        base, count = float(self.low[must].sum()), int(must.sum())
        further = np.sort(self.low[may])
        if not count:
            return float(further[0]) if len(further) else math.nan
        sums = base + np.append(0.0, np.cumsum(further))
        return float((sums / (count + np.arange(len(sums)))).min())

    @property
    def most_maximum(self) -> float:
        """No value is larger."""
        reached = self.possible & (self.others.most[self.records.group] > 0)
        return float(self.high[reached].max()) if reached.any() else math.nan

    @property
    def least_maximum(self) -> float:
        """The largest value is at least this: every group has one at least as large as the last of those it must."""
        forced = self.forced
        if forced.any():
            return float(self.low[_first(self.records, self.certain, self.low, forced)].max())
        reached = self.possible & (self.others.most[self.records.group] > 0)
        return float(self.low[reached].min()) if reached.any() else math.nan


def _numbers(match: Match) -> tuple[Floats, Floats, Floats]:
    low, high, mean = match.low, match.high, match.mean
    if low is None or high is None or mean is None:
        raise TypeError("only numbers can be added up")
    return low, high, mean


def _first(records: Records, among: Flags, by: Floats, most: Counts) -> Flags:
    """In every group, so many of some records, those with the smallest `by`."""
    size = records.per_group(among).astype(np.int64)
    if np.all(size <= most):
        return among
    chosen = np.flatnonzero(among & (most[records.group] > 0))
    group = records.group[chosen]
    order = chosen[np.lexsort((by[chosen], group))]
    group = records.group[order]
    begin = np.searchsorted(group, group, side="left")  # where the run of each record's group begins
    taken = np.zeros(len(among), np.bool_)
    taken[order[np.arange(len(order)) - begin < most[group]]] = True
    return taken
