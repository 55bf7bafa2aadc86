"""k-indistinguishability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class KIndistinguishability(Criterion):
    r"""Every record was drawn from the moments of a group of at least ``k`` people, who all shaped it alike.

    .. math:: |G| \ge k

    This is what condensation promises: its records are made up, so that no two of them need look the same, as
    k-anonymity asks for. What is kept of a group are its mean and its covariances.

    >>> KIndistinguishability(3).holds(GroupStats.from_cells(np.array([0, 1]), np.array([3, 2]))).tolist()
    [True, False]

    References
    ----------
    .. [AgYu04] Aggarwal, Yu. "A condensation approach to privacy preserving data mining." EDBT 2004.
    """

    name: ClassVar = "k-indistinguishability"
    title: ClassVar = "k-indistinguishability"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    decided_by_size: ClassVar = True
    card: ClassVar = Card(
        protects_from="finding a person's record: every record is made up from what at least k people have in common.",
        does_not="hide how the values of a group lie together; who knows all but two of its people may learn theirs.",
        typical="10 to 50, and always more than the number of quasi-identifiers.",
        cost="low for means and correlations, high for whoever needs single records.",
    )

    k: int = param(doc="Smallest number of people whose records are drawn together.", ge=1, example=20)

    @property
    def threshold(self) -> float:
        """The k."""
        return float(self.k)

    @property
    def min_size(self) -> int:
        """A group needs k people."""
        return self.k

    def level(self, stats: GroupStats) -> Floats:
        """The size of each group."""
        return stats.size.astype(np.float64)
