"""Suppressed share."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.metrics.base import Metric
from tarnkappe.plan import Plan


class SuppressedShare(Metric):
    r"""Share of the records that are not in the release."""

    name: ClassVar = "suppressed-share"
    title: ClassVar = "Suppressed records"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "{value:.2%} of the records were left out."

    def score(self, plan: Plan) -> float:
        """Suppressed records over all records."""
        return plan.grouping.suppressed / plan.tally.n_records
