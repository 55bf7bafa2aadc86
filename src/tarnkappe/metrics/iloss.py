"""ILoss."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.metrics.base import CellLoss, Floats
from tarnkappe.tally import Domain


class ILoss(CellLoss):
    r"""Share of a column's values that a cell covers beyond its own.

    .. math:: \mathrm{ILoss}(v) = (|v| - 1) / |D|

    where :math:`|v|` counts the leaves under the published node and :math:`|D|` all leaves. A numeric range counts by
    extent: whole numbers :math:`|v| = max - min + 1` of :math:`|D|` likewise, decimals ``(max - min) / (MAX - MIN)``.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Personalized privacy preservation." SIGMOD 2006.
    """

    name: ClassVar = "iloss"
    title: ClassVar = "ILoss"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "An average cell now stands for {value:.1%} more of its column than before (ILoss)."

    def cell_loss(
        self, domain: Domain, lo: NDArray[np.int32], hi: NDArray[np.int32], node: NDArray[np.int32]
    ) -> Floats:
        """``(|v| - 1) / |D|`` of each group."""
        by_leaves = (domain.taxonomy.leaf_counts[node] - 1) / domain.size
        if not domain.is_range.any():
            return by_leaves
        unit = 1.0 if domain.values is None or domain.is_integer else 0.0
        by_extent = self.extent(domain, lo, hi) / max(domain.extent + unit, 1e-300)
        return np.where(domain.is_range[node], by_extent, by_leaves)
