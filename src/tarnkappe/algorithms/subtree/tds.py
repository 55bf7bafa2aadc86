"""Top-Down Specialization."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.specialisation import everybody_together, specialised
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.algorithms.subtree.values import GRANULARITIES
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import assignment
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class TopDownSpecialization(Algorithm):
    r"""Start with everything at the top and specialise the value that tells most about a target per anonymity lost.

    .. math::

        \mathrm{IGPL}(v) = \frac{\mathrm{InfoGain}(v)}{\mathrm{AnonyLoss}(v) + 1}, \qquad
        \mathrm{InfoGain}(v) = I(R_v) - \sum_c \frac{|R_c|}{|R_v|} I(R_c)

    with the entropy :math:`I` of the target in the records :math:`R_v` that have the value and in its parts
    :math:`R_c`, and AnonyLoss the mean over the `anonymity_sets` of how much smaller the smallest group becomes. A
    value is recoded in the same way in all records. Ranges without a taxonomy are cut on the fly, where that gains
    most information.

    A specialisation is allowed if the goal holds afterwards; records that violate it may be suppressed within the
    limit. What is not allowed is never tried again, because groups only fall apart further. Only groups that carry
    the specialised value are touched: O(sum over steps of affected cells · columns).

    Greedy steps may lead into a corner, so several `attempts` are made. The first asks for nothing but the goal; the
    others first go as far as they can with groups 2, 4, 8, … times as large. The release that tells most about the
    target is taken.

    Differs from the paper in: by default (`granularity` sibling) one child at a time is told from its siblings, which
    stay at their parent's label, so that a rare child does not keep the others back. A range is cut at the best place
    that is allowed, not given up when the best of all is not. The paper's algorithm is ``granularity: subtree`` with
    one attempt. Any monotone goal is possible, and always holds for all quasi-identifiers together. Values that gain
    no information are specialised too, after all others; a value with only one child in the data takes it at once.

    References
    ----------
    .. [FuWY05] Fung, Wang, Yu. "Top-down specialization for information and privacy preservation." ICDE 2005.
    .. [FuWY07] Fung, Wang, Yu. "Anonymizing classification data for privacy preservation." IEEE TKDE 19(5), 2007.
    """

    name: ClassVar = "tds"
    title: ClassVar = "Top-Down Specialization"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Keeps the detail that predicts a target column; a value is recoded alike in all records."

    target: str = param(doc="The column that readers of the release want to predict.", refers_to="predicted")
    granularity: str = param(
        "sibling",
        doc="Tell one child of a value from its siblings at a time (sibling), or all children at once (subtree).",
        choices=GRANULARITIES,
        kw_only=True,
    )
    score: str = param(
        "gain-per-loss",
        doc="Value a step by the information it gains per anonymity it loses, or by the information alone.",
        choices=("gain-per-loss", "gain"),
        kw_only=True,
    )
    attempts: int = param(
        6,
        doc="How many times to try, each time with larger groups at first; the most telling release is taken.",
        ge=1,
        kw_only=True,
    )
    anonymity_sets: tuple[tuple[str, ...], ...] = param(
        (),
        doc="Sets of quasi-identifiers whose smallest groups count for the anonymity lost (none given: all columns).",
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Specialise until nothing is allowed any more."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        sets = self._sets(tally)
        everybody_together(tally, goal)
        return specialised(
            tally,
            goal,
            classes,
            score=self.score,
            granularity=self.granularity,
            sets=sets,
            attempts=self.attempts,
        )

    def _sets(self, tally: Tally) -> list[list[int]]:
        """The anonymity sets as positions of columns."""
        names = [d.name for d in tally.quasi_domains]
        for name in (name for chosen in self.anonymity_sets for name in chosen):
            if name not in names:
                raise JobError(
                    "E105",
                    f"the anonymity sets of {self.name} name '{name}', "
                    f"which is no quasi-identifier{did_you_mean(name, names)}",
                    hint=assignment("anonymity_sets", [names]),
                )
        return [[names.index(name) for name in chosen] for chosen in self.anonymity_sets]
