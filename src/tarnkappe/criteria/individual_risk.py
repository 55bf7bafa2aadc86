"""Individual risk by sampling weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.weights import people_of, require_weights
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.risks.series import mean_inverse
from tarnkappe.params import param
from tarnkappe.tally import Domain


@dataclass(frozen=True)
class IndividualRisk(Criterion):
    r"""Nobody of a survey is found with a probability above ``risk``, by the sampling weights.

    .. math:: E[1/F \mid f] \le risk, \quad N = \sum_{r \in G} w_r, \quad p = f / N

    where f records of a group stand for N people, and the number F of people like them is negative
    binomial with f and p, as in µ-Argus and sdcMicro (see `tarnkappe.risk`). For one record that stands for ten people
    it is 0.256, not 0.1: the ten are only an estimate.

    Monotone: a union has no larger p than the larger of both, and more records; both lower the risk.

    References
    ----------
    .. [BeFr98] Benedetti, Franconi. "Statistical and technological solutions for controlled data dissemination." 1998.
    .. [FrPo04] Franconi, Polettini. "Individual risk estimation in µ-Argus: a review." PSD 2004.
    """

    name: ClassVar = "individual-risk"
    title: ClassVar = "individual risk"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    card: ClassVar = Card(
        protects_from="being found in a survey by someone who looks for anybody of the population: the estimated "
        "chance is at most this.",
        does_not="protect from someone who knows that a person was drawn; the estimate trusts the weights.",
        typical="0.05 to 0.2.",
        cost="low where records stand for many people.",
    )

    weight: str = param(doc="The column of sampling weights.", refers_to="counted", example="WEIGHT")
    risk: float = param(doc="Largest estimated chance to be found.", gt=0, le=1, example=0.1)

    @property
    def threshold(self) -> float:
        """The largest risk."""
        return self.risk

    @property
    def number_columns(self) -> tuple[str, ...]:
        """The weights."""
        return (self.weight,)

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse weights that are none."""
        require_weights(self, domains[self.weight])

    def level(self, stats: GroupStats) -> Floats:
        """The estimated risk of each group."""
        share = np.minimum(stats.size / np.maximum(people_of(stats, self.weight), 1e-300), 1.0)
        out = np.empty(stats.n_groups)
        mean_inverse(np.ascontiguousarray(stats.size, np.int64), np.ascontiguousarray(share, np.float64), out)
        return out
