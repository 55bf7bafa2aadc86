"""NCP, averaged to GCP."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.boxes import Boxes
from tarnkappe.metrics.base import CellLoss
from tarnkappe.tally import Domain


class GlobalCertaintyPenalty(CellLoss):
    r"""Normalised certainty penalty per cell, averaged over all cells: the global certainty penalty.

    .. math:: \mathrm{NCP} = (max - min) / (MAX - MIN) \quad\text{or}\quad c / M \;(0 \text{ if } c = 1)

    for a numeric range, and for a label that covers :math:`c` of :math:`M` leaves. GCP is
    :math:`\sum_G |G| \, \mathrm{NCP}(G) / (n d)`.

    References
    ----------
    .. [XWPW06] Xu, Wang, Pei, Wang, Shi, Fu. "Utility-based anonymization using local recoding." KDD 2006.
    .. [GKKM07] Ghinita, Karras, Kalnis, Mamoulis. "Fast data anonymization with low information loss." VLDB 2007.
    """

    name: ClassVar = "gcp"
    title: ClassVar = "NCP / GCP"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "On average a cell covers {percent} of its column (global certainty penalty)."

    def cell_loss(self, boxes: Boxes, j: int, domain: Domain) -> Floats:
        """The normalised certainty penalty of each group."""
        covered = boxes.covered(j, domain)
        by_count = np.where(covered > 1, covered / domain.n_values, 0.0)
        return self.measured(boxes, j, domain, by_count)
