"""k-anonymity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class KAnonymity(Criterion):
    r"""Every record shares its quasi-identifiers with at least ``k - 1`` others.

    .. math:: |G| \ge k

    >>> import numpy as np
    >>> KAnonymity(3).holds(GroupStats.from_cells(np.array([0, 1]), np.array([3, 2]))).tolist()
    [True, False]

    References
    ----------
    .. [SaSw98] Samarati, Sweeney. "Protecting privacy when disclosing information: k-anonymity and its enforcement
       through generalization and suppression." 1998.
    """

    name: ClassVar = "k-anonymity"
    title: ClassVar = "k-anonymity"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    decided_by_size: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out: someone who knows a person's quasi-identifiers cannot narrow the person "
        "down to fewer than k records.",
        does_not="hide a secret that all k records of a group share.",
        typical="3 to 5 for researchers under contract, 10 and more for public files.",
        cost="low: the mildest of the criteria.",
    )

    k: int = param(doc="Smallest number of records in a group.", ge=1, example=5)

    @property
    def threshold(self) -> float:
        """The k."""
        return float(self.k)

    @property
    def min_size(self) -> int:
        """A group needs k records."""
        return self.k

    def level(self, stats: GroupStats) -> Floats:
        """The size of each group."""
        return stats.size.astype(np.float64)
