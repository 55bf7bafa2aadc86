"""(k, e)-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Measure, SensitiveCriterion, Supply, as_fraction, times
from tarnkappe.criteria.values import numbers
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class KEAnonymity(SensitiveCriterion):
    r"""Every group has at least ``k`` different numbers in the sensitive column, spread over a range of at least ``e``.

    .. math:: |\{s : s \in G\}| \ge k \quad\text{and}\quad \max_{s \in G} s - \min_{s \in G} s \ge e

    Differences of decimals are exact. The level is the range of a group; that of a group with fewer than `k` different
    numbers is minus infinity. A missing value is no number: it counts neither towards `k` nor towards `e`. O(values
    present in the groups).

    References
    ----------
    .. [ZKSY07] Zhang, Koudas, Srivastava, Yu. "Aggregate query answering on anonymized tables." ICDE 2007.
    """

    name: ClassVar = "k-e-anonymity"
    title: ClassVar = "(k, e)-anonymity"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    card: ClassVar = Card(
        protects_from="learning a number such as an income closely: the numbers of a group differ and lie apart.",
        does_not="stop proximity: all but one of a group may be close together (see epsilon-m-anonymity).",
        typical="k = 3 to 5, e a difference that matters, such as 10000 for an income.",
        cost="moderate; high where the number depends strongly on the quasi-identifiers.",
    )

    k: int = param(doc="Smallest number of different numbers in a group.", ge=1, example=5)
    e: float = param(
        doc="Smallest difference between the largest and the smallest number of a group.", ge=0, example=1000
    )

    @property
    def threshold(self) -> float:
        """The e."""
        return self.e

    @property
    def measured_by(self) -> Measure:
        """Differences are those of numbers."""
        return "numbers"

    @property
    def min_size(self) -> int:
        """A group needs k different numbers, and two to have a range."""
        return max(self.k, 2 if self.e > 0 else 1)

    @property
    def enough_apart(self) -> tuple[int, float]:
        """Just what is asked for."""
        return self.k, self.e

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"range ≥ {stated(self.e)} with at least {self.k} different numbers"

    def supply(self, everyone: GroupStats) -> Supply:
        """The different numbers of the column."""
        return Supply("k", int(self._ends(everyone)[2].max(initial=0)), f"different numbers in '{self.column}'")

    def _ends(self, stats: GroupStats) -> tuple[Codes, Codes, Counts]:
        """The smallest and the largest code of each group and how many different ones it has, missing values apart.

        Codes are in the order of their numbers, the missing value comes last. A group without any number has 0, 0, 0.
        """
        h = stats.histograms[self.column]
        known = h.codes != h.domain.missing
        last = reduce_groups(np.maximum, np.where(known, h.codes, 0), h.indptr)
        different = reduce_groups(np.add, known.astype(np.int64), h.indptr)
        first = reduce_groups(np.minimum, h.codes, h.indptr)
        return np.where(different > 0, first, 0), last, different

    def level(self, stats: GroupStats) -> Floats:
        """The range of each group; minus infinity without k different numbers."""
        first, last, different = self._ends(stats)
        domain = stats.histograms[self.column].domain
        position = numbers(self, domain)
        spread = position[last] - position[first]
        if domain.decimals is not None:
            whole, power = domain.decimals
            spread = (whole[last] - whole[first]) / power
        return np.where(different >= self.k, spread, -np.inf)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; in integers where the numbers are decimals."""
        level = self.level(stats)
        domain = stats.histograms[self.column].domain
        if domain.decimals is None:
            return level >= self.e
        first, last, _ = self._ends(stats)
        whole, power = domain.decimals
        e = as_fraction(self.e)
        wide = times(whole[last] - whole[first], e.denominator) >= e.numerator * power
        return (level >= 0) & wide.astype(np.bool_)
