from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named, numeric

import brute
from tarnkappe import Job
from tarnkappe import numeric as numbers
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.errors import JobError
from tarnkappe.schema import Column
from tarnkappe.taxonomy import intervals

number = st.one_of(st.integers(-5, 5), st.integers(-50, 50).map(lambda n: n / 10), st.sampled_from([1 / 3, 2 / 3]))
groups = st.lists(
    st.dictionaries(st.one_of(number.map(float), st.none()), st.integers(1, 3), min_size=1), min_size=1, max_size=5
)


@given(groups, st.integers(1, 4), st.sampled_from([0, 0.1, 0.2, 0.3, 1, 2.5, 5]))
def test_as_the_independent_checker_says(some, k, e):
    stats = numeric(some, missing=True)
    expected = [brute.spread(g, k) for g in some]
    assert KEAnonymity("s", k, e).level(stats).tolist() == pytest.approx([float(x) for x in expected])
    if stats.histograms["s"].domain.decimals is not None:
        assert KEAnonymity("s", k, e).satisfied(stats).tolist() == [x >= brute.exact(e) for x in expected]


def test_differences_of_decimals_are_exact():
    """0.3 - 0.1 is 0.2, and not the 0.19999999999999998 of floats."""
    stats = numeric([{0.1: 1, 0.3: 1}, {0.6: 1, 0.8: 1}, {0.1: 1, 0.29: 1}])
    assert KEAnonymity("s", 2, 0.2).satisfied(stats).tolist() == [True, True, False]
    assert KEAnonymity("s", 2, 0.2).level(stats).tolist() == [0.2, 0.2, 0.19]


def test_duplicates_count_once_and_missing_values_not_at_all():
    stats = numeric([{1: 5, 9: 1}, {1: 1, 2: 1, 9: 1}, {1: 1, 9: 1, None: 4}, {None: 3}], missing=True)
    assert KEAnonymity("s", 3, 5).satisfied(stats).tolist() == [False, True, False, False]
    assert KEAnonymity("s", 2, 8).satisfied(stats).tolist() == [True, True, True, False]
    assert KEAnonymity("s", 1, 0).level(stats).tolist() == [8, 8, 8, -math.inf]


def test_numbers_of_many_places_are_compared_as_floats():
    third = 1 / 3
    stats = numeric([{third: 1, 2 * third: 1}])
    assert stats.histograms["s"].domain.decimals is None
    assert KEAnonymity("s", 2, third).satisfied(stats).all()
    assert not KEAnonymity("s", 2, np.nextafter(third, 1)).satisfied(stats).any()


def test_smallest_group():
    assert KEAnonymity("s", 4, 10).min_size == 4
    assert KEAnonymity("s", 1, 10).min_size == 2
    assert KEAnonymity("s", 1, 0).min_size == 1


@pytest.mark.parametrize("column", [Column("s", "sensitive"), Column("s", "sensitive", "numeric", intervals(5))])
def test_a_column_without_numbers_is_refused(column):
    with pytest.raises(JobError, match="E111 k-e-anonymity measures by the numbers of 's'") as error:
        Job(quasi={"age": numbers()}, columns=[column], criteria=[KEAnonymity("s", 2, 10)])
    assert error.value.hint == "s: {role: sensitive, type: numeric}"


def test_names_are_refused_wherever_they_come_from():
    with pytest.raises(JobError, match="E111"):
        KEAnonymity("s", 2, 10).satisfied(named([{"a": 1, "b": 1}]))


def test_words():
    assert KEAnonymity("s", 3, 1000).asked == "range ≥ 1000 with at least 3 different numbers"
