"""k-map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class KMap(Criterion):
    r"""Every record could be one of at least ``k`` people of a public table.

    .. math:: |\{p \in P : p \text{ belongs to } G\}| \ge k

    for every group :math:`G` that has records. The public table :math:`P` is generalised exactly as the data are; a
    record that nobody else in the data is like may be published if enough people outside the data are like it.

    >>> import numpy as np
    >>> stats = GroupStats.from_cells(np.array([0, 1]), np.array([1, 4]), population=np.array([10, 4]))
    >>> KMap(5).holds(stats).tolist()
    [True, False]

    Differs from the paper in: the population must be given as a table; `EstimatedKMap` estimates it from the sampling
    fraction, and `WeightedKMap` from sampling weights.

    References
    ----------
    .. [Swee02] Sweeney. "k-anonymity: a model for protecting privacy." International Journal of Uncertainty, Fuzziness
       and Knowledge-based Systems 10(5), 2002.
    .. [ElDa08] El Emam, Dankar. "Protecting privacy using k-anonymity." JAMIA 15(5), 2008.
    """

    name: ClassVar = "k-map"
    title: ClassVar = "k-map"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    needs_population: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out by someone who does not know who is in the data: each record could be any of "
        "k people of the public table.",
        does_not="protect from someone who knows that a person is in the data; then k-anonymity is needed.",
        typical="5 to 20, if the public table covers the whole population.",
        cost="low: the larger the public table, the less is coarsened.",
    )

    k: int = param(doc="Smallest number of people in the public table who fit a group.", ge=1, example=5)

    @property
    def threshold(self) -> float:
        """The k."""
        return float(self.k)

    def level(self, stats: GroupStats) -> Floats:
        """People of the public table in each group."""
        assert stats.population is not None, "k-map needs a public table"
        return stats.population.astype(np.float64)
