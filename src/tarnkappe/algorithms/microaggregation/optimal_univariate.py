"""Optimal univariate microaggregation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.microaggregation.axis import OnAxis
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.axis import cheapest_cuts


@dataclass(frozen=True)
class OptimalUnivariate(OnAxis):
    r"""Sort the records and cut the line where the squared error of all groups together is least.

    .. math:: B_j = \min_{k \le j - i \le 2k - 1} B_i + \mathrm{SSE}(x_{i+1} \dots x_j), \quad B_0 = 0

    A shortest path through the sorted records. For one numeric quasi-identifier no groups of at least k have a smaller
    error: the best ones are made of neighbours, and one of 2k records or more only gains by being divided. For several
    the records are sorted by an axis (`by`) and the error is that of all columns, the least there is in this order.

    Takes :math:`O(n \log n + k n d)`.

    References
    ----------
    .. [HaMu03] Hansen, Mukherjee. "A polynomial algorithm for optimal univariate microaggregation." TKDE 15(4), 2003.
    """

    name: ClassVar = "optimal-univariate"
    title: ClassVar = "Optimal univariate"
    summary: ClassVar = "Sorts records by one number and cuts the line where that costs least; optimal for one column."

    def along(self, points: Floats, k: int) -> Codes:
        """Groups of k to 2k - 1 neighbours."""
        return cheapest_cuts(points, k)[0]
