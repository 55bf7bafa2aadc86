"""The exponential mechanism: one of several candidates is chosen, better ones more likely."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.mechanisms.geometric import granted_epsilon
from tarnkappe.mechanisms.tossing import bernoulli_exp_large

#: Candidates that are tried at a time.
_TRIES = 256


def choice_probabilities(scores: Counts, epsilon: float, sensitivity: int) -> Floats:
    r"""How likely each candidate is chosen.

    .. math:: P[i] = \frac{e^{\varepsilon s_i / 2 \Delta}}{\sum_j e^{\varepsilon s_j / 2 \Delta}}

    >>> choice_probabilities(np.array([3, 3]), 1.0, 1).tolist()
    [0.5, 0.5]
    """
    rate = float(granted_epsilon(epsilon)) / (2 * sensitivity)
    weights = np.exp((scores - scores.max()) * rate)
    shares: Floats = weights / weights.sum()
    return shares


def choose(scores: Counts, epsilon: float, sensitivity: int, rng: np.random.Generator) -> int:
    r"""Choose a candidate by its score, a whole number that one record changes by at most `sensitivity`.

    The choice is :math:`\varepsilon`-differentially private. It is drawn exactly, without floats: a candidate is taken
    at random and accepted with probability :math:`e^{-\varepsilon (s_{\max} - s_i) / 2 \Delta}`, else another is tried.

    >>> choose(np.array([0, 500, 10]), 1.0, 1, np.random.default_rng(1))
    1

    References
    ----------
    .. [McTa07] McSherry, Talwar. "Mechanism design via differential privacy." FOCS 2007.
    """
    if sensitivity < 1 or not len(scores):
        raise ValueError("the exponential mechanism needs candidates and a sensitivity of at least 1")
    granted = granted_epsilon(epsilon) / (2 * sensitivity)
    behind = scores.max() - np.asarray(scores, np.int64)
    while True:
        tried = rng.integers(0, len(scores), _TRIES)
        accepted = np.flatnonzero(_bernoulli_exp_any(behind[tried], granted.numerator, granted.denominator, rng))
        if len(accepted):
            return int(tried[accepted[0]])


def _bernoulli_exp_any(gap: Counts, numerator: int, denominator: int, rng: np.random.Generator) -> Flags:
    """Tosses that succeed with probability ``exp(-gap * numerator / denominator)``, however large the exponent is.

    An exponent of 1100 or more has a probability that no float is small enough for; such a toss fails.
    """
    out = np.zeros(len(gap), np.bool_)
    near = np.flatnonzero(gap.astype(np.float64) * numerator < 1100.0 * denominator)
    exponent = [int(g) * numerator for g in gap[near]]  # exact, whatever its size
    whole = np.array([e // denominator for e in exponent], np.int64)
    rest = np.array([e % denominator for e in exponent], np.int64)
    out[near] = bernoulli_exp_large(whole, rest, denominator, rng)
    return out
