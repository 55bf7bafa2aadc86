"""k-map, estimated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.wording import stated

#: Of so many people the chances are computed in whole numbers.
_FEW = 500

#: Sums of probabilities are rounded by far less than that.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class EstimatedKMap(Criterion):
    r"""Every record could be one of at least ``k`` people of a population of which the data are a random sample.

    There is no table of the population; what is known is the share of it that was drawn (`fraction`). A group of f
    records is accepted if so many would hardly have been drawn from fewer than k people:

    .. math:: P[X \ge f] \le \text{error}, \quad X \text{ counts those drawn of } k - 1 \text{ people}

    *negative-binomial*: X is binomial with k - 1 people and the fraction. The population count given f is then negative
    binomial, and the condition is that it reaches k with probability 1 - error. Exact for a random sample.

    *poisson*: X is Poisson with mean (k - 1) · fraction, as for a large population of which a small share is drawn;
    its tail is heavier, so a little more is asked for.

    *truncated-poisson*: the same, given that somebody was drawn at all, as every group that is published has records.

    So it is a smallest number of records, between 1 and k, that follows from the parameters.

    >>> [EstimatedKMap(20, fraction=share).least for share in (0.01, 0.5, 1)]
    [2, 14, 20]
    >>> [EstimatedKMap(20, 0.1, estimator).least for estimator in ("poisson", "truncated-poisson")]
    [5, 6]

    References
    ----------
    .. [ElDa08] El Emam, Dankar. "Protecting privacy using k-anonymity." JAMIA 15(5), 2008.
    .. [BeFr98] Benedetti, Franconi. "Statistical and technological solutions for controlled data dissemination." 1998.
    """

    name: ClassVar = "estimated-k-map"
    title: ClassVar = "k-map, estimated"
    sense: ClassVar = "at least"
    monotone: ClassVar = True
    absorbing: ClassVar = True
    decided_by_size: ClassVar = True
    card: ClassVar = Card(
        protects_from="being singled out by someone who does not know who is in the data, if the data are a random "
        "sample: each record probably could be any of k people.",
        does_not="protect from someone who knows that a person was drawn; and it trusts that the sample is random.",
        typical="k 5 to 20, with the sampling fraction that the survey states.",
        cost="low: the smaller the sample, the smaller the groups may be.",
    )

    k: int = param(doc="Smallest number of people of the population who fit a group.", ge=1, example=5)
    fraction: float = param(doc="The share of the population that is in the data.", gt=0, le=1, example=0.1)
    estimator: str = param(
        "negative-binomial",
        doc="What the number of those drawn follows.",
        choices=("negative-binomial", "poisson", "truncated-poisson"),
    )
    error: float = param(0.05, doc="The chance that a group is accepted although fewer fit it.", gt=0, le=0.5)

    @property
    def least(self) -> int:
        """The smallest number of records that a group may have."""
        return least_records(self.k, self.fraction, self.estimator, self.error)

    @property
    def threshold(self) -> float:
        """The smallest number of records."""
        return float(self.least)

    @property
    def min_size(self) -> int:
        """The same."""
        return self.least

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"probably {self.k} people fit: records ≥ {self.least} at a fraction of {stated(self.fraction)}"

    def level(self, stats: GroupStats) -> Floats:
        """Records of each group."""
        return stats.size.astype(np.float64)


def _exactly(people: int, fraction: Fraction, error: Fraction) -> int:
    """The same for a binomial count, in whole numbers."""
    hit, miss = fraction.numerator, fraction.denominator - fraction.numerator
    if miss == 0:
        return people + 1
    most, tail = error * fraction.denominator**people, 0
    for x in range(people, 0, -1):
        tail += math.comb(people, x) * hit**x * miss ** (people - x)
        if tail > most:
            return x + 1
    return 1


@cache
def least_records(k: int, fraction: float, estimator: str, error: float) -> int:
    """The fewest records that are drawn from fewer than k people with a probability of at most `error`.

    As many as k are drawn from fewer than k people never. Probabilities are added up from the largest count down; of
    few people they are exact, else rounded such that rather a record more is asked for.
    """
    people, mean = k - 1, (k - 1) * fraction
    if estimator == "negative-binomial" and (fraction >= 1 or people <= _FEW):
        return _exactly(people, as_fraction(fraction), as_fraction(error))

    def log_mass(x: int) -> float:
        if estimator == "negative-binomial":
            ways = math.lgamma(people + 1) - math.lgamma(x + 1) - math.lgamma(people - x + 1)
            return ways + x * math.log(fraction) + (people - x) * math.log1p(-fraction)
        return x * math.log(mean) - mean - math.lgamma(x + 1)

    if people == 0:
        return 1
    somebody = -math.expm1(-mean) if estimator == "truncated-poisson" else 1.0
    tail = 0.0
    if estimator != "negative-binomial":  # a Poisson count has no end; what is above k - 1 comes first
        x = k
        while (term := math.exp(log_mass(x))) > 1e-18 * max(tail, 1e-300):
            tail, x = tail + term, x + 1
            if x > k + 100 and x > 4 * mean + 100:
                break
    for x in range(people, 0, -1):
        tail += math.exp(log_mass(x))
        if tail / somebody > error - _ROUNDING:
            return x + 1
    return 1
