"""Attackers and population uniques equal hand-worked cases and plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_risks import (
    plain_mean_inverse,
    plain_pitman_likelihood,
    plain_shlosser,
    plain_snb_expected,
    plain_zayatz,
)

from tarnkappe.errors import JobError
from tarnkappe.risks.matching import journalist, marketer, prosecutor
from tarnkappe.risks.pitman import _climb, _PitmanLikelihood, pitman
from tarnkappe.risks.sizes import SizeCounts
from tarnkappe.risks.snb import _shlosser, _snb_parameters, snb
from tarnkappe.risks.uniqueness import population_uniqueness, zayatz
from tarnkappe.risks.weighted import household_risks, individual_risks

SIZES = st.lists(st.integers(1, 12), min_size=2, max_size=40)


def test_groups_of_one_to_four():
    sizes = np.array([1, 2, 3, 4])
    found = prosecutor(sizes, 0.4)
    assert (found.average, found.highest, found.at_risk) == (0.4, 1.0, 0.3)
    assert prosecutor(sizes, 0.25).at_risk == 0.6  # 1/4 is not above 1/4
    assert marketer(sizes).average == 0.4
    assert marketer(sizes, 2 * sizes).average == 0.2


def test_a_journalist_looks_at_the_population():
    found = journalist(np.array([1, 2]), np.array([4, 2]), 0.3)
    assert found.highest == 0.5
    assert found.average == pytest.approx(max(2 / 6, (1 / 4 + 2 / 2) / 3))
    assert found.at_risk == pytest.approx(2 / 3)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5])
def test_a_threshold_is_a_probability(threshold: float):
    with pytest.raises(JobError):
        prosecutor(np.array([1]), threshold)


@given(SIZES, st.integers(1, 50))
def test_zayatz_by_exact_fractions(sizes: list[int], factor: int):
    n_people = sum(sizes) * factor
    found = zayatz(SizeCounts.of(np.array(sizes)), n_people).uniques
    assert found == pytest.approx(plain_zayatz(sizes, n_people) if 1 in sizes else 0.0, rel=1e-9)


@given(SIZES)
def test_pitman_is_the_most_likely(sizes: list[int]):
    found = pitman(SizeCounts.of(np.array(sizes)), 100 * sum(sizes))
    if found.uniques is None:
        assert found.remark
        return
    likelihood = _PitmanLikelihood(SizeCounts.of(np.array(sizes)))
    # The parameters behind the figure: the best of a search that shares nothing with Newton's.
    best = max(
        ((t, a) for a in np.linspace(0.01, 0.99, 40) for t in np.concatenate([[-0.9 * a], np.logspace(-2, 4, 50)])),
        key=lambda at: plain_pitman_likelihood(sizes, *at),
    )
    climbed = _climb(likelihood, likelihood.start())
    assert climbed is not None
    assert likelihood.value(climbed) >= likelihood.value(np.array(best)) - 1e-6
    at = np.array(best)
    assert likelihood.value(at) == pytest.approx(plain_pitman_likelihood(sizes, *best), rel=1e-9, abs=1e-9)
    small = 1e-5
    for j in range(2):
        step = np.eye(2)[j] * small
        slope = (likelihood.value(at + step) - likelihood.value(at - step)) / (2 * small)
        assert likelihood.slope(at)[j] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_pitman_finds_the_parameters_of_a_restaurant():
    rng = np.random.default_rng(5)
    theta, alpha = 40.0, 0.5
    tables: list[int] = []
    for seated in range(20_000):
        if rng.random() * (theta + seated) < theta + alpha * len(tables):
            tables.append(1)
        else:
            weights = np.array(tables) - alpha
            tables[int(np.searchsorted(np.cumsum(weights), rng.random() * weights.sum()))] += 1
    found = pitman(SizeCounts.of(np.array(tables)), 200_000).uniques
    truth = math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * 200_000**alpha
    assert found == pytest.approx(truth, rel=0.15)


@pytest.mark.parametrize(
    ("alpha", "beta", "sampling"), [(0.5, 0.2, 0.3), (2.0, 0.5, 0.2), (0.3, 0.05, 0.5), (4, 0.8, 0.6)]
)
def test_snb_solves_its_equations(alpha: float, beta: float, sampling: float):
    uniques, pairs = (plain_snb_expected(1.0, alpha, beta, sampling, size) / sampling for size in (1, 2))
    found = _snb_parameters(uniques, pairs, sampling)
    assert any(a == pytest.approx(alpha, rel=1e-5) and b == pytest.approx(beta, rel=1e-5) for a, b in found)
    for a, b in found:
        assert plain_snb_expected(1.0, a, b, sampling, 1) / sampling == pytest.approx(uniques, rel=1e-6)
        assert plain_snb_expected(1.0, a, b, sampling, 2) / sampling == pytest.approx(pairs, rel=1e-6)


@given(SIZES, st.floats(0.02, 0.9))
def test_shlosser(sizes: list[int], sampling: float):
    assert _shlosser(SizeCounts.of(np.array(sizes)), sampling) == pytest.approx(plain_shlosser(sizes, sampling))


def test_models_on_a_population_whose_uniques_are_known():
    rng = np.random.default_rng(0)
    people = 1 + rng.negative_binomial(0.3, 0.05, 3000)
    drawn = rng.binomial(people, 0.5)
    found = population_uniqueness(drawn[drawn > 0], int(people.sum()))
    truth = int((people == 1).sum())
    for estimate in found.estimates:
        assert estimate.uniques == pytest.approx(truth, rel=0.25)
    assert found.chosen.uniques == min(e.uniques for e in found.estimates if e.model != "Pitman")


def test_the_rule():
    nobody = population_uniqueness(np.array([2, 3]), 50)
    assert nobody.chosen.uniques == 0
    everybody = population_uniqueness(np.array([1, 2]), 3)
    assert everybody.chosen.uniques == 1
    sizes = np.array([1] * 60 + [2] * 20 + [3] * 10 + [9] * 4)
    few = population_uniqueness(sizes, 100 * int(sizes.sum()))
    assert few.chosen.model == "Pitman"
    many = population_uniqueness(sizes, 4 * int(sizes.sum()))
    assert many.chosen.model in ("SNB", "Zayatz")


def test_what_has_no_solution_is_no_zero():
    """Ten people who are all alike tell Pitman nothing."""
    found = pitman(SizeCounts.of(np.array([10])), 1000)
    assert found.uniques is None
    assert found.remark
    alone = pitman(SizeCounts.of(np.ones(10, np.int64)), 1000)
    assert alone.uniques is None
    assert snb(SizeCounts.of(np.ones(10, np.int64)), 1000).uniques is None


def test_a_population_is_no_smaller_than_its_sample():
    with pytest.raises(JobError, match="cannot hold"):
        population_uniqueness(np.array([5]), 4)


@given(st.integers(1, 60), st.floats(0.001, 0.999))
def test_individual_risk_by_its_sum(f: int, p: float):
    found = individual_risks(np.array([f]), np.array([f / p]))[0]
    assert found == pytest.approx(plain_mean_inverse(f, p), rel=1e-6)


def test_individual_risk_by_hand():
    """The closed forms for one and two records, and a sample of everybody."""
    p = 0.1
    c = p / (1 - p)
    found = individual_risks(np.array([1, 2, 3]), np.array([10.0, 20.0, 3.0]))
    assert found[0] == pytest.approx(c * math.log(1 / p))
    assert found[1] == pytest.approx(c - c**2 * math.log(1 / p))
    assert found[2] == pytest.approx(1 / 3)


def test_households():
    assert household_risks(np.array([1.0, 0.2, 0.5]), np.array([0, 0, 1])).tolist() == [1.0, 0.5]
