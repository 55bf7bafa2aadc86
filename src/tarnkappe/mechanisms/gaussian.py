"""The discrete Gaussian mechanism: whole-numbered noise for many counts, and how its costs add up (zCDP)."""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.mechanisms.geometric import geometric_noise
from tarnkappe.mechanisms.tossing import bernoulli_exp_large

#: The largest variance: products of whole numbers stay below 63 bits.
LARGEST_VARIANCE = 10_000_000


def gaussian_noise(variance: int, rng: np.random.Generator, n: int) -> Counts:
    r"""`n` independent draws of the discrete Gaussian distribution.

    .. math:: P[X = x] \propto e^{-x^2 / 2 \sigma^2}

    Counts that one record changes by 1 in all, as a table of them does, are :math:`1 / 2\sigma^2`-zCDP with this noise.
    Sampled without floats by [CaKS20], algorithm 3.

    >>> noise = gaussian_noise(9, np.random.default_rng(1), 20_000)
    >>> noise.dtype.name, abs(float(noise.var()) - 9) < 0.5
    ('int64', True)

    References
    ----------
    .. [CaKS20] Canonne, Kamath, Steinke. "The discrete Gaussian for differential privacy." NeurIPS 2020.
    """
    if not 1 <= variance <= LARGEST_VARIANCE:
        raise ValueError(f"the variance must be between 1 and {LARGEST_VARIANCE}, got {variance!r}")
    t = math.isqrt(variance) + 1
    denominator = 2 * variance * t * t
    noise = np.zeros(n, np.int64)
    pending = np.arange(n)
    while len(pending):
        drawn = geometric_noise(1.0, t, rng, len(pending))
        off = np.minimum(np.abs(drawn), 60 * t) * t - variance  # farther out, hardly anything is accepted
        exponent = off * off
        accepted = bernoulli_exp_large(exponent // denominator, exponent % denominator, denominator, rng)
        noise[pending[accepted]] = drawn[accepted]
        pending = pending[~accepted]
    return noise


def epsilon_of(rho: float, delta: float) -> float:
    r"""The :math:`\varepsilon` of a :math:`\rho`-zCDP mechanism that fails with probability :math:`\delta` at most.

    .. math:: \varepsilon = \rho + 2 \sqrt{\rho \ln(1/\delta)}

    >>> round(epsilon_of(rho_of(1.0, 1e-6), 1e-6), 9)
    1.0

    References
    ----------
    .. [BuSt16] Bun, Steinke. "Concentrated differential privacy: simplifications, extensions, and lower bounds." 2016.
    """
    return rho + 2 * math.sqrt(rho * math.log(1 / delta))


def rho_of(epsilon: float, delta: float) -> float:
    r"""The largest :math:`\rho` with which a mechanism is :math:`(\varepsilon, \delta)`-differentially private."""
    slack = math.log(1 / delta)
    return (math.sqrt(epsilon + slack) - math.sqrt(slack)) ** 2
