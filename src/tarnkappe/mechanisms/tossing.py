"""Tosses whose probabilities are powers of e, however small they are."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Counts, Flags
from tarnkappe.mechanisms.geometric import bernoulli_exp


def bernoulli_exp_large(whole: Counts, rest: Counts, denominator: int, rng: np.random.Generator) -> Flags:
    """One toss for each exponent that succeeds with probability ``exp(-(whole + rest / denominator))``, exactly.

    >>> bernoulli_exp_large(np.array([0, 999]), np.array([0, 0]), 1, np.random.default_rng(1)).tolist()
    [True, False]
    """
    going = bernoulli_exp(rest, denominator, rng)
    for step in range(int(np.max(whole, initial=0))):
        on = np.flatnonzero(going & (whole > step))
        if not len(on):
            break
        going[on] = bernoulli_exp(np.ones(len(on), np.int64), 1, rng)
    return going
