"""Precision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.metrics.base import ColumnLoss, weighted_mean
from tarnkappe.metrics.steps import generalisation_steps, leaf_depths, leaf_steps
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally


class Precision(ColumnLoss):
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
    sentence: ClassVar = "Cells have kept {percent} of their levels of detail (precision)."

    def leaf_costs(self, domain: Domain, node: Codes, counts: Counts) -> Floats:
        """The share of its levels that each leaf gives up."""
        return leaf_steps(domain, node) / np.maximum(leaf_depths(domain), 1.0)

    def suppressed_costs(self, domain: Domain, counts: Counts) -> Floats:
        """All levels."""
        return self.leaf_costs(domain, np.zeros(domain.size, np.int32), counts)

    def combine(self, sums: Floats, tally: Tally) -> Floats:
        """One minus the mean share of levels given up."""
        return 1.0 - weighted_mean(sums / tally.n_records, tally)

    def score(self, plan: Plan) -> float:
        """One minus the mean share of levels given up."""
        shares = np.array([share for _, share in generalisation_steps(plan).values()])
        return float(1.0 - weighted_mean(shares, plan.tally))
