"""The delta of (k, beta)-SDGS against the catalogue's table, brute force in fractions, and the definition itself."""

from __future__ import annotations

import math
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.criteria.differential_privacy import DifferentialPrivacy
from tarnkappe.criteria.sdgs_bound import largest_beta, sdgs_delta, smallest_k
from tarnkappe.errors import JobError

#: epsilon, delta, smallest k for beta = 1 - exp(-epsilon); ARX returns one more.
TABLE = [
    (2.0, 1e-5, 113),
    (1.5, 1e-6, 99),
    (1.0, 1e-6, 74),
    (1.0, 1e-8, 104),
    (math.log(2), 1e-7, 80),
    (math.log(3), 1e-8, 108),
    (0.5, 1e-6, 63),
    (0.1, 1e-6, 60),
]


@pytest.mark.parametrize(("epsilon", "delta", "k"), TABLE)
def test_the_table_is_reproduced(epsilon: float, delta: float, k: int):
    assert smallest_k(epsilon, delta) == k
    assert sdgs_delta(epsilon, None, k) <= delta < sdgs_delta(epsilon, None, k - 1)


@pytest.mark.parametrize(("beta", "k"), [(0.2, 14), (0.1, 9), (0.05, 7)])
def test_smaller_samples_need_smaller_groups(beta: float, k: int):
    assert smallest_k(1.0, 1e-6, beta) == k


def gamma_of(epsilon: float, beta: float) -> Fraction:
    """The share of copies that gives nobody away, to 200 digits."""
    kept_back = Fraction(Context(200).exp(Decimal(-epsilon)))
    return 1 - (1 - Fraction(beta)) * kept_back


def binomial(n: int, beta: Fraction) -> list[Fraction]:
    return [math.comb(n, j) * beta**j * (1 - beta) ** (n - j) for j in range(n + 1)]


def brute_delta(epsilon: float, beta: float, k: int, most: int) -> Fraction:
    """The definition: the largest tail over all numbers of records up to `most`."""
    gamma = gamma_of(epsilon, beta)
    first = math.ceil(k / gamma - 1)
    return max(sum(binomial(n, Fraction(beta))[math.floor(gamma * n) + 1 :]) for n in range(first, most))


def chernoff(epsilon: float, beta: float, n: int) -> float:
    g = float(gamma_of(epsilon, beta))
    return math.exp(-n * (g * math.log(g / beta) - (g - beta)))


PARAMETERS = st.tuples(
    st.sampled_from([0.2, 0.5, 1.0, 1.7, 3.0]), st.sampled_from([0.05, 0.125, 0.3, 0.6, 0.9, 1.0]), st.integers(1, 12)
)


@settings(max_examples=examples(30))
@given(PARAMETERS)
def test_delta_equals_brute_force(parameters: tuple[float, float, int]):
    epsilon, part, k = parameters
    beta = math.ceil(part * largest_beta(epsilon) * 64 - 1) / 64 or 1 / 64  # few bits keep the fractions small
    found = sdgs_delta(epsilon, beta, k)
    most = 80  # the bound shows that nothing larger comes later
    if chernoff(epsilon, beta, most) > found:
        return
    exact = brute_delta(epsilon, beta, k, most)
    assert Fraction(found) >= exact, "never below the true value"
    assert math.isclose(found, exact, rel_tol=1e-14)


@given(PARAMETERS, st.sampled_from([0.3, 0.05, 1e-3, 1e-5]))
def test_smallest_k_is_the_smallest(parameters: tuple[float, float, int], delta: float):
    epsilon, part, _ = parameters
    beta = part * largest_beta(epsilon)
    k = smallest_k(epsilon, delta, beta)
    assert sdgs_delta(epsilon, beta, k) <= delta
    assert k == 1 or sdgs_delta(epsilon, beta, k - 1) > delta


def published(n: int, beta: Fraction, k: int) -> list[Fraction]:
    """The distribution of the published copies of one kind of record: none if fewer than k are kept."""
    chance = binomial(n, beta)
    return [sum(chance[:k], Fraction(0)), *(Fraction(0) for _ in range(k - 1)), *chance[k:]][: n + 1]


@pytest.mark.parametrize(
    ("epsilon", "beta", "k"), [(1.0, 0.6, 8), (0.5, 0.39, 5), (1.0, 0.1, 3), (0.2, 0.15, 4), (2.0, 0.8, 10)]
)
def test_the_definition_of_differential_privacy_holds(epsilon: float, beta: float, k: int):
    """Exactly, for the worst set of releases and every number of equal records: both ways of adding one record."""
    delta = Fraction(sdgs_delta(epsilon, beta, k))
    factor = Fraction(Context(60).exp(Decimal(epsilon)).next_minus(Context(60)))
    for n in range(1, 60):
        more, fewer = published(n, Fraction(beta), k), [*published(n - 1, Fraction(beta), k), Fraction(0)]
        fewer = fewer[: n + 1]
        for one, other in ((more, fewer), (fewer, more)):
            excess = sum(max(a - factor * b, Fraction(0)) for a, b in zip(one, other, strict=True))
            assert excess <= delta


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.7, 5.0, 12.0, 30.0])
def test_extreme_parameters_are_quick_and_consistent(epsilon: float):
    k = smallest_k(epsilon, 1e-9)
    assert sdgs_delta(epsilon, None, k) <= 1e-9 < sdgs_delta(epsilon, None, k - 1)


def test_the_largest_beta_is_below_its_bound():
    for epsilon in (0.01, math.log(2), 1.0, 3.0):
        exact = 1 - Fraction(Context(60).exp(Decimal(-epsilon)))
        beta = largest_beta(epsilon)
        assert Fraction(beta) <= exact
        assert math.isclose(beta, exact, rel_tol=1e-13)


@pytest.mark.parametrize("beta", [0.64, 1.0])
def test_sampling_too_much_is_refused(beta: float):
    with pytest.raises(JobError) as caught:
        DifferentialPrivacy(epsilon=1.0, delta=1e-6, beta=beta)
    assert caught.value.code == "E110"
    assert caught.value.hint is not None
    assert str(largest_beta(1.0)) in caught.value.hint
    assert DifferentialPrivacy(1.0, 1e-6, largest_beta(1.0)).k == 74
