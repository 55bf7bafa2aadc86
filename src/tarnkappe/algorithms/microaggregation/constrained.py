"""Refinement of groups that satisfy more than a size: only moves that keep the goal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.microaggregation.near import near
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.algorithms.microaggregation.refinement import cut, in_fours, numbered, search, search_state
from tarnkappe.algorithms.steps.units import secret_values
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.relocating import offers

#: Near points whose groups a record may move to.
_NEAR = 15

#: Rounds of moves that the goal is asked about, at most; comparisons of records in all of them; and as how many
#: comparisons a round counts, for each record, beside those it makes.
_ROUNDS, _COMPARISONS, _ROUND = 200, 50_000_000_000, 2500

#: Rounds after which records with the same sensitive values change places again.
_SWAPS_AFTER = 8


def divided(records: Records, group: Codes) -> Codes:
    """The groups, cut in halves as long as both halves satisfy the goal; a group that cannot be cut stays as it is."""
    smallest = records.goal.min_size
    closed = np.bincount(group) < 2 * smallest
    while not closed.all():
        n = len(closed)
        opened = np.flatnonzero(~closed)
        halves = cut(records.points, group, ~closed)
        ok = records.satisfied(halves)
        good = ok[opened] & ok[n:]
        kept = np.append(np.ones(n, np.bool_), good)
        whole = np.append(np.arange(n), opened)
        group = numbered(np.where(kept[halves], halves, whole[halves]))  # second halves come last, in their order
        closed = np.concatenate([closed, np.zeros(int(good.sum()), np.bool_)])
        closed[opened[~good]] = True
        closed |= np.bincount(group) < 2 * smallest
    return group


def exchanged(records: Records, group: Codes, rng: np.random.Generator) -> Codes:
    """The groups after moves that make the squared error fall and keep the goal.

    Records with the same sensitive values change places freely: no criterion sees it. Other moves (to a near group,
    alone or in exchange) are proposed in rounds, at most one for a group; those that leave a group which does not
    satisfy the goal are undone. Groups that can be divided then are divided, and all begins anew.
    """
    points = in_fours(records.points)
    lists = near(points, _NEAR, rng)
    secrets = secret_values(records.tally, records.goal)[0][records.cell]
    left = _ROUNDS
    while True:
        barred = np.zeros(records.n, np.bool_)
        each = int((np.bincount(group) ** 2).sum()) * _NEAR + records.n * _ROUND
        left = min(left, _COMPARISONS // each)
        for r in range(left):
            if r % _SWAPS_AFTER == 0:
                group = _swapped(points, lists, group, secrets)
            proposal = _proposed(points, lists, group, records.goal.min_size, barred)
            if proposal is None:
                break
            group = _kept(records, group, *proposal, barred)
            left -= 1
        finer = divided(records, group)
        if left <= 0 or finer.max() == group.max():
            return finer
        group = finer


def _swapped(points: Floats, lists: Codes, group: Codes, kind: Codes) -> Codes:
    """The groups after records of the same kind have changed places, wherever that helps."""
    partition, scratch = search_state(points, lists, group, 1, kind)
    search(partition, scratch)
    return partition.group


def _proposed(
    points: Floats, lists: Codes, group: Codes, smallest: int, barred: NDArray[np.bool_]
) -> tuple[Codes, Codes, Codes] | None:
    """Moves that gain most in both groups that they change: records, the groups they go to, and their partners."""
    n = len(group)
    partition, scratch = search_state(points, lists, group, 1, np.zeros(n, np.int32))
    partition = partition._replace(sizes=np.array([smallest, n]))
    change, home, partner = np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32)
    offers(partition, scratch, change, home, partner)
    found = np.flatnonzero((home >= 0) & ~barred)
    if len(found) == 0:
        return None
    found = found[np.argsort(change[found], kind="stable")]
    rank = np.arange(len(found))
    first = np.full(int(group.max()) + 1, len(found))
    for side in (group[found], home[found]):
        np.minimum.at(first, side, rank)
    best = found[(first[group[found]] == rank) & (first[home[found]] == rank)]
    return best.astype(np.int32), home[best], partner[best]


def _kept(
    records: Records,
    group: Codes,
    mover: Codes,
    home: Codes,
    partner: Codes,
    barred: NDArray[np.bool_],
) -> Codes:
    """The groups after those moves which keep the goal; records whose move does not are barred."""
    origin = group[mover]
    after = group.copy()
    after[mover] = home
    swaps = partner >= 0
    after[partner[swaps]] = origin[swaps]
    number = np.full(int(group.max()) + 1, -1, np.int32)
    number[origin] = np.arange(len(mover))
    number[home] = len(mover) + np.arange(len(mover))
    ok = records.satisfied(number[after])
    bad = ~(ok[: len(mover)] & ok[len(mover) :])
    barred[mover[bad]] = True
    after[mover[bad]] = origin[bad]
    after[partner[bad & swaps]] = home[bad & swaps]
    return after
