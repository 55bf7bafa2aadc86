"""Single-axis sorting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.microaggregation.axis import OnAxis, from_both_ends
from tarnkappe.arrays import Codes, Floats


@dataclass(frozen=True)
class SingleAxis(OnAxis):
    r"""Sort the records by one number and take groups of k from both ends.

    The number is the sum of the standardised values (:math:`\sum_j z_j`), the first principal component, or the value
    of one quasi-identifier. If :math:`n` is no multiple of k, the group around the median takes the rest, so it has
    k and the remainder of :math:`n / k` records: there values lie closest together.

    Works well where all columns depend on the axis, and badly otherwise: the groups know nothing of other directions.
    Takes :math:`O(n \log n)`.

    References
    ----------
    .. [MaDo98] Mateo-Sanz, Domingo-Ferrer. "A comparative study of microaggregation methods." Qüestiió 22, 1998.
    """

    name: ClassVar = "single-axis"
    title: ClassVar = "Single-axis sorting"
    summary: ClassVar = "Sorts records by one number and groups k neighbours at a time, from both ends."

    def along(self, points: Floats, k: int) -> Codes:
        """Groups of k; the one at the median has up to 2k - 1."""
        return from_both_ends(len(points), k)
