"""What the exact searches over sets of cuts have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.costs import Cost
from tarnkappe.algorithms.subtree.enumeration import Enumeration
from tarnkappe.algorithms.subtree.refinements import Refinements
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class ExactSearch(Algorithm):
    """A search for the set of cuts of least cost, which ends with a proof or after a number of branches."""

    scheme: ClassVar = "subtree"

    nodes: int = param(
        5000, doc="Stop after so many branches, with the best recoding found so far.", ge=1, kw_only=True
    )
    max_cuts: int = param(100, doc="Cut a numeric or ordered column at no more places than this.", ge=1, kw_only=True)

    @abstractmethod
    def cost(self, tally: Tally, goal: Goal, space: Refinements) -> Cost:
        """What is minimised."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Enumerate sets of cuts."""
        self.require_supported(tally, goal)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        space = Refinements.of(tally, self.max_cuts)
        return Enumeration(tally, goal, space, self.cost(tally, goal, space)).optimum(self.nodes)
