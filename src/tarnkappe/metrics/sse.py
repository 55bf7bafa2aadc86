"""Loss of variance by publishing centres."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.groups import SUPPRESSED
from tarnkappe.metrics.base import Metric
from tarnkappe.plan import Plan
from tarnkappe.publish.centres import Centres
from tarnkappe.space import Space


class SquaredError(Metric):
    r"""Squared distance of records from what is published for them, in percent of their variance.

    .. math:: \mathrm{IL} = 100 \cdot \frac{\mathrm{SSE}}{\mathrm{SST}}, \quad
              \mathrm{SSE} = \sum_i \lVert x_i - c(x_i) \rVert^2, \quad
              \mathrm{SST} = \sum_i \lVert x_i - \bar x \rVert^2

    on standardised attributes: every quasi-identifier has variance 1, times its weight. Squared distances of nominal
    values are those of their taxonomy, exactly, however many values there are. A suppressed record has lost everything:
    it counts as published at the mean of all.

    References
    ----------
    .. [DoMa02] Domingo-Ferrer, Mateo-Sanz. "Practical data-oriented microaggregation for statistical disclosure
       control." TKDE 2002.
    """

    name: ClassVar = "sse"
    title: ClassVar = "Information loss (SSE/SST)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "Records lie {value:.2f} % of the variance away from what is published for them (SSE/SST)."
    reads: ClassVar = (Centres,)

    def column_scores(self, plan: Plan) -> dict[str, float]:
        """The loss of each quasi-identifier as a share of its own variance."""
        names = [d.name for d in plan.tally.quasi_domains]
        return dict(zip(names, self._shares(plan).tolist(), strict=True))

    def score(self, plan: Plan) -> float:
        """The weighted mean of the columns' losses, in percent."""
        return 100.0 * float(self._shares(plan) @ plan.tally.weights)

    def _shares(self, plan: Plan) -> Floats:
        centres, grouping, tally = plan.form, plan.grouping, plan.tally
        assert isinstance(centres, Centres), "only centres have a distance from records"
        kept = grouping.group != SUPPRESSED
        shares = []
        for j, block in enumerate(Space.of(tally).blocks):
            code = tally.quasi[grouping.cell, j]
            lost = block.from_mean[code]
            lost[kept] = block.apart(code[kept], centres.values[grouping.group[kept], j])
            total = tally.n_records * block.variance
            shares.append(grouping.quota @ lost / total if total > 0 else 0.0)
        return np.array(shares)
