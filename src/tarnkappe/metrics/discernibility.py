"""Discernibility."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.goal import Goal
from tarnkappe.metrics.base import SizeMetric


class Discernibility(SizeMetric):
    r"""Every record is charged the size of its group, a suppressed one the size of the table.

    .. math:: \sum_G |G|^2 + n \cdot n_\mathrm{suppressed}

    References
    ----------
    .. [BaAg05] Bayardo, Agrawal. "Data privacy through optimal k-anonymization." ICDE 2005.
    """

    name: ClassVar = "discernibility"
    title: ClassVar = "Discernibility (DM)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "Discernibility is {count}: each record is charged the size of its group."

    def of_sizes(self, sizes: Counts, suppressed: int, goal: Goal) -> float:
        """The sum of all charges."""
        squares = np.square(sizes.astype(np.float64)).sum()
        return float(squares + suppressed * (int(sizes.sum()) + suppressed))
