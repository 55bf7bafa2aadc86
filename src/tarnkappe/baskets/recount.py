"""The independent count: how many persons share any few items, from texts, by sorting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.baskets.reading import ITEM, PERSON
from tarnkappe.criteria.base import Verdict

#: Sets that are made at a time.
_BLOCK = 1 << 23
#: Sets that wait before they are counted together.
_WAITING = 1 << 25

NAME = "km-anonymity"


@dataclass(frozen=True)
class Recount:
    """How many persons have the rarest set of up to m items, and how many sets fewer than k persons have."""

    smallest: int
    rare: int

    def verdict(self, column: str, asked: str) -> Verdict:
        """As a verdict."""
        return Verdict(NAME, column, asked, float(self.smallest), self.rare == 0, self.rare)


def recount(sets: pl.DataFrame, k: int, m: int) -> Recount:
    """Count every set of up to `m` items that somebody has; `sets` has a row for every person and item.

    >>> sets = pl.DataFrame({"person": [1, 1, 2, 2, 3], "item": ["beer", "milk", "beer", "milk", "milk"]})
    >>> recount(sets, k=2, m=2)
    Recount(smallest=2, rare=0)
    >>> recount(sets, k=3, m=2)
    Recount(smallest=2, rare=2)
    """
    if sets.height == 0:
        return Recount(0, 0)
    kinds = sets[ITEM].unique()
    n_codes = len(kinds)
    code = sets[ITEM].cast(pl.Enum(kinds)).to_physical().to_numpy().astype(np.int64)
    rows, _ = _runs(np.sort(sets[PERSON].to_numpy().astype(np.int64) * n_codes + code))
    codes = rows % n_codes
    starts = np.flatnonzero(np.diff(rows // n_codes, prepend=-1))
    held = np.diff(starts, append=len(rows))
    smallest, rare, known = int(held.sum()), 0, [np.arange(n_codes, dtype=np.int64)]
    for size in range(1, m + 1):
        most = n_codes * (len(known[-1]) if size > 1 else 1)
        keys, times = _counted(_keys(codes, starts, held, size, n_codes, known), most)
        if len(keys) == 0:
            break
        smallest, rare = min(smallest, int(times.min())), rare + int((times < k).sum())
        known = known if size == 1 else [*known, keys]
    return Recount(smallest, rare)


def _keys(
    codes: Counts, starts: Counts, held: Counts, size: int, n_codes: int, known: list[Counts]
) -> Iterator[Counts]:
    """A number for every set of `size` items of every person, the same for the same set.

    Persons with equally many items are handled together. A set is numbered by the rank of all but its last item among
    the sets that are `known` already, and by that item.
    """
    for length in np.unique(held[held >= size]).tolist():
        of = starts[held == length]
        picks = combinations(range(length), size)
        while chosen := list(islice(picks, _BLOCK >> 3)):
            columns = np.array(chosen, np.int64)
            step = max(1, _BLOCK // len(columns))
            for first in range(0, len(of), step):
                begin = of[first : first + step, None]
                key = codes[begin + columns[:, 0]]
                for d in range(1, size):
                    rank = key if d == 1 else np.searchsorted(known[d - 1], key)
                    key = rank * n_codes + codes[begin + columns[:, d]]
                yield key.ravel()


def _counted(blocks: Iterator[Counts], most: int) -> tuple[Counts, Counts]:
    """The distinct keys of all blocks in ascending order, all below `most`, and how often each occurs."""
    if most <= _WAITING:  # few enough for a counter each
        total = np.zeros(most, np.int64)
        for block in blocks:
            total += np.bincount(block, minlength=most)
        keys = np.flatnonzero(total)
        return keys, total[keys]
    found: tuple[Counts, Counts] = np.empty(0, np.int64), np.empty(0, np.int64)
    waiting: list[Counts] = []
    for block in blocks:
        waiting.append(block)
        if sum(map(len, waiting)) > _WAITING:
            found, waiting = _merged(found, waiting), []
    return _merged(found, waiting)


def _merged(found: tuple[Counts, Counts], waiting: list[Counts]) -> tuple[Counts, Counts]:
    """What was counted before together with what waits."""
    if not waiting:
        return found
    keys, times = _runs(np.sort(np.concatenate(waiting)))
    if len(found[0]) == 0:
        return keys, times
    both = np.concatenate([found[0], keys])
    order = np.argsort(both, kind="stable")
    first = np.flatnonzero(np.diff(both[order], prepend=-1))
    return both[order][first], np.add.reduceat(np.concatenate([found[1], times])[order], first)


def _runs(ordered: Counts) -> tuple[Counts, Counts]:
    """The distinct numbers of an ordered list, none of them negative, and how often each occurs."""
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    return ordered[first], np.diff(first, append=len(ordered))
