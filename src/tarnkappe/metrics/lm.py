"""Loss metric (LM)."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Floats
from tarnkappe.boxes import Boxes
from tarnkappe.metrics.base import CellLoss
from tarnkappe.tally import Domain


class LossMetric(CellLoss):
    r"""Iyengar's loss metric.

    .. math:: (max - min) / (MAX - MIN) \quad\text{or}\quad (c - 1) / (M - 1)

    for a numeric range, and for a label that covers :math:`c` of :math:`M` leaves; averaged over columns and records.

    References
    ----------
    .. [Iyen02] Iyengar. "Transforming data to satisfy privacy constraints." KDD 2002.
    """

    name: ClassVar = "lm"
    title: ClassVar = "LM"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "On average a cell has lost {percent} of its detail (loss metric)."

    def cell_loss(self, boxes: Boxes, j: int, domain: Domain) -> Floats:
        """The loss of each group, between 0 and 1."""
        by_count = (boxes.covered(j, domain) - 1) / max(domain.n_values - 1, 1)
        return self.measured(boxes, j, domain, by_count)
