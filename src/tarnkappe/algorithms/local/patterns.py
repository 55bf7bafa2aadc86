"""Patterns of cells that a row may give up, and the greedy cover of rare rows by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.giving_up import cover_rare
from tarnkappe.tally import distinct_rows

#: Columns, and how many records must publish the same in them.
Demand = tuple[tuple[int, ...], int]

#: So many (pattern, row) pairs are looked at; more patterns than that are left out, those of most cells first.
_MOST_PAIRS = 1 << 24


@dataclass(frozen=True, eq=False)
class Cover:
    """Which cells which records give up: `quota` records of row `row` the cells of `given_up`, or all if `removed`.

    `lower` is a weight that no release can stay below, `within` how many times the least weight it has at most.
    """

    row: Codes
    quota: Counts
    given_up: NDArray[np.bool_]
    removed: NDArray[np.bool_]
    lower: float
    within: float

    def weight(self, weights: Floats) -> float:
        """The weight of all cells that are given up; a record that is removed gives up all of its own."""
        lost = self.given_up | self.removed[:, None]
        return float(self.quota @ (lost @ weights))

    def ratio(self, weights: Floats) -> float:
        """How many times the lower bound is given up."""
        weight = self.weight(weights)
        if weight <= self.lower * (1 + 1e-9):
            return 1.0
        return weight / self.lower if self.lower else math.inf


def patterns_of(n_columns: int, most: int) -> tuple[NDArray[np.bool_], bool]:
    """Patterns of few cells first, and that of all cells; at most about `most`, and whether these are all.

    >>> patterns_of(2, 9)[0].astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    chosen: list[tuple[int, ...]] = []
    for n in range(1, n_columns):
        if n > 1 and len(chosen) + math.comb(n_columns, n) >= most:
            break
        chosen.extend(combinations(range(n_columns), n))
    out = np.zeros((len(chosen) + 1, n_columns), np.bool_)
    for i, columns in enumerate(chosen):
        out[i, list(columns)] = True
    out[-1] = True
    return out, len(out) == 2**n_columns - 1


def groups_by(codes: Codes, sizes: Sequence[int], kept: NDArray[np.bool_]) -> Codes:
    """The number of the combination that each row has in the columns that are kept."""
    columns = np.flatnonzero(kept).tolist()
    if not columns:
        return np.zeros(len(codes), np.int32)
    return distinct_rows([codes[:, j] for j in columns], [sizes[j] for j in columns])[0]


def greedy_cover(
    codes: Codes, sizes: Sequence[int], size: Counts, k: int, weights: Floats, *, removal: float, budget: int
) -> Cover:
    """Give up cells of rare rows, cheapest first per record that is settled (see `cover_rare`).

    A row of fewer than `k` records must share a group with others. Whatever the release, its records then give up at
    least the lightest pattern under which there are `k` records at all: added up, that is `lower`. Rows that find
    nobody to join, and nobody who lends them records, join the group that costs least.
    """
    given, complete = patterns_of(codes.shape[1], _MOST_PAIRS // max(len(codes), 1))
    weight = given @ weights
    group = np.empty((len(given), len(codes)), np.int32)
    bounds, members, pattern = [np.zeros(1, np.int64)], [], []
    n_groups = 0
    for p, cells in enumerate(given):
        own = groups_by(codes, sizes, ~cells)
        n = int(own.max(initial=-1)) + 1
        starts, order = group_order(own, n)
        group[p] = own + n_groups
        bounds.append(starts[1:] + p * len(codes))
        members.append(order.astype(np.int32))
        pattern.append(np.full(n, p, np.int32))
        n_groups += n
    parts = (np.concatenate(bounds), np.concatenate(members), np.concatenate(pattern))
    found = cover_rare(group, *parts, weight, size, k, removal, budget)
    taken, lender, borrower, lent, least, short = found
    if not complete:  # a pattern that was left out has more cells than some that was not
        cells_at_least = int(given[:-1].sum(axis=1).max()) + 1
        least = np.where(least > 0, np.minimum(least, np.sort(weights)[:cells_at_least].sum()), 0.0)
    row = np.concatenate([np.arange(len(codes)), lender]).astype(np.int32)
    stays = size - np.bincount(lender.astype(np.int64), lent, len(codes)).astype(np.int64)
    quota = np.concatenate([stays, lent]).astype(np.int64)
    choice = np.concatenate([taken, borrower.astype(np.int32)])
    cells = np.where((choice >= 0)[:, None], given[np.maximum(choice, 0)], False)
    alone = np.append((taken == -1) & (size < k), np.zeros(len(lent), np.bool_))
    if alone.any():
        short = True
        cells = _with_company(codes[row], sizes, quota * (choice != -2), cells, alone, weights)
    made = Cover(row, quota, cells, choice == -2, float(least @ size), math.inf)
    bound = sum(1 / i for i in range(1, k + 1)) if complete and not short else math.inf
    return replace(made, within=min(bound, made.ratio(weights)))


def _with_company(
    codes: Codes,
    sizes: Sequence[int],
    quota: Counts,
    cells: NDArray[np.bool_],
    alone: NDArray[np.bool_],
    weights: Floats,
) -> NDArray[np.bool_]:
    """The cells that are given up if those who are alone, fewer than a group needs, join the group that costs least.

    The group gives up the columns in which it differs from them.
    """
    cells = cells.copy()
    others = np.flatnonzero(~alone & (quota > 0))
    if not len(others):
        return np.ones_like(cells)
    for i in np.flatnonzero(alone & (quota > 0)):
        look = np.where(cells[others], np.array(sizes), codes[others]).astype(np.int32)
        group = groups_by(look, [n + 1 for n in sizes], np.ones(len(sizes), np.bool_))
        first = others[np.unique(group, return_index=True)[1]]
        records = np.bincount(group, quota[others])
        wider = cells[first] | (codes[first] != codes[i])
        price = (records + quota[i]) * (wider @ weights) - records * (cells[first] @ weights)
        best = int(np.argmin(price))
        others = np.append(others, i)
        cells[others[np.append(group == best, True)]] = wider[best]
    return cells


def meet_demands(
    codes: Codes, sizes: Sequence[int], size: Counts, demands: Sequence[Demand], weights: Floats, budget: int
) -> Cover:
    """Cover the rows that are rare in the columns of each demand, by turns, until all demands are met.

    What is given up for one demand is missing where another counted on it, so they take turns; cells are only given up,
    never back, so this ends. There must be as many records as are demanded, also of those that are not removed.
    """
    budget = min(budget, int(size.sum()) - max(k for _, k in demands))
    row, quota = np.arange(len(codes), dtype=np.int32), size
    given_up, removed = np.zeros(codes.shape, np.bool_), np.zeros(len(codes), np.bool_)
    lower, within, met = 0.0, 1.0, 0
    while met < len(demands):
        met = 0
        for columns, k in demands:
            here = np.flatnonzero(~removed)
            at = list(columns)
            label = np.where(given_up[here][:, at], np.array(sizes)[at], codes[row[here]][:, at]).astype(np.int32)
            larger = [sizes[j] + 1 for j in at]
            view = groups_by(label, larger, np.ones(len(at), np.bool_))
            first = np.unique(view, return_index=True)[1]
            records = np.bincount(view, quota[here]).astype(np.int64)
            if (records >= k).all():
                met += 1
                continue
            free = budget - int(quota[removed].sum())
            made = greedy_cover(
                label[first], larger, records, k, weights[at], removal=float(weights.sum()), budget=free
            )
            if not given_up.any():
                lower, within = max(lower, made.lower), made.within if len(demands) == 1 else math.inf
            order = here[np.argsort(view, kind="stable")]
            piece, part, dealt = _dealt(quota[order], made)
            gone = np.zeros((len(piece), codes.shape[1]), np.bool_)
            gone[:, at] = made.given_up[part]
            kept = np.flatnonzero(removed)
            row = np.concatenate([row[order][piece], row[kept]])
            given_up = np.concatenate([given_up[order][piece] | gone, given_up[kept]])
            quota = np.concatenate([dealt, quota[kept]])
            removed = np.concatenate([made.removed[part], np.ones(len(kept), np.bool_)])
    return Cover(row, quota, given_up, removed, lower, within)


def _dealt(quota: Counts, made: Cover) -> tuple[Counts, Counts, Counts]:
    """Pieces in the order of their views, dealt to the parts of a cover: piece, part and records."""
    parts = np.argsort(made.row, kind="stable")
    parts = parts[made.quota[parts] > 0]
    piece_end, part_end = np.cumsum(quota), np.cumsum(made.quota[parts])
    ends = np.union1d(piece_end, part_end)
    return np.searchsorted(piece_end, ends), parts[np.searchsorted(part_end, ends)], np.diff(ends, prepend=0)
