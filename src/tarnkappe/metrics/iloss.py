"""ILoss."""

from __future__ import annotations

from typing import ClassVar

from tarnkappe.arrays import Floats
from tarnkappe.boxes import Boxes
from tarnkappe.metrics.base import CellLoss
from tarnkappe.tally import Domain


class ILoss(CellLoss):
    r"""Share of a column's values that a cell covers beyond its own.

    .. math:: \mathrm{ILoss}(v) = (|v| - 1) / |D|

    where :math:`|v|` counts the values the published label stands for and :math:`|D|` all leaves. A numeric range
    counts by extent: whole numbers :math:`|v| = max - min + 1` of :math:`|D|` likewise, decimals
    ``(max - min) / (MAX - MIN)``.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Personalized privacy preservation." SIGMOD 2006.
    """

    name: ClassVar = "iloss"
    title: ClassVar = "ILoss"
    goal: ClassVar = "minimise"
    sentence: ClassVar = "An average cell now stands for {percent} more of its column than before (ILoss)."

    def cell_loss(self, boxes: Boxes, j: int, domain: Domain) -> Floats:
        """``(|v| - 1) / |D|`` of each group."""
        by_count = (boxes.covered(j, domain) - 1) / domain.n_values
        return self.measured(boxes, j, domain, by_count, unit=1.0 if domain.is_integer else 0.0)
