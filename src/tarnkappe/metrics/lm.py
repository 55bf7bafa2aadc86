"""Loss metric (LM)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.metrics.base import CellLoss, Floats
from tarnkappe.tally import Domain


class LossMetric(CellLoss):
    r"""Iyengar's loss metric.

    .. math:: (max - min) / (MAX - MIN) \quad\text{or}\quad (c - 1) / (M - 1)

    for a numeric range, and for a node that covers :math:`c` of :math:`M` leaves; averaged over columns and records.

    References
    ----------
    .. [Iyen02] Iyengar. "Transforming data to satisfy privacy constraints." KDD 2002.
    """

    name: ClassVar = "lm"
    title: ClassVar = "LM"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "On average a cell has lost {value:.1%} of its detail (loss metric)."

    def cell_loss(
        self, domain: Domain, lo: NDArray[np.int32], hi: NDArray[np.int32], node: NDArray[np.int32]
    ) -> Floats:
        """The loss of each group, between 0 and 1."""
        return domain.widths(lo, hi, node)
