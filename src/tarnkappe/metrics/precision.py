"""Precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.metrics.base import Metric
from tarnkappe.metrics.steps import generalisation_steps
from tarnkappe.plan import Plan


class Precision(Metric):
    r"""One minus the mean of generalisation level over height of the taxonomy.

    .. math:: \mathrm{Prec} = 1 - \frac1{n d} \sum_{\text{cells}} level / height

    A suppressed record has level = height everywhere. In a ragged tree the level is the number of steps made and the
    height the steps that the value could make.

    References
    ----------
    .. [Swee02] Sweeney. "Achieving k-anonymity privacy protection using generalization and suppression." 2002.
    """

    name: ClassVar = "precision"
    title: ClassVar = "Precision (Prec)"
    goal: ClassVar = "maximise"
    sentence: ClassVar = "Cells have kept {value:.1%} of their levels of detail (precision)."

    def score(self, plan: Plan) -> float:
        """One minus the mean share of levels given up."""
        shares = [share for _, share in generalisation_steps(plan).values()]
        weights = [d.weight for d in plan.tally.quasi_domains]
        return 1.0 - float(np.average(shares, weights=weights))
