"""Classification metric (CM)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.metrics.base import Metric
from tarnkappe.plan import AnyPlan, Plan


class Classification(Metric):
    r"""Share of records that are suppressed, or whose class is not the commonest of their group.

    .. math:: \mathrm{CM} = \frac1n \Bigl( n_\mathrm{suppressed} + \sum_G \bigl(|G| - \max_s |G_s|\bigr) \Bigr)

    where :math:`G_s` are the group's records of class :math:`s` in the column `target`. Small values mean that the
    quasi-identifiers still tell the classes apart.

    References
    ----------
    .. [Iyen02] Iyengar. "Transforming data to satisfy privacy constraints." KDD 2002.
    """

    name: ClassVar = "classification"
    title: ClassVar = "Classification metric (CM)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "{percent} of the records are not of their group's commonest class, or were left out."

    def __init__(self, target: str | None = None) -> None:
        """Classes are the values of the column `target`."""
        self.target = target

    def applies(self, plan: AnyPlan) -> bool:
        """Only where a target is known and was counted."""
        return super().applies(plan) and self.target in {d.name for d in plan.tally.sensitive_domains}

    def of_stats(self, stats: GroupStats, suppressed: int) -> float:
        """The metric of groups with so many records suppressed besides."""
        assert self.target is not None
        h = stats.histograms[self.target]
        commonest = int(reduce_groups(np.maximum, h.counts, h.indptr).sum()) if len(h.counts) else 0
        published = int(stats.size.sum())
        return (suppressed + published - commonest) / (published + suppressed)

    def score(self, plan: Plan) -> float:
        """The metric of a plan."""
        assert self.target is not None, "the classification metric needs a target"
        stats = GroupStats.of(plan.tally, plan.grouping, [self.target])
        return self.of_stats(stats, plan.grouping.suppressed)
