"""Distinct l-diversity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class LDiversity(SensitiveCriterion):
    r"""Every group has at least ``l`` different values of the sensitive column.

    .. math:: |\{ s : s \in G \}| \ge l

    References
    ----------
    .. [MKGV07] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam. "l-diversity: privacy beyond k-anonymity."
       TKDD 1(1), 2007.
    """

    name: ClassVar = "l-diversity"
    title: ClassVar = "distinct l-diversity"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    card: ClassVar = Card(
        protects_from="learning the sensitive value from group membership alone: at least l values are possible.",
        does_not="stop skew (one value may fill 95 % of a group) or similar meanings (gastritis, ulcer).",
        typical="2 to 5, at most the number of values of the column.",
        cost="moderate; high where the sensitive value depends strongly on the quasi-identifiers.",
    )

    l: int = param(doc="Smallest number of different sensitive values in a group.", ge=1, example=2)  # noqa: E741

    @property
    def threshold(self) -> float:
        """The l."""
        return float(self.l)

    @property
    def min_size(self) -> int:
        """A group needs a record per value."""
        return self.l

    @property
    def enough_different(self) -> int:
        """The l values that are asked for."""
        return self.l

    @property
    def enough_apart(self) -> tuple[int, float]:
        """So many different values, however close."""
        return self.l, 0.0

    def level(self, stats: GroupStats) -> Floats:
        """The number of different values in each group."""
        return np.diff(stats.histograms[self.column].indptr).astype(np.float64)
