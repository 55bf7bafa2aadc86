"""A pool of records to be grouped, and the steps that all local recodings share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.effort import NORMAL, Effort
from tarnkappe.algorithms.local.nearness import n_curves, near_pieces, pieces_of, seen_from, shares
from tarnkappe.algorithms.steps.swaps import curve, swap_refine
from tarnkappe.algorithms.steps.units import project, ruler_of, tidy
from tarnkappe.algorithms.watch import NOBODY, Watch
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Draft, Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.dissolving import dissolve_groups, join_nearest
from tarnkappe.kernels.local.dividing import divide_segments
from tarnkappe.kernels.local.neighbours import Groups, Near, groups_around
from tarnkappe.kernels.local.partners import best_partners, feed_groups
from tarnkappe.kernels.local.regrowing import regrow
from tarnkappe.kernels.merging import pair_off
from tarnkappe.kernels.widths import Ruler, box_widths
from tarnkappe.tally import Tally
from tarnkappe.threads import share_out

#: Boxes (lowest and highest codes), records and widths of groups.
Measures = tuple[Codes, Codes, Counts, Floats]

#: Says with which group some groups of a grouping would be merged, and at what price.
Partners = Callable[[Grouping, Measures, Counts], tuple[Counts, Floats]]

#: Groups are grown anew so often at normal effort; in one round after the other so many of them at most together; and
#: about so many pieces.
_ROUNDS, _TOGETHER, _POOL = 3, (8, 5, 3, 2), 128

#: Pairs of pieces that a round compares at most, for each piece.
_PAIRS = 2000

#: Groups that a piece looks at, on average and at most, while groups dissolve at normal effort; and all pieces besides.
_LOOKS, _FURTHER_LOOKS = 128, 1 << 20

#: Rounds that gain less than this share of the loss are the last.
_LEAST_GAIN = 1e-4


@dataclass(frozen=True, eq=False)
class Pool:
    """The records to be grouped, the goal, the distributions of the whole table, and the ruler for boxes."""

    tally: Tally
    goal: Goal
    tables: Mapping[str, Counts]
    ruler: Ruler
    work: Effort = NORMAL
    watch: Watch = NOBODY

    @classmethod
    def whole(cls, tally: Tally, goal: Goal, work: Effort = NORMAL, watch: Watch = NOBODY) -> tuple[Pool, Codes]:
        """All records as the goal sees them, if they can satisfy it, and the cell there of each cell of the tally."""
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        seen, owner = project(tally, goal)
        pool = cls(seen, goal, goal.table_distributions(seen), ruler_of(seen.quasi_domains), work, watch)
        if not pool.satisfied(pool.together()).all():
            raise goal.infeasible(tally)
        return pool, owner

    @cached_property
    def orders(self) -> list[Codes]:
        """The order of the cells along each of some turned curves."""
        return [np.argsort(curve(self.tally, t), kind="stable").astype(np.int32) for t in range(n_curves(self.work))]

    def near(self, grouping: Grouping) -> Near:
        """Which pieces of a grouping are near each other."""
        return near_pieces(self.orders, grouping)

    def part(self, tally: Tally) -> Pool:
        """The pool of some of the records, as part of the same table."""
        return replace(self, tally=tally)

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
    near = cache(lambda: pool.near(grouping))  # merging moves no piece, and often there is nothing to merge
    return merge_weak(pool, grouping, lambda *asked: _partners(pool, near(), *asked))


def merge_weak(pool: Pool, grouping: Grouping, partners: Partners) -> Grouping:
    """Merge the groups that do not satisfy the goal with their partners, cheapest first, until all do.

    No piece is suppressed. Groups that nothing has joined are as they were, and are not looked at again.
    """
    ok, groups = pool.satisfied(grouping), pool.measured(grouping)
    while not ok.all() and grouping.n_groups > 1:
        wanted = np.flatnonzero(~ok)
        partner, price = partners(grouping, groups, wanted)
        into = np.empty(grouping.n_groups, np.int64)
        pair_off(wanted, partner, np.argsort(price, kind="stable"), ok, into)
        while not np.array_equal(into, into[into]):  # a group may have joined one that then joined another
            into = into[into]
        used, number = np.unique(into, return_inverse=True)
        grouping = grouping.relabel(number.astype(np.int32), len(used))
        grown = np.bincount(number) > 1
        lo, hi, size, total = groups
        ok, lo, hi, size, total = ok[used], lo[used], hi[used], size[used], total[used]
        ok[grown], (lo[grown], hi[grown], size[grown], total[grown]) = _judged(pool, grouping, grown)
        groups = lo, hi, size, total
    return grouping


def _judged(pool: Pool, grouping: Grouping, some: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], Measures]:
    """Whether some groups satisfy the goal, and their measures."""
    number = np.cumsum(some, dtype=np.int32) - np.int32(1)
    pieces = np.flatnonzero(some[grouping.group])
    own = Draft(grouping.cell[pieces], number[grouping.group[pieces]], grouping.quota[pieces], int(some.sum()))
    return pool.satisfied(own), pool.measured(own)


def _partners(pool: Pool, near: Near, grouping: Grouping, groups: Measures, wanted: Counts) -> tuple[Counts, Floats]:
    """The group nearby that is cheapest to merge with, and its price, for some groups."""
    partner, price = np.empty(len(wanted), np.int64), np.empty(len(wanted), np.float64)
    near, group = seen_from(near, grouping), grouping.group.astype(np.int64)
    starts, members = group_order(grouping.group, grouping.n_groups)
    given = (pool.ruler, near, group, starts, members, *groups, wanted, partner, price)
    work = np.concatenate([[0], np.cumsum(np.diff(starts)[wanted])]) * near.window
    n = grouping.n_groups
    share_out(lambda a, b: best_partners(*given, np.full(n, -1), np.empty(n, np.int64), a, b), work)
    return partner, price


def feed(pool: Pool, grouping: Grouping, family: Codes | None = None) -> Grouping:
    """Let groups of fewer than `min_size` records take the nearest ones from a group that can spare them.

    A group takes nothing where nobody has enough to spare, or where merging it as a whole is cheaper. With families,
    groups take from their own family only, and merging is no alternative.
    """
    groups = pool.measured(grouping)
    needy = np.flatnonzero(groups[2] < pool.goal.min_size)
    if not len(needy):
        return grouping
    if family is None:
        near = pool.near(grouping)
        _, price = _partners(pool, near, grouping, groups, needy)
        givers, ends = _around(near, grouping, needy)
    else:
        price = np.full(len(needy), np.inf)
        givers, ends = _of_family(family, needy)
    starts, order = group_order(grouping.group, grouping.n_groups)
    cell, group, quota = grouping.cell[order], grouping.group[order], grouping.quota[order]
    taken, taker = np.zeros(len(order), np.int64), np.zeros(len(order), np.int32)
    rows = pool.tally.quasi[cell]
    smallest = pool.goal.min_size
    feed_groups(pool.ruler, rows, quota, starts, *groups, needy, givers, ends, smallest, price, taken, taker)
    kept, moved = quota > taken, taken > 0
    return tidy(
        np.concatenate([cell[kept], cell[moved]]),
        np.concatenate([group[kept], taker[moved]]),
        np.concatenate([(quota - taken)[kept], taken[moved]]),
        grouping.n_groups,
    )


def _around(near: Near, grouping: Grouping, wanted: Counts) -> tuple[Counts, Counts]:
    """The groups near some groups, one list after the other, and where each list ends."""
    starts, members = group_order(grouping.group, grouping.n_groups)
    ends = np.empty(len(wanted), np.int64)
    given = (near, grouping.group.astype(np.int64), starts, members, wanted, ends)
    return groups_around(*given, grouping.n_groups), ends


def _of_family(family: Codes, wanted: Counts) -> tuple[Counts, Counts]:
    """The groups of the same families as some groups, one list after the other, and where each list ends."""
    starts, members = group_order(family, int(family.max()) + 1)
    begin, held = starts[family[wanted]], np.diff(starts)[family[wanted]]
    ends = np.cumsum(held)
    at = np.arange(int(held.sum())) - np.repeat(ends - held, held) + np.repeat(begin, held)
    return members[at].astype(np.int64), ends


def _state(pool: Pool, grouping: Grouping, spare: int = 0) -> Groups:
    """Groups as kernels change them, with room for some more."""
    kept = grouping.group >= 0
    settled = Grouping(grouping.cell[kept], grouping.group[kept], grouping.quota[kept], grouping.n_groups)
    lo, hi, size, total = (
        np.concatenate([a, np.zeros((spare, *a.shape[1:]), a.dtype)]) for a in pool.measured(settled)
    )
    return Groups(grouping.group.astype(np.int64), lo, hi, size, total)


def _changed(grouping: Grouping, groups: Groups) -> Grouping:
    """The grouping after kernels have moved its pieces; groups that have lost all of them are gone."""
    there = groups.size > 0
    number = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return tidy(grouping.cell, number[groups.group], grouping.quota, int(there.sum()))


def _join_leftovers(pool: Pool, grouping: Grouping) -> Grouping:
    """Put the records of group -1 into the group nearby whose loss rises least; without any group they are one."""
    if not (grouping.group == SUPPRESSED).any():
        return grouping
    if grouping.n_groups == 0:
        return Grouping(grouping.cell, np.zeros_like(grouping.group), grouping.quota, 1)
    groups = _state(pool, grouping)
    pieces = pieces_of(pool.tally, grouping.cell, grouping.quota, 1, {})
    join_nearest(pool.ruler, pool.near(grouping), pieces, groups)
    return _changed(grouping, groups)


def _numbered_along_the_table(grouping: Grouping) -> Grouping:
    """The same groups, numbered by their first cell."""
    _, first = np.unique(grouping.group, return_index=True)
    new = np.empty(grouping.n_groups, np.int32)
    new[np.argsort(first)] = np.arange(grouping.n_groups)
    return grouping.relabel(new, grouping.n_groups)


def improved(pool: Pool, grouping: Grouping) -> Grouping:
    """The groups at lower loss; all of them satisfy the goal as before.

    Where sizes and shares of values keep the goal, near groups are thrown together and grown anew, round after round,
    as the effort says. Then groups are dissolved whose records are better off nearby. Groups that then fail the goal
    are merged with others; if that costs more, all is undone, and no value may become more frequent than its share.
    """
    share = shares(pool.goal)
    if share is not None:
        grouping = _regrown(pool, grouping, share)
    freely = settle(pool, dissolved(pool, grouping, {}))
    if pool.loss(freely) < pool.loss(grouping):
        return freely
    return dissolved(pool, grouping, share) if share else grouping


def dissolved(pool: Pool, grouping: Grouping, share: dict[str, int]) -> Grouping:
    """The groups without those, costliest first, whose records cost less in groups nearby.

    There no value of a column has more than its share, whatever else the goal says.
    """
    groups = _state(pool, grouping)
    cost = groups.size * groups.total
    order = np.argsort(-cost, kind="stable")
    pieces = pieces_of(pool.tally, grouping.cell, grouping.quota, pool.goal.min_size, share)
    looks = pool.work.of_usual(_LOOKS * len(grouping.cell) + _FURTHER_LOOKS)
    dissolve_groups(pool.ruler, pool.near(grouping), pieces, groups, order[cost[order] > 0], looks)
    return _changed(grouping, groups)


def _regrown(pool: Pool, grouping: Grouping, share: dict[str, int]) -> Grouping:
    """The groups after rounds in which near ones are thrown together and grown anew.

    After every few rounds records are swapped, so that the next ones find other groups.
    """
    rounds = pool.work.of_usual(_ROUNDS)
    done, loss = 0, pool.loss(grouping)
    while done < rounds:
        if done > 0:
            grouping = swap_refine(pool.tally, grouping, pool.goal, 1)
        turns = range(done, min(done + _ROUNDS, rounds))
        grouping = _thrown_together(pool, grouping, share, turns)
        before, loss = loss, pool.loss(grouping)
        done += len(turns)
        pool.watch.tell(done, rounds)
        if (done > _ROUNDS and before - loss < _LEAST_GAIN * before) or pool.watch.over:
            break
    return grouping


def _thrown_together(pool: Pool, grouping: Grouping, share: dict[str, int], turns: range) -> Grouping:
    """The groups after each has been thrown together with near ones once in each turn."""
    smallest = pool.goal.min_size
    groups = _state(pool, grouping, max(0, pool.tally.n_records // smallest - grouping.n_groups))
    pieces, near = pieces_of(pool.tally, grouping.cell, grouping.quota, smallest, share), pool.near(grouping)
    for turn in turns:
        order = _along(near.along[turn % len(near.along)], groups)
        first = np.arange(len(groups.size)) * 7919 + turn * 31  # another record to begin with in each turn
        together = _TOGETHER[turn % len(_TOGETHER)]
        regrow(pool.ruler, near, pieces, groups, order, together, _POOL, first, _PAIRS * len(grouping.cell))
    return _changed(grouping, groups)


def _along(pieces: Codes, groups: Groups) -> Counts:
    """The groups that lose something, in the order of their first pieces: what is near in space is near in time."""
    place = np.full(len(groups.size), len(pieces))
    place[groups.group[pieces[::-1]]] = np.arange(len(pieces))[::-1]
    order = np.argsort(place, kind="stable")
    return order[(groups.size * groups.total)[order] > 0]


def divide(
    pool: Pool, grouping: Grouping, open_groups: NDArray[np.bool_], *, both: bool = True, rank: Counts | None = None
) -> Grouping:
    """Divide groups around two far-apart records while both parts satisfy the goal (or while one of them does).

    A part that does not satisfy the goal is not divided again. Records choose their side in the order of the table, or
    of the `rank` of their cells.
    """
    while True:
        if both:
            size = np.bincount(grouping.group, weights=grouping.quota, minlength=grouping.n_groups)
            open_groups = open_groups & (size >= 2 * pool.goal.min_size)
        if not open_groups.any():
            return grouping
        chosen = np.flatnonzero(open_groups)
        number = np.full(grouping.n_groups, SUPPRESSED, np.int32)
        number[chosen] = np.arange(len(chosen))
        starts, order = group_order(number[grouping.group], len(chosen))
        if rank is not None:
            order = order[np.lexsort((rank[grouping.cell[order]], number[grouping.group[order]]))]
        cell, owner, quota = grouping.cell[order], number[grouping.group[order]], grouping.quota[order]
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
