"""High-Dimensional Top-Down Specialization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.party import SCORES
from tarnkappe.algorithms.subtree.specialisation import everybody_together, specialised
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class HighDimensionalTds(Algorithm):
    r"""Top-down specialisation for criteria about parts of the quasi-identifiers, such as LKC-privacy.

    Starts at the top of all taxonomies and carries out, again and again, the specialisation with the best score that
    keeps the goal. The whole release is asked about, because groups that differ in some columns only are one group to
    an attacker who does not know these. A specialisation that breaks the goal is never tried again: what an attacker of
    limited knowledge sees only falls apart further.

    `score` is the information gained about the target per loss of anonymity (see Top-Down Specialization), the
    information alone, or the decrease of discernibility :math:`\sum_G |G|^2`. Without a target it is always the last.
    O(candidates · cost of the criterion on the whole table).

    Differs from the paper in: groups are counted again for each candidate, by the criterion, instead of keeping the
    counts of minimal violating sequences; the score divides by the loss of anonymity plus one, as Top-Down
    Specialization does, so that no loss needs no rule of its own.

    References
    ----------
    .. [MFHL09] Mohammed, Fung, Hung, Lee. "Anonymizing healthcare data: a case study on the blood transfusion service."
       KDD 2009.
    """

    name: ClassVar = "hdtds"
    title: ClassVar = "High-Dimensional Top-Down Specialization"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Top-down specialisation for many columns, of which an attacker knows only a few (LKC-privacy)."
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table"})

    target: str | None = param(
        None, doc="The column that readers of the release want to predict, if any.", refers_to="predicted"
    )
    score: str = param(
        SCORES[0],
        doc="Value a step by information per anonymity lost, by information, or by discernibility.",
        choices=SCORES,
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Specialise until nothing is allowed any more."""
        self.require_supported(tally, goal)
        score, classes = "discernibility", (np.zeros(tally.n_cells, np.int32), 1)
        if self.target is not None:
            score, classes = self.score, target_codes(tally, self.target, self.name)
        everybody_together(tally, goal)
        return specialised(tally, goal, classes, score=score, granularity="subtree")
