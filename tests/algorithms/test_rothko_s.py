"""Rothko-S: its test, its check, and what happens when the sample misleads."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_mr_mondrian import numbers, same_groups

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.multidimensional import rothko_s
from tarnkappe.algorithms.multidimensional.cut_tree import CutTree
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.multidimensional.rothko_s import RothkoS, draw, fewest_in_sample
from tarnkappe.algorithms.multidimensional.rothko_t import RothkoT
from tarnkappe.algorithms.shards import Shards
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.tally import Tally
from tarnkappe.testing import check_grouping


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@settings(max_examples=examples(60))
@given(
    tallies(), goals(know_others=None), st.integers(1, 20), st.integers(1, 40), st.floats(0.05, 1), st.integers(0, 9)
)
def test_the_guarantee_holds_whatever_the_sample(
    tally: Tally, goal: Goal, part_records: int, sample: int, alpha: float, seed: int
):
    algorithm = RothkoS(part_records, shards=2, sample=sample, alpha=alpha)
    try:
        found = algorithm.decide(tally, goal, rng=rng(seed))
    except (InfeasibleError, JobError) as error:
        with pytest.raises(type(error)):
            Mondrian().decide(tally, goal, rng=rng())
        return
    check_grouping("rothko-s", tally, goal, found)


#: No share of a few records is one of these.
LEVELS = [0.0101, 0.0501, 0.3001, 0.9001]


@given(st.integers(1, 40), st.data(), st.sampled_from(LEVELS))
def test_the_exact_test(n: int, data: st.DataObject, alpha: float):
    too_few, drawn = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))

    def at_least(x: int) -> Fraction:
        ways = sum(comb(too_few, i) * comb(n - too_few, drawn - i) for i in range(x, min(too_few, drawn) + 1))
        return Fraction(ways, comb(n, drawn))

    expected = next(x for x in range(1, n + 2) if at_least(x) <= alpha)
    assert fewest_in_sample(n, too_few, drawn, alpha) == expected


def test_numbers_beyond_factorials():
    """100 million records, a sample of 100 000: a side of the sample with 4 records is no accident."""
    assert fewest_in_sample(100_000_000, 9, 100_000, 0.05) == 1
    assert fewest_in_sample(100_000_000, 999, 100_000, 0.05) == 4


def test_a_sample_of_everything_gives_mondrian():
    tally = numbers(3000, 3)
    for goal in (Goal([KAnonymity(4)]), Goal([KAnonymity(4), LDiversity("s", 3)])):
        expected = Mondrian().decide(tally, goal, rng=rng())
        assert same_groups(RothkoS(100, sample=3000).decide(tally, goal, rng=rng()), expected)


def test_a_sample_has_so_many_records_and_no_others():
    tally = numbers(2000, 4, size=8)
    tree = CutTree(tally.quasi_domains, tally.n_records)
    right = tree.cut(np.array([0]), np.array([0]), np.array([4], np.int32), np.array([1000]))[1:]
    sample, n_records = draw(Shards.of(tally, 3), tree, right, 300, rng())
    assert n_records == tally.count[tally.quasi[:, 0] >= 4].sum()
    assert sample.tally.n_records == 300
    assert (sample.tally.quasi[:, 0] >= 4).all()
    where = {(*q, *s): c for q, s, c in zip(tally.quasi.tolist(), tally.sensitive.tolist(), tally.count, strict=True)}
    for q, s, c in zip(sample.tally.quasi.tolist(), sample.tally.sensitive.tolist(), sample.tally.count, strict=True):
        assert 0 < c <= where[(*q, *s)]
    everything, _ = draw(Shards.of(tally, 3), CutTree(tally.quasi_domains, 2000), np.array([0]), 9999, rng())
    assert np.array_equal(everything.tally.count, tally.count)


RECKLESS = RothkoS(20, sample=100, alpha=1.0)


def test_cuts_that_fail_on_all_records_are_undone():
    tally, goal = numbers(2000, 5, size=300), Goal([KAnonymity(60)])
    found = RECKLESS.decide(tally, goal, rng=rng())
    assert found.notes["undone"] > 0
    check_grouping("rothko-s", tally, goal, found)


def test_without_the_check_the_goal_is_violated(monkeypatch: pytest.MonkeyPatch):
    """Break the guarantee on purpose: nothing else stands between a misleading sample and the release."""
    tally, goal = numbers(2000, 5, size=300), Goal([KAnonymity(60)])
    settle = rothko_s.settle
    monkeypatch.setattr(rothko_s, "settle", lambda *args: settle(*args[:4], Goal([KAnonymity(1)]), args[5]))
    with pytest.raises(AssertionError, match="violate the goal"):
        check_grouping("rothko-s", tally, goal, RECKLESS.decide(tally, goal, rng=rng()))


def test_confidence_keeps_cuts():
    """The smaller alpha, the fewer cuts must be undone."""
    tally, goal = numbers(4000, 6, size=300), Goal([KAnonymity(40), LDiversity("s", 5)])

    def undone(alpha: float) -> int:
        found = [RothkoS(30, sample=300, alpha=alpha).decide(tally, goal, rng=rng(seed)) for seed in range(5)]
        return sum(int(grouping.notes["undone"]) for grouping in found)

    assert undone(0.01) < undone(1.0)


def test_few_scans():
    tally, goal = numbers(20_000, 7, size=500), Goal([KAnonymity(5)])
    sampled = RothkoS(400, sample=4000).decide(tally, goal, rng=rng()).notes
    exact = RothkoT(400).decide(tally, goal, rng=rng()).notes
    assert int(sampled["scans"]) <= 4 < int(exact["scans"])
    assert int(sampled["parts"]) > 50
