"""The geometric mechanism: whole-numbered noise for counts.

Noise that is computed as a float has holes: some results can come from one true count and not from its neighbour, and
whoever sees such a result knows the count (Mironov 2012). Here chance is compared with whole numbers only, and the
noise has exactly the probabilities that the privacy loss is computed from.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts, Flags

#: Denominators stay below, so that products with the small numbers that chance is compared with fit into 63 bits.
_FINEST = 1 << 40


def granted_epsilon(epsilon: float) -> Fraction:
    """The epsilon that noise is drawn for: the decimal as it is written, rounded down where it is finer than 2^-40.

    Less than was asked for is more noise, never less.

    >>> granted_epsilon(0.1), granted_epsilon(1)
    (Fraction(1, 10), Fraction(1, 1))
    >>> granted_epsilon(1 / 3) <= Fraction(1 / 3)
    True
    """
    asked = Fraction(str(float(epsilon)))
    granted = asked if asked.denominator <= _FINEST else Fraction(int(asked * _FINEST), _FINEST)
    if granted <= 0:
        raise ValueError(f"epsilon must be at least 2^-40, got {epsilon!r}")
    return granted


def bernoulli_exp(numerator: NDArray[Any], denominator: int, rng: np.random.Generator) -> Flags:
    r"""One toss for each fraction ``f`` between 0 and 1, that succeeds with probability :math:`e^{-f}`, exactly.

    Tosses of probability ``f/1, f/2, f/3 …`` go on until one fails. That it is the first, third, fifth … one has
    probability :math:`1 - f + f^2/2! - f^3/3! \dots`.

    >>> bernoulli_exp(np.array([0, 0]), 7, np.random.default_rng(0)).tolist()
    [True, True]
    """
    fraction = np.asarray(numerator, np.int64)
    if fraction.size and not (int(fraction.min()) >= 0 and int(fraction.max()) <= denominator):
        raise ValueError("fractions must lie between 0 and 1")
    tosses = np.zeros(len(fraction), np.int64)
    going = np.arange(len(fraction))
    toss = 0
    while len(going):
        toss += 1
        tosses[going] = toss
        going = going[rng.integers(0, denominator * toss, len(going)) < fraction[going]]
    odd: Flags = tosses % 2 == 1
    return odd


def geometric_noise(epsilon: float, sensitivity: int, rng: np.random.Generator, n: int) -> Counts:
    r"""`n` independent draws of two-sided geometric noise (the discrete Laplace distribution).

    .. math:: P[X = x] = \frac{1 - a}{1 + a} a^{|x|}, \quad a = e^{-\varepsilon / \Delta}

    A count that one record changes by at most :math:`\Delta` (`sensitivity`) is :math:`\varepsilon`-differentially
    private with this noise. Sampled without floats by [CaKS20], algorithm 2.

    >>> noise = geometric_noise(1.0, 1, np.random.default_rng(1), 10_000)
    >>> noise.dtype.name, abs(float(noise.mean())) < 0.05
    ('int64', True)

    References
    ----------
    .. [GhRS09] Ghosh, Roughgarden, Sundararajan. "Universally utility-maximizing privacy mechanisms." STOC 2009.
    .. [Miro12] Mironov. "On significance of the least significant bits for differential privacy." CCS 2012.
    .. [CaKS20] Canonne, Kamath, Steinke. "The discrete Gaussian for differential privacy." NeurIPS 2020.
    """
    if sensitivity < 1:
        raise ValueError(f"sensitivity must be at least 1, got {sensitivity!r}")
    scale = sensitivity / granted_epsilon(epsilon)
    t, s = scale.numerator, scale.denominator
    noise = np.zeros(n, np.int64)
    pending = np.arange(n)
    while len(pending):
        low = rng.integers(0, t, len(pending))
        accepted = bernoulli_exp(low, t, rng)
        high = _geometric_e(int(accepted.sum()), rng)
        size = (low[accepted] + t * high) // s
        minus = rng.integers(0, 2, len(size)) == 1
        drawn = ~(minus & (size == 0))  # nought has one sign only
        where = pending[accepted]
        noise[where[drawn]] = np.where(minus, -size, size)[drawn]
        pending = np.concatenate([pending[~accepted], where[~drawn]])
    return noise


def _geometric_e(n: int, rng: np.random.Generator) -> Counts:
    """How many tosses of probability 1/e succeed in a row."""
    successes = np.zeros(n, np.int64)
    going = np.arange(n)
    while len(going):
        going = going[bernoulli_exp(np.ones(len(going), np.int64), 1, rng)]
        successes[going] += 1
    return successes
