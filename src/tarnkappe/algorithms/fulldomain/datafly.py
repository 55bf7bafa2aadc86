"""Datafly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Datafly(Algorithm):
    """Generalise, level by level, the quasi-identifier with most distinct values until few enough records are left.

    What then still violates the goal is suppressed, within the suppression limit. Distinct values are counted in the
    current table, ties go to the first column, and an attribute at its top is not chosen again. Never undoes a step, so
    the result is not minimal: the simple baseline. O(sum of heights · cells).

    Differs from the paper in: the limit is a share of all records instead of k records, and any criterion may be asked
    for, not only k-anonymity.

    References
    ----------
    .. [Swee98] Sweeney. "Datafly: a system for providing anonymity in medical data." Database Security XI, 1998.
    """

    name: ClassVar = "datafly"
    title: ClassVar = "Datafly"
    scheme: ClassVar = "full-domain"
    summary: ClassVar = "Greedy full-domain generalisation; every value of a column gets the same level."
    scopes: ClassVar = frozenset({"group", "projection", "table"})
    handles_population: ClassVar = True

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Generalise until the leftovers fit into the suppression limit."""
        self.require_supported(tally, goal)
        if tally.n_records == 0:
            raise goal.infeasible(tally)
        level = [0] * len(tally.quasi_domains)
        highest = [d.taxonomy.height if d.max_level is None else d.max_level for d in tally.quasi_domains]
        while True:
            cuts = [Cut.at_level(d, at) for d, at in zip(tally.quasi_domains, level, strict=True)]
            grouping = recode(tally, cuts)
            settled = suppress_leftovers(tally, grouping, goal)
            if settled is not None:
                return settled
            distinct = [
                len(np.unique(cut.part[tally.quasi[:, j]])) if level[j] < highest[j] else -1
                for j, cut in enumerate(cuts)
            ]
            widest = int(np.argmax(distinct))
            if distinct[widest] < 0:
                ok = goal.satisfied(goal.stats(tally, grouping))
                lost = int(grouping.quota[~ok[grouping.group]].sum())
                raise goal.infeasible(tally, lost, enough=goal.judges_groups_alone)
            level[widest] += 1
