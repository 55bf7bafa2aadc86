"""Population uniques by the shifted negative binomial model of group sizes."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from tarnkappe.risks.sizes import Estimate, SizeCounts

#: The largest parameter that is looked at.
_MOST_ALPHA = 1e6


def snb(given: SizeCounts, n_people: int) -> Estimate:
    r"""SNB: sizes of groups in the population are 1 plus a negative binomial number; both parameters by moments.

    .. math:: E[s_1] = K \pi b^\alpha \Bigl(1 + \frac{\alpha q}{D}\Bigr), \quad
              E[s_2] = \frac{K \pi^2}{2} b^\alpha \frac{\alpha (1 - \beta)}{D} \Bigl(2 + \frac{(\alpha + 1) q}{D}\Bigr)

    with :math:`q = (1 - \beta)(1 - \pi)`, D = 1 - q and :math:`b = \beta / D`; the number K of groups in the population
    is that of Shlosser's estimator, as modified by Haas and Stokes. Uniques are :math:`K \beta^\alpha`.

    Differs from a widespread program in: there the second equation multiplies by a power of D instead of dividing by
    it, and a term of K has its brackets elsewhere; both are as in the papers here.

    References
    ----------
    .. [ChKM98] Chen, Keller-McNulty. "Estimation of identification disclosure risk in microdata." Journal of Official
       Statistics 14(1), 1998.
    .. [HaSt98] Haas, Stokes. "Estimating the number of classes in a finite population." JASA 93, 1998.
    """
    n = given.n_records
    sampling = n / n_people
    s1, s2 = given.groups_of(1), given.groups_of(2)
    if not s1:
        return Estimate("SNB", 0.0, "nobody is unique in the sample")
    if not s2 or sampling >= 1:
        return Estimate("SNB", None, "no two records of the sample are a group" if not s2 else "everybody is drawn")
    groups = _shlosser(given, sampling)
    if groups is None:
        return Estimate("SNB", None, "the number of groups in the population cannot be estimated")

    solved = _snb_parameters(s1 / (groups * sampling), s2 / (groups * sampling), sampling)
    if not solved:
        return Estimate("SNB", None, "its two equations have no solution for these data")
    # Of several solutions the one whose groups have about as many people as there are.
    alpha, beta = min(solved, key=lambda x: abs(groups * (1 + x[0] * (1 - x[1]) / x[1]) - n_people))
    return Estimate("SNB", min(groups * beta**alpha, float(n_people)))


def _shlosser(given: SizeCounts, sampling: float) -> float | None:
    """How many groups the population has (modified Shlosser estimator)."""
    i, times, q = given.size.astype(np.float64), given.times.astype(np.float64), sampling
    first = times @ (i * q**2 * (1 - q**2) ** (i - 1))
    second = times @ ((1 - q) ** i * ((1 + q) ** i - 1))
    third = times @ (1 - q) ** i
    fourth = times @ (i * q * (1 - q) ** (i - 1))
    if not second > 0 or not fourth > 0:
        return None
    return float(given.n_groups + given.groups_of(1) * first / second * (third / fourth) ** 2)


def _snb_parameters(uniques: float, pairs: float, sampling: float) -> list[tuple[float, float]]:
    r"""All (alpha, beta) for which the expected figures are as seen, both in units of K times the sampling share.

    With :math:`x = \beta/D` and :math:`\rho = (1 - \pi)/\pi` the equations are :math:`x^\alpha (1 + \alpha\rho(1-x))`
    and :math:`x^\alpha \alpha (1-x) (1 + (\alpha+1)\rho(1-x)/2)`. The first rises with x up to
    :math:`(1 + \alpha\rho)/(\rho + \alpha\rho)` and falls from there to 1. So its solutions are a curve: below 1 one x
    for every alpha, above 1 two of them from some alpha on. Along this curve the second one is followed.
    """
    rho = (1 - sampling) / sampling

    def first(alpha: float, x: float) -> float:
        return math.exp(alpha * math.log(x)) * (1 + alpha * rho * (1 - x)) - uniques

    def second(alpha: float, x: float) -> float:
        rest = alpha * (1 - x) * (1 + (alpha + 1) * rho * (1 - x) / 2)
        return math.exp(alpha * math.log(x)) * rest - pairs

    def top(alpha: float) -> float:
        return min((1 + alpha * rho) / (rho * (1 + alpha)), 1.0)

    least = 0.0
    if uniques > 1:
        if first(_MOST_ALPHA, top(_MOST_ALPHA)) < 0:
            return []
        least = _halved(lambda a: first(a, top(a)), 0.0, _MOST_ALPHA) or 0.0

    def place(t: float) -> tuple[float, float]:
        """A point of the curve: on its rising side for t below 0, on the falling one above; the fold is at 0."""
        alpha = least + t * t
        ends = (1e-300, top(alpha)) if t <= 0 else (top(alpha), 1.0)
        return alpha, _halved(lambda x: first(alpha, x), *ends) or 1.0

    def off(t: float) -> float:
        return second(*place(t))

    grid = np.sqrt(np.logspace(-8, math.log10(_MOST_ALPHA), 160))
    path = [*(-grid[::-1]).tolist(), *(grid.tolist() if uniques > 1 else ())]
    known = [(t, off(t)) for t in path]
    out = []
    for (low, before), (high, after) in pairwise(known):
        if before * after <= 0 and before != after:
            at = _halved(off, low, high)
            if at is not None:
                alpha, x = place(at)
                out.append((alpha, x * sampling / (1 - x * (1 - sampling))))
    return out


def _halved(function: Callable[[float], float], low: float, high: float) -> float | None:
    """Where a function changes its sign between two places; None if it does not."""
    first = function(low)
    if first * function(high) > 0:
        return None
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) * first > 0 else (low, middle)
    return (low + high) / 2
