"""Delta-presence."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.errors import JobError
from tarnkappe.fixes import assignment
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class DeltaPresence(Criterion):
    r"""Nobody can be told to be in the data, or not to be, with more certainty than two bounds allow.

    .. math:: \delta_{min} \le \frac{|T \cap G|}{|P \cap G|} \le \delta_{max}

    for every group :math:`G` of the public table :math:`P`, of which the data :math:`T` are a part. The share is the
    probability that a person of the group is in the data. Both bounds are compared as exact fractions. With
    ``delta_min > 0`` groups without records count too, and no record can be suppressed.

    The level is the share; one that is too small has the level ``1 + delta_min - share`` instead, which is above every
    ``delta_max``.

    Differs from the paper in: any algorithm that takes a public table may be used; the paper's own are SPALM and MPALM.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    """

    name: ClassVar = "delta-presence"
    title: ClassVar = "delta-presence"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    needs_population: ClassVar = True
    needs_everybody: ClassVar = True
    protects: ClassVar = frozenset({"presence"})
    card: ClassVar = Card(
        protects_from="learning whether a person is in the data at all, where being in them is the secret.",
        does_not="hide what the data say about people who are known to be in them.",
        typical="delta_min 0 and delta_max at most twice the share of the public table that is in the data.",
        cost="moderate; high if delta_max is close to the share of the whole public table.",
    )

    delta_max: float = param(
        doc="Largest share of a group of the public table that may be in the data.", gt=0, le=1, example=0.5
    )
    delta_min: float = param(0.0, doc="Smallest share that must be in the data.", ge=0, le=1)

    def __post_init__(self) -> None:
        """Refuse bounds that contradict each other."""
        super().__post_init__()
        if self.delta_min > self.delta_max:
            raise JobError(
                "E110",
                f"'delta_min' ({stated(self.delta_min)}) is larger than 'delta_max' ({stated(self.delta_max)})",
                hint=assignment("delta_min", self.delta_max),
            )

    @property
    def threshold(self) -> float:
        """The larger bound."""
        return self.delta_max

    @property
    def asked(self) -> str:
        """The promise in short."""
        least = f"{stated(self.delta_min)} ≤ " if self.delta_min else ""
        return f"{least}share of people in the data ≤ {stated(self.delta_max)}"

    @property
    def judges_empty_groups(self) -> bool:
        """People who are certainly not in the data break a lower bound."""
        return self.delta_min > 0

    def level(self, stats: GroupStats) -> Floats:
        """The share of each group that is in the data; above 1 where it is too small."""
        people = self._people(stats)
        share = np.where(
            people > 0, stats.size / np.maximum(people, 1), np.where(stats.size > 0, np.inf, self.delta_min)
        )
        return np.where(self._too_few(stats), 1 + self.delta_min - share, share)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy both bounds, in whole numbers."""
        most = as_fraction(self.delta_max)
        within = times(stats.size, most.denominator) <= times(self._people(stats), most.numerator)
        return within.astype(np.bool_) & ~self._too_few(stats)

    def shares(self, stats: GroupStats) -> tuple[Fraction, Fraction]:
        """The smallest and the largest share that is in the data: the best bounds that the groups satisfy."""
        pairs = zip(stats.size.tolist(), self._people(stats).tolist(), strict=True)
        shares = [Fraction(records, people) for records, people in pairs if people]
        return min(shares), max(shares)

    def _too_few(self, stats: GroupStats) -> Flags:
        least = as_fraction(self.delta_min)
        return (times(stats.size, least.denominator) < times(self._people(stats), least.numerator)).astype(np.bool_)

    @staticmethod
    def _people(stats: GroupStats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        assert stats.population is not None, "delta-presence needs a public table"
        return stats.population
