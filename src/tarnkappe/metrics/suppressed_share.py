"""Suppressed share."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Counts
from tarnkappe.goal import Goal
from tarnkappe.metrics.base import SizeMetric


class SuppressedShare(SizeMetric):
    r"""Share of the records that are not in the release."""

    name: ClassVar = "suppressed-share"
    title: ClassVar = "Suppressed records"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "{percent} of the records were left out."

    def of_sizes(self, sizes: Counts, suppressed: int, goal: Goal) -> float:
        """Suppressed records over all records."""
        return suppressed / (int(sizes.sum()) + suppressed)
