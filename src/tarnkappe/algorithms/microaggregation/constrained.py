"""Refinement of groups that satisfy more than a size: only moves that keep the goal."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.microaggregation.near import near
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.algorithms.microaggregation.refinement import cut, in_fours, numbered, search, search_state
from tarnkappe.algorithms.steps.units import secret_values
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.microaggregation.relocating import LARGE, choose_moves, offers

#: Near points whose groups a record may move to.
_NEAR = 15

#: Rounds of moves that the goal is asked about, at most; and looks of records that small tables have for further ones.
_ROUNDS, _LOOKS = 40, 400_000

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
    alone or in exchange) are proposed in rounds: one for a small group, several for a large one, which they hardly
    change. Moves that leave a group which does not satisfy the goal are undone, and so is a round that does not gain.
    Groups that can be divided then are divided, and all begins anew.
    """
    order = np.argsort(group, kind="stable")  # what is looked at together lies together
    ordered = replace(records, cell=records.cell[order], points=records.points[order])
    moved = np.empty_like(group)
    moved[order] = _exchanged(ordered, group[order], rng)
    return moved


def _exchanged(records: Records, group: Codes, rng: np.random.Generator) -> Codes:
    """The same for records that come group by group."""
    points = in_fours(records.points)
    lists = near(points, _NEAR, rng)
    secrets = secret_values(records.tally, records.goal)[0][records.cell]
    left = _ROUNDS + _LOOKS // records.n
    while True:
        barred = np.zeros(records.n, np.bool_)
        moves = 1 + np.bincount(group) // LARGE
        for r in range(left):
            if r % _SWAPS_AFTER == 0:
                group = _swapped(points, lists, group, secrets)
            proposal = _proposed(points, lists, group, records.goal.min_size, barred, moves)
            if proposal is None:
                break
            group = _kept(records, group, proposal, barred, moves)
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


class _Moves(NamedTuple):
    """Records, the groups they go to, and those that take their place (-1: none)."""

    record: Codes
    home: Codes
    partner: Codes


def _proposed(
    points: Floats, lists: Codes, group: Codes, smallest: int, barred: NDArray[np.bool_], most: Counts
) -> _Moves | None:
    """Moves that gain most in both groups that they change, so many of a group at `most`."""
    n = len(group)
    partition, scratch = search_state(points, lists, group, 1, np.zeros(n, np.int32))
    partition = partition._replace(sizes=np.array([smallest, n]))
    change, home, partner = np.empty(n), np.empty(n, np.int32), np.empty(n, np.int32)
    offers(partition, scratch, change, home, partner)
    found = np.flatnonzero((home >= 0) & ~barred)
    if len(found) == 0:
        return None
    found = found[np.argsort(change[found], kind="stable")]
    chosen = found[choose_moves(group, home, partner, found, most)]
    return _Moves(chosen.astype(np.int32), home[chosen], partner[chosen])


def _kept(records: Records, group: Codes, moves: _Moves, barred: NDArray[np.bool_], most: Counts) -> Codes:
    """The groups after those moves which keep the goal.

    A record whose move alone breaks the goal is barred; a group that several moves break makes half as many next time.
    """
    before = records.error(group)
    open_moves = moves
    while len(open_moves.record):
        origin = group[open_moves.record]
        after = group.copy()
        after[open_moves.record] = open_moves.home
        swaps = open_moves.partner >= 0
        after[open_moves.partner[swaps]] = origin[swaps]
        used = np.bincount(origin, minlength=len(most)) + np.bincount(open_moves.home, minlength=len(most))
        bad = np.zeros(len(most), np.bool_)
        touched = np.flatnonzero(used)
        number = np.full(len(most), -1, np.int32)
        number[touched] = np.arange(len(touched))
        bad[touched] = ~records.satisfied(number[after])
        if not bad.any():
            if records.error(after) < before:
                return after
            bad = used > 0
        broken = bad[origin] | bad[open_moves.home]
        alone = (used[origin] == 1) & (used[open_moves.home] == 1)
        barred[open_moves.record[broken & alone]] = True
        most[bad] = np.maximum(1, most[bad] // 2)
        open_moves = _Moves(*(part[~broken] for part in open_moves))
    return group
