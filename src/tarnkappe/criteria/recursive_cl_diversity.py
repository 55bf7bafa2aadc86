"""Recursive (c, l)-diversity."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, Supply, times
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import recursive_tails, reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class RecursiveCLDiversity(SensitiveCriterion):
    r"""The commonest sensitive value of a group is not too common even after ``l - 2`` others are ruled out.

    With counts :math:`r_1 \ge r_2 \ge \dots \ge r_d` of the values present in a group,

    .. math:: r_1 < c \, (r_l + r_{l+1} + \dots + r_d)

    and a group with fewer than `l` values fails. The level is the infimum of the `c` that would do:
    :math:`r_1 / (r_l + \dots + r_d)`; the inequality is strict. 1-diversity is always satisfied, as the authors say.

    References
    ----------
    .. [MKGV07] Machanavajjhala et al. "l-diversity: privacy beyond k-anonymity." TKDD 1(1), 2007.
    """

    name: ClassVar = "recursive-cl-diversity"
    title: ClassVar = "recursive (c, l)-diversity"
    sense: ClassVar = "below"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="background knowledge: an attacker who can rule out l - 2 values still cannot be sure.",
        does_not="stop similar meanings.",
        typical="c = 2 to 4 with l = 2 to 4.",
        cost="high on skewed columns.",
    )

    c: float = param(doc="How many times the tail of rarer values the commonest one stays below.", gt=0, example=3)
    l: int = param(doc="Rank at which the tail of rarer values begins.", ge=1, example=2)  # noqa: E741

    @property
    def threshold(self) -> float:
        """The c."""
        return self.c

    @property
    def min_size(self) -> int:
        """A group needs l different values."""
        return self.l

    @property
    def enough_different(self) -> int:
        """The commonest value and the others have one record each: 1 < c · (f - l + 1)."""
        return self.l + math.floor(1 / Fraction(str(self.c)))

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"recursive ({stated(self.c)}, {self.l})-diversity"

    def supply(self, everyone: GroupStats) -> Supply | None:
        """The different values of the column, unless groups fall apart by what else is known."""
        different = int(np.diff(everyone.histograms[self.column].indptr).max(initial=0))
        return None if self.others_known else Supply("l", different, f"different values in '{self.column}'")

    def _head_and_tail(self, stats: GroupStats) -> tuple[Counts, Counts]:
        h = stats.histograms[self.column]
        return reduce_groups(np.maximum, h.counts, h.indptr), recursive_tails(h.indptr, h.counts, self.l)

    def level(self, stats: GroupStats) -> Floats:
        """The smallest c (not reached itself) that each group would satisfy."""
        head, tail = self._head_and_tail(stats)
        smallest: Floats = np.divide(head, tail, out=np.full(len(head), np.inf), where=tail > 0)
        return smallest

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy the strict inequality; ``c`` as an exact fraction keeps it in integers."""
        head, tail = self._head_and_tail(stats)
        if self.l == 1:
            return np.ones(len(head), np.bool_)
        exact = Fraction(str(self.c))
        below = times(head, exact.denominator) < times(tail, exact.numerator)
        return below.astype(np.bool_)
