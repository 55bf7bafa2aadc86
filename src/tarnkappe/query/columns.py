"""Published columns as arrays: which labels there are, what each may stand for, and how much of that a query wants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tarnkappe.arrays import Codes, Flags, Floats
from tarnkappe.query.wanted import Wanted


@dataclass(frozen=True, eq=False)
class Match:
    """How the labels of a column answer what is wanted; the last entry is that of a missing value.

    `share` is the part of a label's values that is wanted, NaN if nobody can tell. A record with the label matches for
    certain, or possibly. Of numbers, `low` and `high` bound those values of a label that are wanted, `mean` is their
    mean. Where every label is a value (`is_exact`), what is certain says it all.
    """

    share: Floats
    certain: Flags
    possible: Flags
    low: Floats | None = None
    high: Floats | None = None
    mean: Floats | None = None
    is_exact: bool = False


class PublishedColumn(ABC):
    """One column of a published table: the label of every row (-1: missing), and what labels stand for."""

    name: str
    codes: Codes
    #: Whether a label is no statement about its records, as a centre is.
    vague: bool
    #: For each label, whether a record with it may have no value after all.
    may_lack: Flags
    #: Whether a missing value may be a label that only reads like one.
    gaps_are_open: bool

    @abstractmethod
    def match(self, wanted: Wanted) -> Match:
        """How every label answers."""

    @abstractmethod
    def values(self) -> Sequence[float | str] | None:
        """The values that records may have, in their order; None if nobody can list them."""

    @property
    @abstractmethod
    def is_open(self) -> bool:
        """Whether some label may stand for values that nothing names."""

    @cached_property
    def has_gaps(self) -> bool:
        """Whether some records have no value, or may have none."""
        return bool((self.codes < 0).any() or self.may_lack.any())

    def _finished(
        self,
        wanted: Wanted,
        share: Floats,
        certain: Flags,
        possible: Flags,
        numbers: tuple[Floats, Floats, Floats] | None = None,
    ) -> Match:
        """The answers of labels, and that of a missing value after them."""
        if wanted.is_void:
            return self._nothing(numbers is not None)
        if wanted.missing:
            share, certain, possible = np.zeros(len(share)), np.zeros_like(certain), np.zeros_like(possible)
        certain = certain & ~(self.may_lack | self.vague)
        if self.vague:
            possible = np.ones_like(possible)
        elif wanted.missing:
            possible = self.may_lack
        gap = wanted.missing
        certain = np.append(certain, gap and not self.gaps_are_open)
        possible = np.append(possible, gap or self.gaps_are_open)
        share = np.append(share, float(gap))
        if numbers is None:
            return Match(share, certain, possible, is_exact=self.is_exact)
        if self.vague:
            numbers = np.full_like(numbers[2], -np.inf), np.full_like(numbers[2], np.inf), numbers[2]
        ends = (-np.inf, np.inf) if self.gaps_are_open else (0.0, 0.0)
        low, high, mean = numbers
        shown = (np.append(low, ends[0]), np.append(high, ends[1]), np.append(mean, 0.0))
        return Match(share, certain, possible, *shown, is_exact=self.is_exact)

    def _nothing(self, of_numbers: bool) -> Match:
        """The answers where no record can match."""
        n = len(self.may_lack) + 1
        no, none = np.zeros(n, np.bool_), np.zeros(n)
        numbers = none if of_numbers else None
        return Match(none, no, no, numbers, numbers, numbers, is_exact=self.is_exact)

    @cached_property
    def is_exact(self) -> bool:
        """Whether every label is a value."""
        return self._all_exact and not (self.vague or self.gaps_are_open or self.may_lack.any())

    @property
    @abstractmethod
    def _all_exact(self) -> bool: ...


@dataclass(frozen=True, eq=False)
class Numbers(PublishedColumn):
    """A column of numbers: a label is an interval from `low` to `high`, both included, and often one number.

    Whether numbers lie between the ends that are not whole is not known to a reader. Estimates take them to be whole
    if all ends are; bounds do not.

    >>> age = Numbers("age", np.array([0, 0, 1, -1]), np.array([20.0, 35.0]), np.array([29.0, 35.0]), np.zeros(2, bool))
    >>> found = age.match(Wanted().at_least(25.0))
    >>> found.share.tolist(), found.certain.tolist(), found.possible.tolist()
    ([0.5, 1.0, 0.0], [False, True, False], [True, True, False])
    """

    name: str
    codes: Codes
    low: Floats
    high: Floats
    may_lack: Flags
    vague: bool = False
    gaps_are_open: bool = False

    def match(self, wanted: Wanted) -> Match:
        """How much of every interval is wanted."""
        low, high = np.maximum(self.low, wanted.low), np.minimum(self.high, wanted.high)
        open_low, open_high = wanted.open_low & (low == wanted.low), wanted.open_high & (high == wanted.high)
        possible = (low < high) | ((low == high) & ~open_low & ~open_high)
        certain = (self.low == low) & ~open_low & (self.high == high) & ~open_high & (self.low <= self.high)
        one = self.low == self.high
        beside = np.sort(np.array([x for x in wanted.beside if isinstance(x, float)]))
        excluded = _inside(beside, self.low, self.high)
        certain &= excluded == 0
        possible &= ~(one & (excluded > 0))
        if wanted.among is None:
            share, mean = self._share_of_range(low, high, open_low, open_high, beside)
        else:
            among = np.sort(np.array([x for x in wanted.among - wanted.beside if isinstance(x, float)]))
            first = np.searchsorted(among, low, side="left") + (_inside(among, low, low) * open_low)
            after = np.searchsorted(among, high, side="right") - (_inside(among, high, high) * open_high)
            found = np.maximum(after - first, 0)
            possible &= found > 0
            certain &= one & (found > 0)
            ends = np.append(among, 0.0)
            low = np.where(possible, ends[np.minimum(first, len(among))], low)
            high = np.where(possible, ends[after - 1], high)
            sums = np.append(0.0, np.cumsum(among))
            mean = (sums[np.maximum(after, first)] - sums[first]) / np.maximum(found, 1)
            share = found / self._sizes if self.is_whole else np.zeros(len(found))
        share = np.where(one, certain.astype(np.float64), np.where(possible, share, 0.0))
        share = np.where(certain, 1.0, np.where(np.isnan(share), share, np.clip(share, 0.0, 1.0)))
        mean = np.where(possible, np.clip(mean, low, np.maximum(low, high)), 0.0)
        return self._finished(wanted, share, certain, possible, (low, high, mean))

    def _share_of_range(
        self, low: Floats, high: Floats, open_low: Flags, open_high: Flags, beside: Floats
    ) -> tuple[Floats, Floats]:
        """The part of every interval that lies between two ends, and the middle of that part."""
        least, most = self._extent
        low, high = np.maximum(low, least), np.minimum(high, most)
        if self.is_whole:
            first = np.where(open_low & (low == np.floor(low)), low + 1, np.ceil(low))
            last = np.where(open_high & (high == np.floor(high)), high - 1, np.floor(high))
            whole = beside[beside == np.floor(beside)]
            found = np.maximum(last - first + 1, 0) - _inside(whole, first, last)
            return found / self._sizes, (first + last) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.maximum(high - low, 0) / self._sizes, (low + high) / 2

    @cached_property
    def is_whole(self) -> bool:
        """Whether all ends are whole numbers."""
        ends = self._ends
        return bool(np.all(ends == np.floor(ends)))

    @cached_property
    def _ends(self) -> Floats:
        ends = np.concatenate([self.low, self.high])
        known: Floats = ends[np.isfinite(ends)]
        return known

    @cached_property
    def _extent(self) -> tuple[float, float]:
        """The smallest and the largest number that any label names."""
        ends = self._ends
        return (float(ends.min()), float(ends.max())) if len(ends) else (np.nan, np.nan)

    @cached_property
    def _sizes(self) -> Floats:
        """How many whole numbers every interval has, or how wide it is; NaN where nothing bounds it."""
        least, most = self._extent
        low, high = np.maximum(self.low, least), np.minimum(self.high, most)
        size = high - low + 1 if self.is_whole else high - low
        return np.where(size > 0, size, np.nan)

    @cached_property
    def _all_exact(self) -> bool:
        return bool(np.all(self.low == self.high))

    @property
    def is_open(self) -> bool:
        """Whether some interval has no end."""
        return len(self._ends) < 2 * len(self.low)

    @property
    def lists_whole_ones(self) -> bool:
        """Whether the values that can be listed are the whole numbers between the ends."""
        return self.is_whole and not self._all_exact

    def values(self) -> Sequence[float | str] | None:
        """The numbers, if every label is one, or all whole ones between the ends."""
        if self._all_exact:
            return [float(x) for x in np.unique(self.low)]
        if not self.is_whole:
            return None
        least, most = self._extent
        return [] if np.isnan(least) else [float(x) for x in np.arange(least, most + 1)]


@dataclass(frozen=True, eq=False)
class Texts(PublishedColumn):
    """A column of texts: label ``i`` stands for some of the `known` values, its `members` begin at ``starts[i]``.

    A label may also stand for values that nothing names, all beginning like `open_as[i]`; None: it does not.

    >>> members, starts = np.array([0, 1, 2]), np.array([0, 1, 3])
    >>> area = Texts("area", np.array([0, 1, 1]), ("n", "s", "w"), members, starts, (None, None), np.zeros(2, bool))
    >>> found = area.match(Wanted().one_of(frozenset({"s"})))
    >>> found.share.tolist(), found.certain.tolist(), found.possible.tolist()
    ([0.0, 0.5, 0.0], [False, False, False], [False, True, False])
    """

    name: str
    codes: Codes
    known: tuple[str, ...]
    members: Codes
    starts: Codes
    open_as: Sequence[str | None]
    may_lack: Flags
    vague: bool = False
    gaps_are_open: bool = False
    #: The codes of labels that are open; they are few.
    _open: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_open", tuple(i for i, prefix in enumerate(self.open_as) if prefix is not None))

    def match(self, wanted: Wanted) -> Match:
        """How many of every label's values are wanted."""
        accepted = self._accepted(wanted)
        before = np.append(0, np.cumsum(accepted[self.members]))
        found = before[self.starts[1:]] - before[self.starts[:-1]]
        size = np.diff(self.starts)
        share = np.where(size > 0, found / np.maximum(size, 1), np.nan)
        certain, possible = found == size, found > 0
        for label in self._open:
            prefix = self.open_as[label] or ""
            if wanted.among is None:
                certain[label] = not wanted.doubtful and not any(str(x).startswith(prefix) for x in wanted.beside)
                possible[label] = True
                share[label] = 1.0 if certain[label] else share[label]
            else:
                certain[label] = False
                possible[label] = any(str(x).startswith(prefix) for x in wanted.among - wanted.beside)
                share[label] = share[label] if possible[label] else 0.0
        return self._finished(wanted, share, certain, possible)

    def _accepted(self, wanted: Wanted) -> Flags:
        """Which of the known values are wanted."""
        if wanted.among is None:
            accepted = np.ones(len(self.known), np.bool_)
        else:
            accepted = np.zeros(len(self.known), np.bool_)
            accepted[[self._place[x] for x in wanted.among if x in self._place]] = True
        accepted[[self._place[x] for x in wanted.beside if x in self._place]] = False
        return accepted

    @cached_property
    def _place(self) -> dict[float | str, int]:
        return {value: place for place, value in enumerate(self.known)}

    @cached_property
    def _all_exact(self) -> bool:
        return not self._open and bool(np.all(np.diff(self.starts) == 1))

    @property
    def is_open(self) -> bool:
        """Whether some label stands for values that nothing names."""
        return bool(self._open)

    def values(self) -> Sequence[float | str]:
        """The values that something names."""
        return sorted(self.known)


def _inside(values: Floats, low: Floats, high: Floats) -> Codes:
    """How many of some sorted values lie in every interval."""
    found: Codes = np.searchsorted(values, high, side="right") - np.searchsorted(values, low, side="left")
    return np.maximum(found, 0)
