"""Average equivalence class size."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Counts
from tarnkappe.goal import Goal
from tarnkappe.metrics.base import SizeMetric


class AverageClassSize(SizeMetric):
    r"""Records per group, where all suppressed records together form one more group.

    .. math:: \mathrm{AECS} = n / (\#groups + [\text{some are suppressed}])

    Unlike `average-group-size` it is not divided by k, and it counts the suppressed records.

    References
    ----------
    .. [PKKB14] Prasser, Kohlmayer, Lautenschläger, Kuhn. "ARX: a comprehensive tool for anonymizing biomedical data."
       AMIA 2014.
    """

    name: ClassVar = "aecs"
    title: ClassVar = "Average class size (AECS)"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "A group has {value:.1f} records on average, suppressed ones counted as one group."

    def of_sizes(self, sizes: Counts, suppressed: int, goal: Goal) -> float:
        """All records over all groups."""
        return (int(sizes.sum()) + suppressed) / (len(sizes) + (suppressed > 0))
