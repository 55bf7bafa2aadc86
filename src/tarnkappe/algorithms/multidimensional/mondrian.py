"""Mondrian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.steps.medians import MedianFront
from tarnkappe.algorithms.steps.swaps import swap_refine
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Mondrian(Algorithm):
    r"""Halve the widest quasi-identifier of a group at its median as long as both halves satisfy the goal.

    Groups are cut breadth-first, all groups of a round at once, so that criteria are asked about a whole frontier and
    never about a single group. Per group, attributes are tried by decreasing normalised width times weight.

    *Strict* cuts keep equal values together: ``x <= median`` and ``x < median`` are tried, first the one that leaves
    the tighter halves. On a taxonomy cuts fall between children of the lowest common ancestor; only where no attribute
    has such a cut may one go through a subtree. *Relaxed* cuts halve the records and divide those that have the median
    value.

    Published are tight boxes: ``[min max]``, or the lowest node covering the values. O(d · n · log n).

    With a public table the boxes are tight round its people, so that each of them belongs to one group. Relaxed
    cuts are then refused: they would divide people who are alike.

    Differs from the paper in: the second try at ``x < median``, without which low-cardinality columns are given up too
    early; cuts of taxonomies by consecutive children instead of all children at once; tight boxes instead of cut cells.

    References
    ----------
    .. [LeDR06] LeFevre, DeWitt, Ramakrishnan. "Mondrian multidimensional k-anonymity." ICDE 2006.
    """

    name: ClassVar = "mondrian"
    title: ClassVar = "Mondrian"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Cuts the table into ever smaller boxes at medians; low loss, fast, any size."
    handles_wildcards: ClassVar = True
    handles_population: ClassVar = True
    decides_parts: ClassVar = True

    cut: str = param(
        "strict",
        doc="Keep equal values together (strict) or divide them to halve the records (relaxed).",
        choices=("strict", "relaxed"),
    )
    swaps: int = param(
        0, doc="Passes of swap refinement: records with equal secrets change groups.", ge=0, kw_only=True
    )

    @property
    def takes_population(self) -> bool:
        """Relaxed cuts and swaps part people who are alike, and it would be unclear to which group each belongs."""
        return self.cut == "strict" and self.swaps == 0

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut until no cut is allowed."""
        self.require_supported(tally, goal)
        if tally.n_records == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        cut = MedianFront(tally, goal, relaxed=self.cut == "relaxed").exhaust()
        return swap_refine(tally, cut, goal, self.swaps)
