"""Average risk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class AverageRisk(Criterion):
    r"""On average over all records, re-identification succeeds with a probability of at most ``risk``.

    .. math:: \frac{1}{n} \sum_{r} \frac{1}{|G(r)|} = \frac{\text{number of groups}}{n} \le risk

    A promise about the whole table: small groups are allowed where large ones make up for them, so ask for a smallest
    size besides. If it does not hold, the groups to suppress are the smallest ones, as few as possible; no other choice
    suppresses fewer records. O(g log g) for g groups.

    >>> import numpy as np
    >>> stats = GroupStats.from_cells(np.arange(4), np.array([1, 2, 3, 4]))
    >>> AverageRisk(0.4).holds(stats).tolist(), AverageRisk(0.35).holds(stats).tolist()
    ([True, True, True, True], [False, True, True, True])

    References
    ----------
    .. [ElEm13] El Emam. "Guide to the de-identification of personal health information." CRC Press, 2013.
    """

    name: ClassVar = "average-risk"
    title: ClassVar = "average risk"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    scope: ClassVar = "table"
    card: ClassVar = Card(
        protects_from="large-scale re-identification: of all records, at most this share is expected to be attributed "
        "to the right person.",
        does_not="protect each single person: some groups may be small; combine it with k-anonymity.",
        typical="0.05 to 0.2, with k-anonymity of 3 or more besides.",
        cost="low: small groups may stay where large ones make up for them.",
    )

    risk: float = param(doc="Largest number of groups per record.", gt=0, le=1, example=0.05)

    @property
    def threshold(self) -> float:
        """The risk."""
        return self.risk

    def level(self, stats: GroupStats) -> Floats:
        """Groups per record, the same for every group."""
        return np.full(stats.n_groups, stats.n_groups / max(int(stats.size.sum()), 1))

    def holds(self, stats: GroupStats) -> Flags:
        """All groups if the table satisfies it; else those that are left when the smallest are suppressed."""
        most = as_fraction(self.risk)
        order = np.argsort(stats.size, kind="stable")
        left = np.arange(stats.n_groups, -1, -1, dtype=np.int64)  # groups left after suppressing 0, 1, … of them
        records = np.cumsum(np.append(0, stats.size[order]))
        enough = times(left, most.denominator) <= times(records[-1] - records, most.numerator)
        ok = np.ones(stats.n_groups, np.bool_)
        ok[order[: int(np.argmax(enough))]] = False
        return ok
