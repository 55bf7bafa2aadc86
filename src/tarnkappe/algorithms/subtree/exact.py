"""What the exact searches over sets of cuts have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.subtree.costs import Cost
from tarnkappe.algorithms.subtree.enumeration import Enumeration
from tarnkappe.algorithms.subtree.refinements import Refinements
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.params import param
from tarnkappe.tally import Tally

#: The usual work of a search: for any table, and for each of its cells.
_WORK, _WORK_PER_CELL = 300_000_000, 10_000


@dataclass(frozen=True)
class ExactSearch(Improving):
    """A search for the set of cuts of least cost, which ends with a proof, or after a number of branches or some work.

    The work is counted in records that are looked at after a step. It grows with the number of cells, but a small
    table gets more for each of them.

    Where a column has more than `max_cuts` places to cut, only some are tried. What the notes say about the optimum
    holds for all of them: the bound is then one that every recoding keeps, and whether the result is the best among the
    cuts tried is a note of its own.
    """

    scheme: ClassVar = "subtree"

    nodes: int | None = param(
        None,
        doc="Stop after so many branches, with the best recoding found so far; none: as many as the effort allows.",
        ge=1,
        kw_only=True,
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
        space, full = Refinements.of(tally, self.max_cuts), Refinements.of(tally)
        found = Enumeration(tally, goal, space, self.cost(tally, goal, space)).optimum(
            self.nodes, self.work.of_usual(_WORK + _WORK_PER_CELL * tally.n_cells), self.watch
        )
        return found if len(space) == len(full) else self._among_all(tally, goal, full, found, len(space))

    def _among_all(self, tally: Tally, goal: Goal, full: Refinements, found: Grouping, n_tried: int) -> Grouping:
        """The recoding found among some of the cuts, with notes that hold for all of them."""
        cost = self.cost(tally, goal, full)
        reached = float(found.notes["cost"])
        bound = min(Enumeration(tally, goal, full, cost).least_cost() * cost.scale, reached)
        notes: dict[str, Note] = {
            **found.notes,
            "optimal": bound >= reached,
            "lower bound": bound,
            "optimal among the cuts tried": found.notes["optimal"],
            "cuts tried": n_tried,
            "cuts": len(full),
        }
        return replace(found, notes=notes)
