"""Average group size."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Counts
from tarnkappe.goal import Goal
from tarnkappe.metrics.base import SizeMetric


class AverageGroupSize(SizeMetric):
    r"""Published records per group, in units of the smallest size the goal allows.

    .. math:: C_\mathrm{avg} = (n_\mathrm{published} / \#groups) / k

    With a goal that sets no k, the smallest group any criterion could accept stands in for it.

    References
    ----------
    .. [LeDR06] LeFevre, DeWitt, Ramakrishnan. "Mondrian multidimensional k-anonymity." ICDE 2006.
    """

    name: ClassVar = "average-group-size"
    title: ClassVar = "Average group size (C_avg)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "Groups are on average {value:.2f} times as large as the smallest size allowed."

    def of_sizes(self, sizes: Counts, suppressed: int, goal: Goal) -> float:
        """Mean group size over the smallest size allowed; infinite if nothing is published."""
        return int(sizes.sum()) / len(sizes) / goal.min_size if len(sizes) else float("inf")
