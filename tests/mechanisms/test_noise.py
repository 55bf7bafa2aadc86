"""Noise has the probabilities that the privacy loss is computed from, and no value can come from one count only."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from tarnkappe.mechanisms import bernoulli_exp, geometric_noise, granted_epsilon, laplace_on_grid

DRAWS = 200_000


def probability(x: int, epsilon: float, sensitivity: int) -> float:
    """The definition, in floats."""
    a = exp(-epsilon / sensitivity)
    return (1 - a) / (1 + a) * a ** abs(x)


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(0.1, 1), (0.5, 1), (1.0, 1), (1.0, 3), (2.5, 1), (3, 2), (7.3, 1)]
)
def test_noise_is_distributed_as_defined(epsilon: float, sensitivity: int):
    from scipy.stats import chisquare  # takes a second, in every process that collects tests

    noise = geometric_noise(epsilon, sensitivity, np.random.default_rng(5), DRAWS)
    reach = int(5 * sensitivity / epsilon) + 1
    values = np.arange(-reach, reach + 1)
    expected = np.array([probability(int(x), epsilon, sensitivity) for x in values]) * DRAWS
    seen = np.bincount(noise[np.abs(noise) <= reach] + reach, minlength=len(values)).astype(float)
    frequent = expected >= 5
    expected, seen = np.append(expected[frequent], 0.0), np.append(seen[frequent], 0.0)
    expected[-1], seen[-1] = DRAWS - expected.sum(), DRAWS - seen.sum()
    keep = expected > 0
    assert chisquare(seen[keep], expected[keep] * seen[keep].sum() / expected[keep].sum()).pvalue > 1e-4


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_loss_between_neighbours_is_at_most_epsilon(epsilon: float, sensitivity: int):
    """Every result, every pair of true counts that one record can make of each other."""
    worst = max(
        abs(log(probability(out - one, epsilon, sensitivity) / probability(out - other, epsilon, sensitivity)))
        for out in range(-30, 31)
        for one in range(6)
        for other in range(one + 1, min(one + sensitivity, 5) + 1)
    )
    assert worst == pytest.approx(epsilon)


def test_probability_of_a_toss():
    for fraction in (0.0, 0.25, 0.5, 1.0):
        tossed = bernoulli_exp(np.full(DRAWS, int(fraction * 4)), 4, np.random.default_rng(3))
        assert abs(tossed.mean() - exp(-fraction)) < 5 * 0.5 / DRAWS**0.5
    with pytest.raises(ValueError, match="between 0 and 1"):
        bernoulli_exp(np.array([5]), 4, np.random.default_rng(3))


def test_epsilon_is_never_more_than_asked():
    for epsilon in (0.1, 1 / 3, 0.7071067811865476, 12.25, 1e-9):
        assert 0 < granted_epsilon(epsilon) <= Fraction(str(epsilon))
    with pytest.raises(ValueError, match="epsilon"):
        granted_epsilon(1e-13)
    with pytest.raises(ValueError, match="sensitivity"):
        geometric_noise(1.0, 0, np.random.default_rng(1), 1)


def test_same_seed_same_noise():
    one, other = (geometric_noise(0.3, 1, np.random.default_rng(9), 100) for _ in range(2))
    assert np.array_equal(one, other)
    assert len(geometric_noise(1.0, 1, np.random.default_rng(9), 0)) == 0


def test_tiny_and_huge_scales_end():
    assert not geometric_noise(40.0, 1, np.random.default_rng(1), 1000).any()
    wide = geometric_noise(1e-6, 1, np.random.default_rng(1), 1000)
    assert 1e5 < np.abs(wide).mean() < 1e7


def test_values_on_a_grid_tell_nothing_by_their_digits():
    rng = np.random.default_rng(2)
    values = rng.normal(size=DRAWS)
    noisy = laplace_on_grid(values, 1.0, 1.0, rng, grid=0.125)
    assert set((noisy % 0.125).tolist()) == {0.0}
    assert abs(np.abs(noisy - values).mean() - 9 / 8) < 0.02  # eight steps and one for rounding
    for grid, sensitivity in pairwise((0.0, 1.0, -1.0)):
        with pytest.raises(ValueError, match="above 0"):
            laplace_on_grid(values, 1.0, sensitivity, rng, grid=min(grid, 0.0))
