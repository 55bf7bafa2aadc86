"""Top-down or bottom-up, whichever has the shorter way (the hybrid of MRTDS and MRBUG)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.mr_bug import MRBUG
from tarnkappe.algorithms.subtree.mr_tds import MRTDS
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally, distinct_rows


@dataclass(frozen=True)
class MRHybrid(Algorithm):
    r"""Chooses between MRTDS and MRBUG by where the solution probably lies: near the top or near the bottom.

    Top-down specialisation starts with everything hidden, so it has the shorter way if groups must be large. Bottom-up
    generalisation starts with everything shown, and is the shorter way if groups may be small. Halfway up all
    taxonomies both have the same way to go. The workload balancing point :math:`K` is the mean size of a group there,

    .. math:: K = n / g

    with :math:`n` records in :math:`g` groups. If the goal asks for groups of more than :math:`K` records, MRTDS is
    run, else MRBUG. `threshold` sets another :math:`K`. One more count, then the cost of the algorithm that was chosen.

    Differs from the paper in: :math:`K` is counted on the table at hand, where the paper estimates it from the heights
    of the taxonomies; the size in question is the smallest that could satisfy the goal, of which k is one example.

    References
    ----------
    .. [ZLNY14] Zhang, Liu, Nepal, Yang, Dou, Chen. "A hybrid approach for scalable sub-tree anonymization over big
       data using MapReduce on cloud." Journal of Computer and System Sciences 80(5), 2014.
    """

    name: ClassVar = "mrhybrid"
    title: ClassVar = "Hybrid of MRTDS and MRBUG"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Top-down for large groups, bottom-up for small ones: whichever has the shorter way."

    target: str = param(doc="The column that readers of the release want to predict.", refers_to="predicted")
    threshold: int | None = param(
        None,
        doc="Specialise from the top if groups must be larger than this; counted on the table if not given.",
        ge=1,
        kw_only=True,
    )
    partitions: int = param(4, doc="How many parts of the table are counted side by side.", ge=1, kw_only=True)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Choose, and let the one that was chosen decide."""
        self.require_supported(tally, goal)
        balance = size_halfway_up(tally) if self.threshold is None else self.threshold
        chosen: Algorithm
        if goal.min_size > balance:
            chosen = MRTDS(self.target, partitions=self.partitions)
        else:
            chosen = MRBUG(self.target, partitions=self.partitions)
        grouping = chosen.decide(tally, goal, rng=rng)
        return replace(grouping, notes={**grouping.notes, "chosen": chosen.name, "balance": balance})


def size_halfway_up(tally: Tally) -> int:
    """The mean number of records of a group if every value is published as its ancestor halfway to the root."""
    if tally.n_cells == 0:
        return 0
    trees = [d.taxonomy for d in tally.quasi_domains]
    columns = [tree.ancestors[tree.height // 2][tally.quasi[:, j]] for j, tree in enumerate(trees)]
    _, first = distinct_rows(columns, [tree.n_nodes for tree in trees])
    return tally.n_records // len(first)
