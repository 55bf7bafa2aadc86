"""What algorithms share that give up cells of groups and prove how far from the fewest they are."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.local.pool import Pool, settle
from tarnkappe.algorithms.steps.units import deal_out, tidy
from tarnkappe.arrays import Codes, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.publish.boxes import FixedBoxes
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class SuppressionApproximation(Algorithm):
    """Divides records into groups, each of which gives up the columns in which its records differ.

    The bound is about k-anonymity. For other goals groups that violate them are merged with the nearest, and the notes
    state no bound.
    """

    scheme: ClassVar = "local"
    generalises: ClassVar = False

    @abstractmethod
    def partition(self, codes: Codes, weights: Floats, k: int) -> Codes:
        """The group of each record; every group has at least `k`, of which there are as many at least."""

    @abstractmethod
    def bound(self, k: int) -> float:
        """How many times the least weight is given up at most."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Groups of records, then what they publish."""
        self.require_supported(tally, goal)
        pool, owner = Pool.whole(tally, goal, watch=self.watch)
        seen = pool.tally
        cell = np.repeat(np.arange(seen.n_cells, dtype=np.int32), seen.count)
        weights = np.array([d.weight for d in seen.quasi_domains])
        k = min(goal.min_size, seen.n_records)
        group = cell if k < 2 else self.partition(np.ascontiguousarray(seen.quasi[cell]), weights, k)
        _, number = np.unique(group, return_inverse=True)
        one = np.ones(len(cell), np.int64)
        grouping = settle(pool, tidy(cell, number.astype(np.int32), one, int(number.max()) + 1))
        boxes = grouping.boxes(seen)
        leaf = np.column_stack([d.taxonomy.leaf_nodes[boxes.lo[:, j]] for j, d in enumerate(seen.quasi_domains)])
        node = np.where(boxes.lo == boxes.hi, leaf, 0).astype(np.int32)
        size = np.bincount(grouping.group, grouping.quota, grouping.n_groups)
        notes: dict[str, Note] = {"weight given up": float(size @ ((boxes.lo != boxes.hi) @ weights))}
        if goal.decided_by_size:
            notes["times the least weight at most"] = self.bound(k)
        published = FixedBoxes(Boxes.of_nodes(node, seen.quasi_domains))
        return replace(deal_out(tally, owner, grouping), form=published, notes=notes)
