"""Highest levels, for any algorithm: records that must not share a group are decided apart from each other."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.shards import Shard, joined, part_of
from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, GroupStats
from tarnkappe.kernels.histograms import group_order
from tarnkappe.tally import Domain, Tally, distinct_rows

#: Shares of records are rounded down to such a part, so that parts together never suppress too many.
_FINEST_SHARE = 10**9


def decide_below_ceilings(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator) -> Grouping:
    """What an algorithm decides where no column may be published above its highest level.

    A group lies below a ceiling exactly if its records have the same ancestor at that level. So the table falls into
    rooms, one for each combination of such ancestors, and the algorithm is asked about each by itself. Rooms that
    cannot satisfy the goal are suppressed. Algorithms that publish whole levels know the ceilings themselves.
    """
    if algorithm.publishes_levels or not tally.has_ceilings or tally.n_cells == 0:
        return algorithm.decide(tally, goal, rng=rng)
    algorithm.require_supported(tally, goal)
    room, n_rooms = _rooms(tally)
    stats = _stats(tally, goal, room, n_rooms)
    hopeless = (goal.least_suppressed(stats) >= stats.size) & (stats.size > 0)
    lost = int(stats.size[hopeless].sum())
    budget, others = goal.budget(tally.n_records) - lost, tally.n_records - lost
    if budget < 0 or others == 0:
        raise goal.infeasible(tally, lost, enough=False, at_least=True)
    share = math.floor(budget * _FINEST_SHARE / others) / _FINEST_SHARE
    within = Goal(goal.criteria, min(share, 1.0), goal.pause)
    starts, order = group_order(room, n_rooms)
    parts, decided = [], []
    for i in range(n_rooms):
        part = part_of(tally, order[starts[i] : starts[i + 1]])
        parts.append(part)
        decided.append(_suppressed(part) if hopeless[i] else _decided(algorithm, tally, part, within, rng))
    if all(g.n_groups == 0 for g in decided):
        raise goal.infeasible(tally, tally.n_records)
    if any(g.fixed is not None for g in decided):
        decided = [_lowered(g, p, tally.quasi_domains) for g, p in zip(decided, parts, strict=True)]
    return replace(joined(decided, parts), notes={"parts of the table kept apart": len(parts)})


def lost_to_ceilings(tally: Tally, goal: Goal) -> int:
    """How many records must be suppressed at least because their ceilings keep them from enough others."""
    if not tally.has_ceilings or tally.n_cells == 0:
        return 0
    return int(goal.least_suppressed(_stats(tally, goal, *_rooms(tally))).sum())


def _rooms(tally: Tally) -> tuple[Codes, int]:
    """The room of every cell, and how many there are."""
    tops = [d.ceiling_of[tally.quasi[:, j]] for j, d in enumerate(tally.quasi_domains)]
    room, first = distinct_rows(tops, [d.taxonomy.n_nodes for d in tally.quasi_domains])
    return room, len(first)


def _stats(tally: Tally, goal: Goal, room: Codes, n_rooms: int) -> GroupStats:
    return goal.stats(tally, Grouping.of_cells(tally, room, n_rooms), goal.table_distributions(tally))


def _decided(algorithm: Algorithm, tally: Tally, part: Shard, goal: Goal, rng: np.random.Generator) -> Grouping:
    """What the algorithm makes of one room; nothing of it is published if no groups in it satisfy the goal."""
    try:
        return algorithm.decide(replace(part.tally, whole=tally), goal, rng=rng)
    except InfeasibleError:
        return _suppressed(part)


def _suppressed(part: Shard) -> Grouping:
    nobody = np.full(part.tally.n_cells, SUPPRESSED, np.int32)
    return Grouping.of_cells(part.tally, nobody, 0)


def _lowered(grouping: Grouping, part: Shard, domains: tuple[Domain, ...]) -> Grouping:
    """The same groups, with no label above a ceiling: what covers all of a room says no more than the room's own."""
    boxes = grouping.fixed
    if boxes is None:
        return grouping
    lo, hi, node = boxes.lo.copy(), boxes.hi.copy(), boxes.node.copy()
    for j, domain in enumerate(domains):
        high = ~domain.below_ceiling[node[:, j]]
        top = domain.ceiling_of[part.tally.quasi[0, j]]
        lo[high, j], hi[high, j], node[high, j] = domain.taxonomy.lo[top], domain.taxonomy.hi[top], top
    return replace(grouping, form=grouping.form.covering(Boxes(lo, hi, node, boxes.members)))
