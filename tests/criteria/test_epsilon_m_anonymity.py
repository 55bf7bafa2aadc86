from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named, numeric

import brute
from tarnkappe.criteria.epsilon_m_anonymity import EpsilonMAnonymity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.errors import JobError

number = st.one_of(st.integers(-9, 9), st.integers(-90, 90).map(lambda n: n / 10)).map(float)
groups = st.lists(st.dictionaries(st.one_of(number, st.none()), st.integers(1, 4), min_size=1), min_size=1, max_size=5)


@given(groups, st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 1, 2, 3.5, 100]), st.integers(1, 5), st.booleans())
def test_as_the_independent_checker_says(some, epsilon, m, relative):
    if relative and epsilon >= 1:
        epsilon = 0.25
    criterion = EpsilonMAnonymity("s", epsilon, m, relative)
    stats = numeric(some, missing=True)
    expected = [brute.proximity(g, epsilon, relative) for g in some]
    assert criterion.level(stats).tolist() == [float(e) for e in expected]
    assert criterion.satisfied(stats).tolist() == [e * m <= 1 for e in expected]


def test_not_monotone():
    """{0, 100} and {-1, 1} satisfy (1, 2)-anonymity; their union does not (catalogue, section 1)."""
    criterion = EpsilonMAnonymity("s", 1, 2)
    stats = numeric([{0: 1, 100: 1}, {-1: 1, 1: 1}])
    assert criterion.satisfied(stats).all()
    union = stats.pooled(np.zeros(2, np.int32))
    assert not criterion.satisfied(union).any()
    assert criterion.level(union).tolist() == [0.75]
    assert not criterion.monotone
    assert not criterion.is_monotone
    assert not criterion.is_absorbing


def test_edges_of_the_neighbourhood_belong_to_it():
    stats = numeric([{0.1: 1, 0.3: 1, 9: 2}, {0.1: 1, 0.31: 1, 9: 2}])
    assert EpsilonMAnonymity("s", 0.2, 2).level(stats).tolist() == [0.5, 0.5]
    assert EpsilonMAnonymity("s", 0.2, 4).level(numeric([{0.1: 1, 0.3: 1}, {0.1: 1, 0.31: 1}])).tolist() == [1, 0.5]


def test_relative_neighbourhoods_are_those_of_the_number_itself():
    """110 is within 10 % of 121, but not the other way round."""
    stats = numeric([{110: 1, 121: 3}, {108: 1, 121: 3}])
    assert EpsilonMAnonymity("s", 0.1, 1, relative=True).level(stats).tolist() == [1.0, 0.75]


def test_numbers_of_many_places():
    stats = numeric([{1 / 3: 1, 2 / 3: 1, 5.0: 2}])
    assert stats.histograms["s"].domain.decimals is None
    assert EpsilonMAnonymity("s", 0.4, 2).level(stats).tolist() == [0.5]
    assert EpsilonMAnonymity("s", 0.4, 2, relative=True).level(stats).tolist() == [0.5]


@given(groups, st.integers(1, 4))
def test_without_a_neighbourhood_it_is_frequency_l_diversity(some, m):
    stats = numeric(some, missing=True)
    frequency = FrequencyLDiversity("s", m).satisfied(stats).tolist()
    assert EpsilonMAnonymity("s", 0, m).satisfied(stats).tolist() == frequency


def test_a_proximity_attack_that_k_e_anonymity_lets_through():
    from tarnkappe.criteria.k_e_anonymity import KEAnonymity

    stats = numeric([{1000: 1, 1010: 1, 1020: 1, 9000: 1}])
    assert KEAnonymity("s", 4, 5000).satisfied(stats).all()
    assert not EpsilonMAnonymity("s", 50, 2).satisfied(stats).any()


def test_what_makes_no_sense_is_refused():
    with pytest.raises(JobError, match="E110 a relative 'epsilon'"):
        EpsilonMAnonymity("s", 1, 2, relative=True)
    with pytest.raises(JobError, match="E111"):
        EpsilonMAnonymity("s", 1, 2).satisfied(named([{"a": 1, "b": 1}]))


def test_words():
    assert EpsilonMAnonymity("s", 50, 2).asked == "share within 50 ≤ 1/2"
    assert EpsilonMAnonymity("s", 0.1, 3, relative=True).asked == "share within 0.1 times the number ≤ 1/3"
    assert EpsilonMAnonymity("s", 50, 4).min_size == 4
