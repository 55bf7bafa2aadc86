"""What the Mondrians for large tables share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.multidimensional.cut_tree import CutTree, Growth, finished
from tarnkappe.algorithms.shards import Secrets, Shards
from tarnkappe.arrays import Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class ShardedMondrian(Algorithm):
    """Cuts a table in shards until its parts are small enough, then every part by itself in memory.

    The subclass says how the tree of cuts is grown (`grow`). Cuts are those of strict `Mondrian`; what is published are
    tight boxes.
    """

    scheme: ClassVar = "multidimensional"
    handles_wildcards: ClassVar = True
    decides_parts: ClassVar = True

    part_records: int = param(
        100_000, doc="A part of the table of at most so many records is finished by itself in memory.", ge=1
    )
    shards: int = param(4, doc="How many shards of the table are counted side by side.", ge=1, kw_only=True)

    @abstractmethod
    def grow(
        self, tree: CutTree, shards: Shards, goal: Goal, secrets: Secrets, rng: np.random.Generator
    ) -> tuple[Counts, dict[str, Note]]:
        """Cut the tree until its leaves are small; returns the leaves that have no allowed cut, and notes.

        Every leaf satisfies the goal.
        """

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut the table into parts, then finish them."""
        self.require_supported(tally, goal)
        if tally.n_records == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        shards = Shards.of(tally, self.shards)
        secrets = Secrets(shards, goal)
        tree = CutTree(tally.quasi_domains, tally.n_records)
        closed, notes = self.grow(tree, shards, goal, secrets, rng)
        grouping = finished(shards, tree, closed, goal, secrets, self.part_records)
        return replace(grouping, notes={**notes, "parts": len(tree.leaves)})


@dataclass(frozen=True)
class CountedMondrian(ShardedMondrian):
    """Grows the tree from counts of all records, in rounds over the shards."""

    #: Whether a round counts the secrets of every candidate as well, or only its records.
    counts_secrets: ClassVar[bool]

    def grow(
        self, tree: CutTree, shards: Shards, goal: Goal, secrets: Secrets, rng: np.random.Generator
    ) -> tuple[Counts, dict[str, Note]]:
        """Rounds of counts until all parts are small."""
        growth = Growth(shards, goal, secrets, with_secrets=self.counts_secrets)
        closed = growth.grow(tree, np.zeros(1, np.int64), self.part_records)
        return closed, {"scans": growth.scans}
