from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_groups import named

import brute
from tarnkappe import Mondrian
from tarnkappe.criteria.delta_disclosure import DeltaDisclosure
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.testing.algorithms import check_algorithm

BASES = {"binary": 2, "natural": math.e, "decimal": 10}
groups = st.lists(st.dictionaries(st.sampled_from("abc"), st.integers(1, 9), min_size=1), min_size=1, max_size=5)


@given(groups, st.sampled_from([0.5, 1, 1.5, 2]), st.sampled_from(["violates", "skipped"]), st.sampled_from([*BASES]))
def test_as_the_independent_checker_says(some, delta, absent, logarithm):
    whole: dict[str, int] = {}
    for g in some:
        for v, c in g.items():
            whole[v] = whole.get(v, 0) + c
    worst = [brute.ratio(g, whole, absent) for g in some]
    criterion = DeltaDisclosure("s", delta, absent, logarithm)
    level = criterion.level(named(some)).tolist()
    assert level == pytest.approx([math.log(w, BASES[logarithm]) for w in worst], rel=1e-12, abs=1e-15)
    expected = [not brute.discloses(w, delta, logarithm) for w in worst]
    assert criterion.satisfied(named(some)).tolist() == expected


def test_skipping_absent_values_is_not_monotone():
    """(1, 3, 3) and (0, 3, 5) of a table (3, 7, 10), delta = 1, binary (catalogue, section 1)."""
    stats = named([{"a": 1, "b": 3, "c": 3}, {"b": 3, "c": 5}], {"a": 3, "b": 7, "c": 10})
    skipping = DeltaDisclosure("s", 1, "skipped")
    assert skipping.satisfied(stats).all()
    union = stats.pooled(np.zeros(2, np.int32))
    assert not skipping.satisfied(union).any()
    assert skipping.level(union).tolist() == pytest.approx([math.log2(0.15 * 15)])
    assert not skipping.is_monotone
    strict = DeltaDisclosure("s", 1)
    assert strict.is_monotone
    assert strict.satisfied(stats).tolist() == [True, False]


def test_whether_a_goal_is_monotone_depends_on_the_parameter():
    assert Goal([DeltaDisclosure("s", 1)]).monotone
    skipping = Goal([DeltaDisclosure("s", 1, "skipped")])
    assert not skipping.monotone
    check_algorithm(Mondrian(), skipping)  # refuses it, as it must


@pytest.mark.parametrize("logarithm", ["binary", "decimal"])
def test_strict(logarithm):
    """A ratio of exactly base ** delta fails, however often logarithms are rounded."""
    base = BASES[logarithm]
    for delta, n in product((1, 2, 3), (1, 3, 7, 49)):
        factor = base**delta
        table = {"a": n, "b": n * (factor**2 - 1)}  # a has the share 1 / factor ** 2
        reached = {"a": 1, "b": factor - 1}
        below = {"a": 999, "b": 1000 * factor - 999}
        criterion = DeltaDisclosure("s", delta, logarithm=logarithm)
        assert not criterion.satisfied(named([reached], table)).any()
        assert criterion.satisfied(named([below], table)).all()


def test_only_values_of_the_table_can_be_absent():
    """A value that the taxonomy lists but nobody has is not missed."""
    stats = named([{"a": 1, "b": 1}], {"a": 5, "b": 5, "c": 0})
    assert DeltaDisclosure("s", 0.1).satisfied(stats).all()
    assert DeltaDisclosure("s", 0.1).level(stats).tolist() == [0.0]


def test_words():
    assert DeltaDisclosure("s", 1.5).asked == "|binary log of the ratio of shares| < 1.5"
    assert DeltaDisclosure("s", 1, "skipped", "natural").asked == (
        "|natural log of the ratio of shares| < 1, absent values skipped"
    )
    with pytest.raises(JobError, match="E110"):
        DeltaDisclosure("s", 0)
