"""k-map by sampling weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.weights import people_of, require_weights
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated


@dataclass(frozen=True)
class WeightedKMap(Criterion):
    r"""The records of every group stand for at least ``k`` people of the population, by their sampling weights.

    .. math:: \sum_{r \in G} w_r \ge k

    A survey says of each record for how many people it stands. The sum over a group estimates how many people of the
    population are like it; there is no public table.

    Weights that are decimals are added up as whole numbers, so no order of the records decides.

    References
    ----------
    .. [BeFr98] Benedetti, Franconi. "Statistical and technological solutions for controlled data dissemination." 1998.
    .. [ElDa08] El Emam, Dankar. "Protecting privacy using k-anonymity." JAMIA 15(5), 2008.
    """

    name: ClassVar = "weighted-k-map"
    title: ClassVar = "k-map by weights"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out by someone who does not know who was drawn for a survey: by the weights, k "
        "people of the population are like each record.",
        does_not="protect from someone who knows that a person was drawn; and a sum of weights is an estimate.",
        typical="k 20 to 1000, more than for a public table that is known.",
        cost="low where records stand for many people.",
    )

    weight: str = param(doc="The column of sampling weights.", refers_to="counted", example="WEIGHT")
    k: float = param(doc="Fewest people that the records of a group stand for.", ge=1, example=100)

    @property
    def threshold(self) -> float:
        """The k."""
        return self.k

    @property
    def number_columns(self) -> tuple[str, ...]:
        """The weights."""
        return (self.weight,)

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"people by weight ≥ {stated(self.k)}"

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse weights that are none."""
        require_weights(self, domains[self.weight])

    def level(self, stats: GroupStats) -> Floats:
        """The sum of the weights of each group."""
        return people_of(stats, self.weight)
