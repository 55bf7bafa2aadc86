"""The records of a tally one by one, as points, with what the goal asks of their groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.microaggregation.refinement import error
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft, GroupStats
from tarnkappe.kernels.merging import pair_off
from tarnkappe.kernels.microaggregation.points import group_means
from tarnkappe.kernels.microaggregation.tree import cheapest_others
from tarnkappe.space import Space
from tarnkappe.tally import Tally


@dataclass(frozen=True, eq=False)
class Records:
    """Every record by itself: the cell it belongs to and the point where it lies."""

    tally: Tally
    goal: Goal
    cell: Codes
    points: Floats

    @classmethod
    def of(cls, tally: Tally, goal: Goal) -> Records:
        """The records of a tally, cell by cell."""
        cell = np.repeat(np.arange(tally.n_cells, dtype=np.int32), tally.count)
        return cls(tally, goal, cell, np.ascontiguousarray(Space.of(tally).points(tally.quasi)[cell]))

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.cell)

    @cached_property
    def tables(self) -> dict[str, Counts]:
        """The distributions that groups are compared with."""
        return self.goal.table_distributions(self.tally)

    def stats(self, group: Codes) -> GroupStats:
        """What criteria see of groups of records; -1 is left out."""
        pieces = Draft(self.cell, group, np.ones(self.n, np.int64), int(group.max(initial=-1)) + 1)
        return self.goal.stats(self.tally, pieces, self.tables)

    def error(self, group: Codes) -> float:
        """The squared distances of all records from the means of their groups."""
        return error(self.points, group)

    def satisfied(self, group: Codes) -> NDArray[np.bool_]:
        """Which groups satisfy the goal."""
        return self.goal.satisfied(self.stats(group))

    def settled(self, group: Codes) -> Codes:
        """The groups, with those that violate the goal pooled with the nearest ones until none does.

        All records in one group satisfy it, so this ends. What criteria see of pooled groups is pooled, not counted
        again from the records.
        """
        stats = self.stats(group)
        while True:
            ok = self.goal.satisfied(stats)
            if ok.all():
                return group
            means, size = group_means(self.points, group, len(ok))
            lacking = np.flatnonzero(~ok)
            partner, price = cheapest_others(means, size, lacking)
            into = np.empty(len(ok), np.int64)
            pair_off(lacking, partner, np.argsort(price, kind="stable"), ok, into)
            number = np.unique(into, return_inverse=True)[1].astype(np.int32)
            group, stats = number[group], stats.pooled(number)
