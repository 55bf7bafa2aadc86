"""Entropy l-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param

#: Rounding slack: l equally frequent values have entropy log l exactly, but logarithms in floats do not know that.
_SLACK = 1e-12


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveCriterion):
    r"""The sensitive values of every group are as uncertain as ``l`` equally likely ones.

    .. math:: -\sum_s p_s \log p_s \ge \log l

    The level is :math:`e^H`, the number of equally likely values with the same entropy, so `l` need not be whole. A
    relative slack of 1e-12 absorbs rounding.

    References
    ----------
    .. [MKGV07] Machanavajjhala et al. "l-diversity: privacy beyond k-anonymity." TKDD 1(1), 2007.
    """

    name: ClassVar = "entropy-l-diversity"
    title: ClassVar = "entropy l-diversity"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="guessing the sensitive value well: the values of a group are spread out, not merely present.",
        does_not="stop similar meanings, and it is hard to satisfy when one value is common in the whole table.",
        typical="1.5 to 5; never more than the level of the whole table.",
        cost="high on skewed columns.",
    )

    l: float = param(doc="Effective number of equally likely sensitive values in a group.", ge=1, example=2)  # noqa: E741

    @property
    def threshold(self) -> float:
        """The l."""
        return self.l

    @property
    def min_size(self) -> int:
        """A group with f records has entropy at most log f."""
        return math.ceil(self.l * (1 - _SLACK))

    @property
    def enough_different(self) -> int:
        """The entropy of f equally likely values is log f."""
        return self.min_size

    def level(self, stats: GroupStats) -> Floats:
        """The exponential of each group's entropy."""
        h = stats.histograms[self.column]
        weighted = reduce_groups(np.add, h.counts * np.log(h.counts), h.indptr)
        effective: Floats = np.exp(np.log(stats.size) - weighted / stats.size)
        return effective

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups reach l, up to rounding."""
        return self.level(stats) >= self.l * (1 - _SLACK)
