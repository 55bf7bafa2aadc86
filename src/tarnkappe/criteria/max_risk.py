"""A bound on the prosecutor's risk."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class MaxRisk(Criterion):
    r"""Nobody who is known to be in the data is re-identified with more than a chance of ``risk``.

    .. math:: 1 / |G| \le \mathrm{risk}

    This is the *prosecutor's* risk: the attacker knows that the target is in the data, finds the group and picks one of
    its records. It is k-anonymity with :math:`k = \lceil 1 / \mathrm{risk} \rceil`, in the words of those who state
    risks. Comparisons are made in integers. O(groups).

    >>> MaxRisk(0.2).min_size, MaxRisk(1 / 3).min_size, MaxRisk(0.3).min_size
    (5, 3, 4)

    References
    ----------
    .. [ElEm10] El Emam. "Risk-based de-identification of health data." IEEE Security & Privacy 8(3), 2010.
    """

    name: ClassVar = "max-risk"
    title: ClassVar = "maximum re-identification risk"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    decided_by_size: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out: picking the right record of a known person succeeds at most this often.",
        does_not="hide a secret that all records of a group share.",
        typical="0.33 for researchers under contract, 0.2 usually, 0.09 or less for public files.",
        cost="low: that of k-anonymity with k = 1 / risk.",
    )

    risk: float = param(
        doc="Largest chance of re-identifying a person who is known to be in the data.", gt=0, le=1, example=0.2
    )

    @property
    def threshold(self) -> float:
        """The risk."""
        return self.risk

    @property
    def min_size(self) -> int:
        """A group needs 1 / risk records."""
        return math.ceil(1 / as_fraction(self.risk))

    def level(self, stats: GroupStats) -> Floats:
        """One over the size of each group."""
        return 1.0 / np.maximum(stats.size, 1)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups are large enough, in integers."""
        risk = as_fraction(self.risk)
        return (times(stats.size, risk.numerator) >= risk.denominator).astype(np.bool_)
