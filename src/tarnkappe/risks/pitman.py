"""Population uniques by Pitman's model of how groups grow."""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.risks.sizes import Estimate, SizeCounts

_MOST_STEPS = 200
_PRECISION = 1e-10

#: So near to the edge of its range a parameter is at the edge.
_EDGE = 1e-6


def pitman(given: SizeCounts, n_people: int) -> Estimate:
    r"""Pitman: groups as tables of a restaurant, its two parameters by maximum likelihood.

    .. math:: L = \sum_{i=1}^{u-1} \ln(\theta + i\alpha) - \sum_{i=1}^{n-1} \ln(\theta + i)
                  + \sum_i s_i \sum_{j=1}^{i-1} \ln(j - \alpha), \quad
              \mathrm{uniques} = \frac{\Gamma(\theta + 1)}{\Gamma(\theta + \alpha)} N^\alpha

    for u groups, of which :math:`s_i` have the size i, and :math:`0 < \alpha < 1`, :math:`\theta > -\alpha`.

    References
    ----------
    .. [Hosh01] Hoshino. "Applying Pitman's sampling formula to microdata disclosure risk assessment." Journal of
       Official Statistics 17(4), 2001.
    """
    u, n = given.n_groups, given.n_records
    if u in (1, n) or n < 3:
        return Estimate("Pitman", None, "all records are alike, or no two of them are")
    likelihood = _PitmanLikelihood(given)
    start = likelihood.start()
    solved = _climb(likelihood, start)
    if solved is None:
        return Estimate("Pitman", None, f"no maximum of the likelihood was found in {_MOST_STEPS} steps")
    theta, alpha = solved
    if alpha < _EDGE or alpha > 1 - _EDGE:
        return Estimate("Pitman", None, "the likelihood has no maximum inside of its range")
    uniques = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(n_people))
    return Estimate("Pitman", min(uniques, float(n_people)))


class _PitmanLikelihood:
    """The logarithm of the likelihood with its slope and curvature in (theta, alpha)."""

    def __init__(self, given: SizeCounts) -> None:
        self._given = given
        self._u, self._n = given.n_groups, given.n_records
        larger = np.flatnonzero(given.size > 1)
        longest = int(given.size.max())
        # Groups of more than j records: they have the factor j - alpha.
        beyond = np.zeros(longest, np.int64)
        np.add.at(beyond, given.size[larger] - 1, given.times[larger])
        self._beyond = np.cumsum(beyond[::-1])[::-1][1:].astype(np.float64)
        self._place = np.arange(1, longest, dtype=np.float64)
        self._table = np.arange(1, self._u, dtype=np.float64)

    def start(self) -> Floats:
        """A point to begin at, by moments of the sample (Hoshino)."""
        n, u, s1 = self._n, self._u, self._given.groups_of(1)
        c = s1 * (s1 - 1) / max(self._given.groups_of(2), 1)
        below = 2 * s1 * u + s1 * c - n * c
        if abs(below) > 1e-12 and n > s1:
            theta = (n * u * c - s1 * (n - 1) * (2 * u + c)) / below
            alpha = (theta * (s1 - n) + (n - 1) * s1) / (n * u)
            if 0 < alpha < 1 and theta > -alpha and math.isfinite(theta):
                return np.array([theta, alpha])
        return np.array([max(u / 2.0, 1.0), min(max(s1 / u, 0.05), 0.95)])

    def allowed(self, at: Floats) -> bool:
        """Whether parameters lie in their range."""
        theta, alpha = at
        return bool(0 < alpha < 1 and theta > -alpha)

    def value(self, at: Floats) -> float:
        """The logarithm of the likelihood."""
        theta, alpha = at
        tables = np.log(theta + alpha * self._table).sum()
        guests = math.lgamma(self._n + theta) - math.lgamma(1 + theta)
        return float(tables - guests + self._beyond @ np.log(self._place - alpha))

    def slope(self, at: Floats) -> Floats:
        """The first derivatives."""
        theta, alpha = at
        each = 1.0 / (theta + alpha * self._table)
        by_theta = each.sum() - (_digamma(self._n + theta) - _digamma(1 + theta))
        by_alpha = self._table @ each - self._beyond @ (1.0 / (self._place - alpha))
        return np.array([by_theta, by_alpha])

    def curvature(self, at: Floats) -> Floats:
        """The second derivatives."""
        theta, alpha = at
        each = 1.0 / (theta + alpha * self._table) ** 2
        twice = -each.sum() - (_trigamma(self._n + theta) - _trigamma(1 + theta))
        mixed = -(self._table @ each)
        other = -(self._table**2 @ each) - self._beyond @ (1.0 / (self._place - alpha) ** 2)
        return np.array([[twice, mixed], [mixed, other]])


def _climb(likelihood: _PitmanLikelihood, start: Floats) -> Floats | None:
    """Newton's method, with shorter steps where a full one would leave the range or go down; None if lost."""
    at, value = start, likelihood.value(start)
    for _ in range(_MOST_STEPS):
        slope, curvature = likelihood.slope(at), likelihood.curvature(at)
        # What bends upwards is bent down, so that every step leads uphill.
        bend, axes = np.linalg.eigh(curvature)
        step: Floats = axes @ ((axes.T @ slope) / np.maximum(np.abs(bend), 1e-12))
        reach = 1.0
        while reach > 1e-12:
            tried: Floats = at + reach * step
            if likelihood.allowed(tried):
                higher = likelihood.value(tried)
                if higher >= value - 1e-9 * abs(value) * (reach == 1.0):
                    break
            reach /= 2
        else:
            return at if _is_flat(slope, at) else None
        if tried[1] < _EDGE:
            return np.array(tried)
        moved = np.abs(tried - at) / (1 + np.abs(at))
        at, value = tried, higher
        if moved.max() < _PRECISION:
            return at if _is_flat(likelihood.slope(at), at) else None
    return None


def _is_flat(slope: Floats, at: Floats) -> bool:
    return bool(np.all(np.abs(slope * (1 + np.abs(at))) < 1e-3))


def _digamma(x: float) -> float:
    """The derivative of the logarithm of the gamma function: up to where its asymptotic series is exact."""
    shift = 0.0
    while x < 10:
        shift -= 1 / x
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))
    return shift + math.log(x) - 0.5 / x - series


def _trigamma(x: float) -> float:
    """The derivative of `_digamma`."""
    shift = 0.0
    while x < 10:
        shift += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    return shift + 1 / x + y / 2 + y / x * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
