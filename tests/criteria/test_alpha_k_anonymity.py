from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named

import brute
from tarnkappe.criteria.alpha_k_anonymity import AlphaKAnonymity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.errors import JobError

groups = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1), min_size=1, max_size=5)


@given(groups, st.sampled_from([0.25, 0.3, 0.5, 0.55, 1]), st.integers(1, 12), st.sampled_from([None, *"abcd"]))
def test_as_the_independent_checker_says(some, alpha, k, value):
    criterion = AlphaKAnonymity("s", alpha, k, value)
    stats = named(some, dict.fromkeys("abcd", 1))
    large = [sum(g.values()) >= k for g in some]
    shares = [brute.alpha(g, value) for g in some]
    assert criterion.level(stats).tolist() == [
        float(s) if ok else math.inf for s, ok in zip(shares, large, strict=True)
    ]
    expected = [ok and s <= Fraction(str(float(alpha))) for s, ok in zip(shares, large, strict=True)]
    assert criterion.satisfied(stats).tolist() == expected


@given(groups, st.integers(1, 5))
def test_with_alpha_one_over_l_and_k_equal_to_l_it_is_frequency_l_diversity(some, l):  # noqa: E741
    stats = named(some)
    frequency = FrequencyLDiversity("s", l).satisfied(stats).tolist()
    assert AlphaKAnonymity("s", 1 / l, l).satisfied(stats).tolist() == frequency


def test_one_third_is_one_third():
    for n in range(1, 200):
        assert AlphaKAnonymity("s", 1 / 3, 3).satisfied(named([{"a": n, "b": n, "c": n}])).all()
        assert not AlphaKAnonymity("s", 1 / 3, 3).satisfied(named([{"a": n + 1, "b": n, "c": n}])).any()


def test_the_simple_form_protects_one_value():
    stats = named([{"HIV": 1, "flu": 9}, {"HIV": 2, "flu": 8}, {"flu": 10}])
    assert AlphaKAnonymity("s", 0.1, 10, "HIV").satisfied(stats).tolist() == [True, False, True]
    assert not AlphaKAnonymity("s", 0.1, 10).satisfied(stats).any()


def test_smallest_group():
    assert AlphaKAnonymity("s", 0.3, 2).min_size == 4
    assert AlphaKAnonymity("s", 0.3, 2, "HIV").min_size == 2
    assert AlphaKAnonymity("s", 1 / 3, 2).min_size == 3
    assert AlphaKAnonymity("s", 0.5, 7).min_size == 7


def test_a_value_that_does_not_occur_is_refused():
    domain = named([{"HIV": 1, "flu": 1}]).histograms["s"].domain
    AlphaKAnonymity("s", 0.5, 2, "flu").require_values({"s": domain})
    AlphaKAnonymity("s", 0.5, 2).require_values({"s": domain})
    with pytest.raises(JobError, match=r"E110 'value' of alpha-k-anonymity names 'flue', .* mean 'flu'"):
        AlphaKAnonymity("s", 0.5, 2, "flue").require_values({"s": domain})


def test_words():
    assert AlphaKAnonymity("s", 0.5, 4).asked == "share of every value ≤ 0.5 in groups of at least 4"
    assert AlphaKAnonymity("s", 0.5, 4, "flu").asked == "share of 'flu' ≤ 0.5 in groups of at least 4"
    for alpha in (0, 1.5, -1):
        with pytest.raises(JobError, match="E110"):
            AlphaKAnonymity("s", alpha, 2)
