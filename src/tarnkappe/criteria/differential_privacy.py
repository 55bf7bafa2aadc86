"""Differential privacy of a sampled and generalised release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion
from tarnkappe.criteria.sdgs_bound import largest_beta, smallest_k
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class DifferentialPrivacy(Criterion):
    r"""Hardly anything in the release depends on whether a person is in the data.

    For all tables D and D' that differ in one record and all sets of releases R,

    .. math:: P[M(D) \in R] \le e^\varepsilon \, P[M(D') \in R] + \delta.

    The mechanism M keeps each record with probability :math:`\beta`, generalises it in a way that was fixed without
    looking at the data, and publishes it if at least :math:`k` kept records look exactly the same, sensitive values
    included. What can be checked on a table is the last step only,

    .. math:: |\{r \in G : r[S] = s\}| \ge k \quad \text{for every } s \text{ published in } G,

    where k follows from :math:`\varepsilon, \delta, \beta` (`tarnkappe.criteria.sdgs_bound.smallest_k`). The rest is a
    property of how the release was made, so only an algorithm that is such a mechanism accepts the criterion.

    Differs from the paper in: sensitive columns count as part of the record, because they are published as they are.

    >>> DifferentialPrivacy(epsilon=1.0, delta=1e-6).k
    74

    References
    ----------
    .. [LiQS12] Li, Qardaji, Su. "On sampling, anonymization, and differential privacy: or, k-anonymization meets
       differential privacy." ASIACCS 2012.
    .. [BiKP18] Bild, Kuhn, Prasser. "SafePub: a truthful data anonymization algorithm with strong privacy guarantees."
       PoPETs 2018.
    """

    name: ClassVar = "differential-privacy"
    title: ClassVar = "(ε, δ)-differential privacy"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    scope: ClassVar = "mechanism"
    protects: ClassVar = frozenset({"identity", "presence", "secret"})
    card: ClassVar = Card(
        protects_from="learning anything about a person that could not be learnt without that person's record, "
        "whatever else the attacker knows.",
        does_not="keep all records: a random part of them and all rare ones are left out; and it cannot be proved "
        "by looking at a table.",
        typical="epsilon 0.5 to 2 and delta far below one over the number of records.",
        cost="high: needs many records and coarse levels that are fixed in advance.",
    )

    epsilon: float = param(
        doc="How much the odds of a release may change with one record, as a logarithm.", gt=0, example=1.0
    )
    delta: float = param(
        doc="The chance that this fails; far less than one over the number of records.", gt=0, le=1, example=1e-06
    )
    beta: float | None = param(
        None,
        doc="The chance with which a record is kept, at most 1 - exp(-epsilon), which is also the default.",
        gt=0,
        le=1,
    )

    def __post_init__(self) -> None:
        """Check the parameters, also against each other."""
        super().__post_init__()
        smallest_k(self.epsilon, self.delta, self.beta)

    @property
    def k(self) -> int:
        """How often every published record must occur."""
        return smallest_k(self.epsilon, self.delta, self.beta)

    @property
    def threshold(self) -> float:
        """The k that follows from the parameters."""
        return float(self.k)

    @property
    def min_size(self) -> int:
        """Even a group with one sensitive value needs k records."""
        return self.k

    @property
    def sampling(self) -> float:
        """The beta."""
        return largest_beta(self.epsilon) if self.beta is None else self.beta

    @property
    def needs_joint(self) -> bool:
        """All sensitive values of a record are published, so all of them together are counted."""
        return True

    @property
    def asked(self) -> str:
        """The promise in short, as far as a table can show it."""
        return f"every published record at least {self.k} times (ε = {stated(self.epsilon)}, δ = {stated(self.delta)})"

    def level(self, stats: GroupStats) -> Floats:
        """How often the rarest record of each group occurs."""
        if stats.joint is None:  # there are no sensitive columns
            return stats.size.astype(np.float64)
        rarest: Floats = reduce_groups(np.minimum, stats.joint.counts, stats.joint.indptr).astype(np.float64)
        return rarest
