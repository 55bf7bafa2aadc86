"""k-anonymity of chosen key columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.projection import on_part, projected
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class KeyAnonymity(Criterion):
    r"""Every record shares what it publishes in some chosen quasi-identifiers with at least ``k - 1`` others.

    .. math:: |\{r' : r'[X] = r[X]\}| \ge k

    for every record :math:`r`. Several such criteria guard several key combinations, each with a threshold of its own,
    as the tables of mu-ARGUS and the keys of sdcMicro do. A cell that was given up is a label like any other. For
    *all* sets of so many columns see `LKCPrivacy`; without X it is k-anonymity.

    References
    ----------
    .. [HuWi96] Hundepool, Willenborg. "mu- and tau-Argus: software for statistical disclosure control." 3rd
       International Seminar on Statistical Confidentiality, Bled 1996.
    .. [TeKM15] Templ, Kowarik, Meindl. "Statistical disclosure control for micro-data using the R package sdcMicro."
       Journal of Statistical Software 67(4), 2015.
    """

    name: ClassVar = "key-anonymity"
    title: ClassVar = "k-anonymity of chosen keys"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out by somebody who knows these quasi-identifiers of a person, and no others.",
        does_not="protect from somebody who knows one quasi-identifier more.",
        typical="one criterion per register that somebody could look people up in, k 3 to 10.",
        cost="low: only the columns of the key are guarded together.",
    )

    k: int = param(doc="Smallest number of records that share a combination.", ge=1, example=5)
    x: tuple[str, ...] = param(
        (), doc="The quasi-identifiers that the attacker knows; all of them if not given.", refers_to="quasi"
    )

    @property
    def threshold(self) -> float:
        """The k."""
        return float(self.k)

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"records that look alike{on_part(self.x)} ≥ {self.k}"

    @property
    def min_size(self) -> int:
        """A group needs k records, but where groups are pooled each may be smaller."""
        return 1 if self.x else self.k

    def level(self, stats: GroupStats) -> Floats:
        """How many records publish the same in X as each group."""
        known, part = projected(stats, self.x, ())
        size: Floats = known.size.astype(np.float64)[part]
        return size
