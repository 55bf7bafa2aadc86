"""A pool of records to be grouped, and the steps that all local recodings share: settle, feed and divide groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.local.units import project, ruler_of, tidy
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, AnyDraft, Draft, Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.dissolving import dissolve_groups, join_nearest
from tarnkappe.kernels.local.dividing import divide_segments
from tarnkappe.kernels.merging import best_partners, feed_groups, pair_off
from tarnkappe.kernels.widths import Ruler, box_widths
from tarnkappe.tally import Tally
from tarnkappe.threads import share_out

#: Boxes (lowest and highest codes), records and widths of groups.
Measures = tuple[Codes, Codes, Counts, Floats]

#: Says with which group some groups would be merged, and at what price.
Partners = Callable[[Measures, Counts], tuple[Counts, Floats]]


@dataclass(frozen=True, eq=False)
class Pool:
    """The records to be grouped, the goal, the distributions of the whole table, and the ruler for boxes."""

    tally: Tally
    goal: Goal
    tables: Mapping[str, Counts]
    ruler: Ruler

    @classmethod
    def whole(cls, tally: Tally, goal: Goal) -> tuple[Pool, Codes]:
        """All records as the goal sees them, if they can satisfy it, and the cell there of each cell of the tally."""
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        seen, owner = project(tally, goal)
        pool = cls(seen, goal, goal.table_distributions(seen), ruler_of(seen.quasi_domains))
        if not pool.satisfied(pool.together()).all():
            raise goal.infeasible(tally)
        return pool, owner

    def together(self) -> Grouping:
        """All records in one group."""
        return Grouping.of_cells(self.tally, np.zeros(self.tally.n_cells, np.int32), 1)

    def satisfied(self, grouping: Draft) -> NDArray[np.bool_]:
        """Which groups satisfy the goal."""
        return self.goal.satisfied(self.goal.stats(self.tally, grouping, self.tables))

    def loss(self, grouping: Grouping) -> float:
        """Records times the summed width of their group's box, over all groups."""
        _, _, size, total = self.measured(grouping)
        return float(size @ total)

    def measured(self, grouping: Draft) -> Measures:
        """Box, records and width of every group."""
        boxes = grouping.boxes(self.tally)
        size = np.bincount(grouping.group, weights=grouping.quota, minlength=grouping.n_groups).astype(np.int64)
        return boxes.lo, boxes.hi, size, box_widths(self.ruler, boxes.lo, boxes.hi)


def settle(pool: Pool, grouping: Grouping) -> Grouping:
    """Let leftovers join the nearest group, then merge groups until all satisfy the goal."""
    grouping = _numbered_along_the_table(_join_leftovers(pool, grouping))
    return merge_weak(pool, grouping, partial(_partners, pool))


def merge_weak(pool: Pool, grouping: Grouping, partners: Partners) -> Grouping:
    """Merge the groups that do not satisfy the goal with their partners, cheapest first, until all do."""
    while True:
        ok = pool.satisfied(grouping)
        if ok.all() or grouping.n_groups == 1:
            return grouping
        wanted = np.flatnonzero(~ok)
        partner, price = partners(pool.measured(grouping), wanted)
        into = np.empty(grouping.n_groups, np.int64)
        pair_off(wanted, partner, np.argsort(price, kind="stable"), ok, into)
        while not np.array_equal(into, into[into]):  # a group may have joined one that then joined another
            into = into[into]
        used, number = np.unique(into, return_inverse=True)
        grouping = grouping.relabel(number.astype(np.int32), len(used))


def _partners(pool: Pool, groups: Measures, wanted: Counts) -> tuple[Counts, Floats]:
    """The group that is cheapest to merge with, and its price, for some groups."""
    partner, price = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.float64)
    work = np.arange(len(wanted) + 1, dtype=np.int64) * len(groups[0])
    share_out(lambda a, b: best_partners(pool.ruler, *groups, wanted, partner, price, a, b), work)
    return partner, price


def feed(pool: Pool, grouping: AnyDraft, family: Codes | None = None) -> AnyDraft | Grouping:
    """Let groups of fewer than `min_size` records take the nearest ones from a group that can spare them.

    A group takes nothing where nobody has enough to spare, or where merging it as a whole is cheaper. With families,
    groups take from their own family only, and merging is no alternative.
    """
    groups = pool.measured(grouping)
    lo, hi, size, total = groups
    needy = np.flatnonzero(size < pool.goal.min_size)
    if not len(needy):
        return grouping
    if family is None:
        family = np.zeros(grouping.n_groups, np.int32)
        _, price = _partners(pool, groups, needy)
    else:
        price = np.full(len(needy), np.inf)
    starts, order = group_order(grouping.group, grouping.n_groups)
    cell, group, quota = grouping.cell[order], grouping.group[order], grouping.quota[order]
    taken, taker = np.zeros(len(order), np.int64), np.zeros(len(order), np.int32)
    rows = pool.tally.quasi[cell]
    smallest = pool.goal.min_size
    feed_groups(pool.ruler, rows, quota, starts, lo, hi, size, total, family, needy, smallest, price, taken, taker)
    kept, moved = quota > taken, taken > 0
    return tidy(
        np.concatenate([cell[kept], cell[moved]]),
        np.concatenate([group[kept], taker[moved]]),
        np.concatenate([(quota - taken)[kept], taken[moved]]),
        grouping.n_groups,
    )


def _join_leftovers(pool: Pool, grouping: Grouping) -> Grouping:
    """Put the records of group -1 into the group whose loss rises least; without any group they are one."""
    left = grouping.group == SUPPRESSED
    if not left.any():
        return grouping
    if grouping.n_groups == 0:
        return Grouping(grouping.cell, np.zeros_like(grouping.group), grouping.quota, 1)
    kept = Grouping(grouping.cell[~left], grouping.group[~left], grouping.quota[~left], grouping.n_groups)
    lo, hi, size, total = pool.measured(kept)
    group = grouping.group.copy()
    joined = np.empty(int(left.sum()), np.int32)
    rows = pool.tally.quasi[grouping.cell[left]]
    join_nearest(pool.ruler, rows, grouping.quota[left], lo, hi, size, total, joined)
    group[left] = joined
    return tidy(grouping.cell, group, grouping.quota, grouping.n_groups)


def _numbered_along_the_table(grouping: Grouping) -> Grouping:
    """The same groups, numbered by their first cell."""
    _, first = np.unique(grouping.group, return_index=True)
    new = np.empty(grouping.n_groups, np.int32)
    new[np.argsort(first)] = np.arange(grouping.n_groups)
    return grouping.relabel(new, grouping.n_groups)


def dissolve(pool: Pool, grouping: Grouping) -> Grouping:
    """Dissolve groups whose records are better off in others; afterwards all groups satisfy the goal as before.

    Clusters that are grown one after another leave scattered records to the last ones. Where the goal is not decided by
    size, a group may fail with more records; it is then merged with others, and all is undone if that costs more.
    """
    settled = settle(pool, dissolve_costly(pool, grouping))
    return settled if pool.loss(settled) < pool.loss(grouping) else grouping


def dissolve_costly(pool: Pool, grouping: Grouping) -> Grouping:
    """Dissolve groups, costliest first, whose records cost less in others, whatever the goal says about these."""
    lo, hi, size, total = pool.measured(grouping)
    cost = size * total
    group = grouping.group.copy()
    rows, order = pool.tally.quasi[grouping.cell], np.argsort(-cost, kind="stable")
    dissolve_groups(pool.ruler, rows, grouping.quota, group, lo, hi, size, total, order[cost[order] > 0])
    number = np.cumsum(size > 0, dtype=np.int32) - np.int32(1)
    return tidy(grouping.cell, number[group], grouping.quota, int((size > 0).sum()))


def divide(pool: Pool, grouping: AnyDraft, open_groups: NDArray[np.bool_], *, both: bool = True) -> AnyDraft:
    """Divide groups around two far-apart records while both parts satisfy the goal (or while one of them does).

    A part that does not satisfy the goal is not divided again.
    """
    while True:
        if both:
            size = np.bincount(grouping.group, weights=grouping.quota, minlength=grouping.n_groups)
            open_groups = open_groups & (size >= 2 * pool.goal.min_size)
        if not open_groups.any():
            return grouping
        chosen = np.flatnonzero(open_groups)
        rank = np.full(grouping.n_groups, SUPPRESSED, np.int32)
        rank[chosen] = np.arange(len(chosen))
        starts, order = group_order(rank[grouping.group], len(chosen))
        cell, owner, quota = grouping.cell[order], rank[grouping.group[order]], grouping.quota[order]
        side = _sides(pool, pool.tally.quasi[cell], quota, starts)
        part = 2 * owner + side
        used = np.bincount(part, minlength=2 * len(chosen)) > 0
        number = np.cumsum(used, dtype=np.int32) - np.int32(1)
        ok = np.zeros(2 * len(chosen), np.bool_)
        ok[used] = pool.satisfied(Draft(cell, number[part], quota, int(used.sum())))
        halves = ok.reshape(-1, 2)
        wanted = halves[:, 0] & halves[:, 1] if both else halves[:, 0] | halves[:, 1]
        cut = wanted & used[0::2] & used[1::2]
        new = np.cumsum(cut, dtype=np.int32) + np.int32(grouping.n_groups - 1)
        moved = (side == 1) & cut[owner]
        group = grouping.group.copy()
        group[order[moved]] = new[owner[moved]]
        open_groups = np.concatenate([np.zeros(grouping.n_groups, np.bool_), halves[cut, 1]])
        open_groups[chosen[cut]] = halves[cut, 0]
        grouping = replace(grouping, group=group, n_groups=grouping.n_groups + int(cut.sum()))


def _sides(pool: Pool, rows: Codes, quota: Counts, starts: Counts) -> NDArray[np.int8]:
    """On which of two sides every piece of some segments goes."""
    side = np.empty(len(rows), np.int8)
    share_out(lambda a, b: divide_segments(pool.ruler, rows, quota, starts, side, a, b), starts)
    return side
