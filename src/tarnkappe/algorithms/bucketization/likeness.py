"""People who are alike: groups and boxes that throw together what lies near each other."""

from __future__ import annotations

import numpy as np

from tarnkappe.algorithms.local.hilb import Hilb
from tarnkappe.algorithms.local.pool import Pool, settle
from tarnkappe.algorithms.steps.medians import MedianFront
from tarnkappe.algorithms.watch import Watch
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft, Grouping
from tarnkappe.tally import Tally


def groups_of_alike(tally: Tally, goal: Goal, rng: np.random.Generator, watch: Watch) -> Draft:
    """Groups of people with like quasi-identifiers that satisfy a goal; equal people may be in several."""
    return Hilb().watched(watch).decide(tally, goal, rng=rng)


def boxes_of_alike(tally: Tally, goal: Goal, rng: np.random.Generator, watch: Watch) -> Grouping:
    """Groups of whole cells that satisfy a goal about people, as narrow as Hilb or, if better, median cuts find.

    Hilb divides the records of a cell where that helps. Here a cell goes where most of its records are, and groups that
    are too small then join others nearby.
    """
    pool, _ = Pool.whole(tally, goal)
    cut = MedianFront(tally, goal).exhaust()
    near = settle(pool, _whole(tally, groups_of_alike(tally, goal, rng, watch)))
    return min((near, cut), key=pool.loss)


def _whole(tally: Tally, pieces: Draft) -> Grouping:
    """Every cell in the group that has most of its records."""
    order = np.lexsort((pieces.quota, pieces.cell))  # the last piece of a cell is the largest
    last = order[np.append(np.diff(pieces.cell[order]) > 0, True)]
    used, group = np.unique(pieces.group[last], return_inverse=True)
    return Grouping.of_cells(tally, group.astype(np.int32), len(used))
