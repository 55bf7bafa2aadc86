"""NCP, averaged to GCP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.metrics.base import CellLoss, Floats
from tarnkappe.tally import Domain


class GlobalCertaintyPenalty(CellLoss):
    r"""Normalised certainty penalty per cell, averaged over all cells: the global certainty penalty.

    .. math:: \mathrm{NCP} = (max - min) / (MAX - MIN) \quad\text{or}\quad c / M \;(0 \text{ if } c = 1)

    for a numeric range, and for a node that covers :math:`c` of :math:`M` leaves. GCP is
    :math:`\sum_G |G| \, \mathrm{NCP}(G) / (n d)`.

    References
    ----------
    .. [XWPW06] Xu, Wang, Pei, Wang, Shi, Fu. "Utility-based anonymization using local recoding." KDD 2006.
    .. [GKKM07] Ghinita, Karras, Kalnis, Mamoulis. "Fast data anonymization with low information loss." VLDB 2007.
    """

    name: ClassVar = "gcp"
    title: ClassVar = "NCP / GCP"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "On average a cell covers {value:.1%} of its column (global certainty penalty)."

    def cell_loss(
        self, domain: Domain, lo: NDArray[np.int32], hi: NDArray[np.int32], node: NDArray[np.int32]
    ) -> Floats:
        """The normalised certainty penalty of each group."""
        leaves = domain.taxonomy.leaf_counts[node]
        by_leaves = np.where(leaves > 1, leaves / domain.size, 0.0)
        if not domain.is_range.any():
            return by_leaves
        by_extent = self.extent(domain, lo, hi) / (domain.extent or 1.0)
        return np.where(domain.is_range[node], by_extent, by_leaves)
