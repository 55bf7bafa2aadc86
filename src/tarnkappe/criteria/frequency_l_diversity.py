"""Frequency l-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, times
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class FrequencyLDiversity(SensitiveCriterion):
    r"""No sensitive value makes up more than ``1/l`` of a group.

    .. math:: l \cdot \max_s |\{r \in G : r[S] = s\}| \le |G|

    tested in integers. The level is the share of the commonest value, the threshold :math:`1/l`.

    References
    ----------
    .. [XiTa06] Xiao, Tao. "Anatomy: simple and effective privacy preservation." VLDB 2006.
    .. [GKKM07] Ghinita, Karras, Kalnis, Mamoulis. "Fast data anonymization with low information loss." VLDB 2007.
    """

    name: ClassVar = "frequency-l-diversity"
    title: ClassVar = "frequency l-diversity"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="being right more than once in l guesses about a person's sensitive value.",
        does_not="stop similar meanings, or what the whole table reveals.",
        typical="2 to 10; never more than one over the share of the commonest value in the table.",
        cost="moderate to high.",
    )

    l: float = param(doc="One over the largest share a sensitive value may have in a group.", ge=1, example=2)  # noqa: E741

    @property
    def threshold(self) -> float:
        """The largest share allowed."""
        return 1.0 / self.l

    @property
    def min_size(self) -> int:
        """One record of a value needs l records around it."""
        return math.ceil(self.l)

    @property
    def enough_different(self) -> int:
        """Among l records each is a share of 1/l."""
        return self.min_size

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"share of the commonest value ≤ 1/{stated(self.l)}"

    def _commonest(self, stats: GroupStats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        h = stats.histograms[self.column]
        return reduce_groups(np.maximum, h.counts, h.indptr)

    def level(self, stats: GroupStats) -> Floats:
        """The share of the commonest value of each group."""
        share: Floats = self._commonest(stats) / stats.size
        return share

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; ``l`` as an exact fraction keeps the comparison in integers."""
        exact = Fraction(str(self.l))
        within = times(self._commonest(stats), exact.numerator) <= times(stats.size, exact.denominator)
        return within.astype(np.bool_)
