from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named

import brute
from grids import some
from tarnkappe.criteria.beta_likeness import BetaLikeness
from tarnkappe.errors import JobError

groups = st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1), min_size=1, max_size=5)


@given(groups, st.sampled_from([0.1, 0.5, 1, 1.3, 4, 20]), st.sampled_from(["basic", "enhanced"]))
def test_as_the_independent_checker_says(some, beta, form):
    stats = named(some)
    whole: dict[str, int] = {}
    for g in some:
        for v, c in g.items():
            whole[v] = whole.get(v, 0) + c
    expected = [brute.gain(g, whole, beta, form) for g in some]
    criterion = BetaLikeness("s", beta, form)
    assert criterion.level(stats).tolist() == pytest.approx([float(e) for e in expected], rel=1e-12, abs=1e-15)
    assert criterion.satisfied(stats).tolist() == [e <= brute.exact(beta) for e in expected]


@pytest.mark.parametrize("published", some([(0.1, 0.3303), (0.5, 0.8466), (0.01, 0.05)], every=3))
def test_caps_of_the_enhanced_form(published):
    q, cap = published
    """How common a value may be in a group at beta = 4 (catalogue, section 2.7)."""
    n = 10_000
    table = {"a": int(q * n), "b": n - int(q * n)}
    criterion = BetaLikeness("s", 4)
    most = max(p for p in range(1, n + 1) if criterion.satisfied(named([{"a": p, "b": n - p}], table)).all())
    assert most == math.floor(n * q * (1 + min(4, -math.log(q))) + 1e-9)
    assert most / n == pytest.approx(cap, abs=1e-4)


def test_the_basic_form_lets_a_common_value_fill_a_group():
    stats = named([{"a": 7}], {"a": 5, "b": 5})
    assert BetaLikeness("s", 1, "basic").satisfied(stats).all()
    assert not BetaLikeness("s", 1).satisfied(stats).any()


def test_the_edge_belongs_to_it():
    """A gain of exactly beta: 0.1 of the table, 0.3 of the group, beta = 2; 0.7 is taken as written too."""
    assert BetaLikeness("s", 2, "basic").satisfied(named([{"a": 3, "b": 7}], {"a": 10, "b": 90})).all()
    assert BetaLikeness("s", 0.7, "basic").satisfied(named([{"a": 17, "b": 83}], {"a": 10, "b": 90})).all()
    assert not BetaLikeness("s", 0.7, "basic").satisfied(named([{"a": 18, "b": 83}], {"a": 10, "b": 90})).any()


def test_losses_are_free():
    stats = named([{"b": 50, "c": 50}], {"a": 10, "b": 45, "c": 45})
    assert BetaLikeness("s", 0.2).satisfied(stats).all()
    assert BetaLikeness("s", 0.2).level(stats).tolist() == pytest.approx([0.05 / 0.45])


def test_the_table_itself_always_satisfies_it():
    for form in ("basic", "enhanced"):
        criterion = BetaLikeness("s", 1e-9, form)
        assert criterion.satisfied(named([{"a": 1, "b": 5}], {"a": 2, "b": 10})).all()
        assert criterion.satisfied(named([{"a": 3}], {"a": 30})).all()
        assert criterion.level(named([{"a": 3}], {"a": 30})).tolist() == [0.0]


def test_a_value_that_the_table_lacks():
    stats = named([{"a": 1, "b": 1}], {"a": 2})
    for form in ("basic", "enhanced"):
        assert BetaLikeness("s", 100, form).level(stats).tolist() == [math.inf]
        assert not BetaLikeness("s", 100, form).satisfied(stats).any()


def test_words():
    assert BetaLikeness("s", 2).asked == "enhanced gain ≤ 2"
    assert BetaLikeness("s", 2).compares_with_table
    with pytest.raises(JobError, match="E110"):
        BetaLikeness("s", 0)
