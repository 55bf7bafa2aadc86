"""Batches: groups of sensitive values, whatever the quasi-identifiers are."""

from __future__ import annotations

import numpy as np

from tarnkappe.algorithms.bucketization.anatomize import different_values
from tarnkappe.algorithms.bucketization.likeness import groups_of_alike
from tarnkappe.algorithms.watch import Watch
from tarnkappe.arrays import Codes, Counts
from tarnkappe.deals import records_of, shuffle_runs
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft
from tarnkappe.tally import Tally, distinct_rows


def alike_batches(tally: Tally, goal: Goal, rng: np.random.Generator, watch: Watch) -> tuple[Codes, Counts]:
    """Batches of people whose quasi-identifiers are alike; any others where such cannot satisfy the goal."""
    try:
        return records_of(groups_of_alike(tally, goal, rng, watch))
    except InfeasibleError:
        return formed_batches(tally, goal, rng)


def formed_batches(tally: Tally, goal: Goal, rng: np.random.Generator) -> tuple[Codes, Counts]:
    """The cells of all records batch by batch, and the size of every batch; each satisfies the goal.

    Where enough different values satisfy the goal and none is too common, batches are dealt as Anatomize does. Else
    records are dealt in turn, by the order of their values, and batches that violate the goal are pooled. Only if not
    even all records together satisfy it is the surplus of common values left out.
    """
    if not tally.n_records:
        raise goal.infeasible(tally)
    needed = _different(goal)
    if needed is not None:
        try:
            return different_values(tally, Goal(goal.criteria), goal.columns[0], needed, rng)[:2]
        except InfeasibleError:  # a value is too common for that
            pass
    pooled = _pooled(tally, goal, rng)
    if pooled is not None:
        return pooled
    if needed is None:
        raise goal.infeasible(tally)
    return different_values(tally, goal, goal.columns[0], needed, rng)[:2]


def _different(goal: Goal) -> int | None:
    """How many different values of its one column satisfy a goal; None if no number does."""
    needed = [c.enough_different for c in goal.criteria]
    if len(goal.columns) != 1 or goal.joint or None in needed:
        return None
    return max(2, *(n or 1 for n in needed))


def _pooled(tally: Tally, goal: Goal, rng: np.random.Generator) -> tuple[Codes, Counts] | None:
    """Records dealt in turn to as many batches as could be, which are pooled until all satisfy the goal.

    Neighbours in the order of values go to different batches, so each is like the whole table. Those that violate the
    goal are pooled in pairs that lie far apart in turn, which is the same as dealing to half as many. None if all
    records together do not satisfy the goal.
    """
    cell = _in_order(tally, goal, rng)
    n = len(cell)
    n_batches = max(1, n // goal.min_size)
    batch = (np.arange(n) % n_batches).astype(np.int32)
    one, tables, reach = np.ones(n, np.int64), goal.table_distributions(tally), 1
    while True:
        ok = goal.satisfied(goal.stats(tally, Draft(cell, batch, one, n_batches), tables))
        if ok.all():
            break
        if n_batches == 1:
            return None
        into = np.arange(n_batches)
        bad = np.flatnonzero(~ok)
        if len(bad) > 1:
            half = len(bad) // 2
            into[bad[half : 2 * half]] = bad[:half]
        else:  # no other violates the goal: pooled with more and more that do not
            into[np.flatnonzero(ok)[:reach]] = bad[0]
            reach *= 2
        kept, number = np.unique(into, return_inverse=True)
        batch, n_batches = number.astype(np.int32)[batch], len(kept)
    order = np.argsort(batch, kind="stable")
    return cell[order], np.bincount(batch, minlength=n_batches).astype(np.int64)


def _in_order(tally: Tally, goal: Goal, rng: np.random.Generator) -> Codes:
    """The cells of all records in the order of their sensitive values, equal ones in random order."""
    places = [tally.sensitive_index(name) for name in goal.columns]
    columns = [tally.sensitive[:, s] for s in places]
    rank, _ = distinct_rows(columns, [tally.sensitive_domains[s].size for s in places])
    order = np.argsort(rank, kind="stable").astype(np.int32)
    cell = np.repeat(order, tally.count[order])
    starts = np.append(0, np.cumsum(np.bincount(rank, tally.count).astype(np.int64)))
    shuffle_runs(cell, starts, rng)
    return cell
