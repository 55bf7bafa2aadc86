"""Goals: exact budgets, what they need, and errors that help."""

from __future__ import annotations

import re
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, groupings, tallies
from tarnkappe.algorithms.fulldomain.datafly import Datafly
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

K5 = KAnonymity(5)


def table(quasi: list[int], secret: list[int]) -> Tally:
    q = Domain("q", Taxonomy.scale([f"q{i}" for i in range(max(quasi) + 1)]))
    s = Domain("s", Taxonomy.scale([f"s{i}" for i in range(max(secret) + 1)]))
    return count_cells([np.array(quasi)], [np.array(secret)], [q], [s])[0]


@pytest.mark.parametrize("percent", range(101))
def test_a_percentage_of_a_hundred_records_is_that_many(percent):
    assert Goal([K5], percent / 100).budget(100) == percent


@pytest.mark.parametrize(
    ("share", "n", "records"),
    [(0.29, 100, 29), (0.57, 100, 57), (0.1, 30162, 3016), (0.02, 30162, 603), (0.001, 10**9, 10**6), (1, 7, 7)],
)
def test_budgets_are_exact(share, n, records):
    assert Goal([K5], share).budget(n) == records


@given(st.decimals(0, 1, places=6), st.integers(0, 10**12))
def test_a_budget_is_never_rounded_up_or_lost(share, n):
    assert Goal([K5], float(share)).budget(n) == int(share * Decimal(n))


def test_a_goal_needs_a_criterion():
    with pytest.raises(JobError) as caught:
        Goal([])
    assert caught.value.code == "E106"
    assert "k-anonymity: {k: 5}" in caught.value.hint


@pytest.mark.parametrize("share", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_suppression_limit_is_a_share(share):
    with pytest.raises(JobError, match="between 0 and 1") as caught:
        Goal([K5], share)
    assert caught.value.code == "E110"


def test_what_a_goal_needs_to_know():
    goal = Goal([TCloseness("b", 0.2), K5, LDiversity("a", 7), LDiversity("b", 2)])
    assert goal.columns == ("b", "a")
    assert goal.min_size == 7
    assert goal.monotone
    assert not goal.joint
    assert not goal.decided_by_size
    assert Goal([LDiversity("a", 2, know_others=True)]).joint
    assert Goal([K5, KAnonymity(9)]).decided_by_size
    assert Goal([K5, KAnonymity(9)]).min_size == 9


@given(tallies(n_sensitive=2).flatmap(lambda t: st.tuples(st.just(t), groupings(t))), goals(know_others=None))
@settings(deadline=None, max_examples=examples(50))
def test_satisfied_means_every_criterion_is(case, goal):
    tally, grouping = case
    stats = goal.stats(tally, grouping)
    ok = goal.satisfied(stats)
    assert ok.tolist() == [all(row) for row in zip(*(c.satisfied(stats) for c in goal.criteria), strict=True)]
    verdicts = goal.verdicts(stats)
    if grouping.n_groups:
        assert all(v.ok for v in verdicts) == bool(ok.all())
    for v, c in zip(verdicts, goal.criteria, strict=True):
        assert v.violating_groups == int((~c.satisfied(stats)).sum())
        assert (v.criterion, v.column, v.asked) == (c.name, c.sensitive_column, c.asked)


def test_the_distribution_of_the_whole_table():
    tally = table([0, 1, 1, 2], [0, 2, 2, 2])
    tables = Goal([LDiversity("s", 2)]).table_distributions(tally)
    assert {name: counts.tolist() for name, counts in tables.items()} == {"s": [1, 0, 3]}
    assert Goal([K5]).table_distributions(tally) == {}


class TestInfeasible:
    def test_says_what_the_whole_table_reaches(self):
        error = Goal([KAnonymity(10), LDiversity("s", 2)]).infeasible(table([0, 1, 2], [0, 1, 2]))
        assert isinstance(error, InfeasibleError)
        assert error.code == "E301"
        assert "k-anonymity ≥ 10" in error.message
        assert "l-diversity" not in error.message, "that one holds"
        assert error.details == ("All 3 records in one group reach 3; asked: k-anonymity ≥ 10.",)
        assert "- k-anonymity: {k: 3}   (all 3 records in one group satisfy it" in error.hint

    def test_names_the_column(self):
        error = Goal([EntropyLDiversity("s", 2.5)]).infeasible(table([0] * 4, [0, 0, 1, 2]))
        assert "reach 2.828" not in "".join(error.details)  # it is satisfied: 2.83 is more than 2.5
        error = Goal([EntropyLDiversity("s", 3)]).infeasible(table([0] * 4, [0, 0, 1, 2]))
        assert error.details[0].startswith("All 4 records in one group reach 2.828 on 's'")

    def test_says_how_much_suppression_would_do(self):
        error = Goal([K5], 0.01).infeasible(table([0] * 30, [0] * 30), suppressed=2)
        assert "A release is found if 2 records (6.7 %) are suppressed, allowed are 0 (1.0 %)." in error.details
        assert "suppressed_rows: 6.7%" in error.hint

    def test_no_release_is_only_said_if_it_is_proved(self):
        """Of a value that 3 of 4 records have, 2 may be left out: then it fills no more than half of a group."""
        common = table([0] * 4, [0, 0, 0, 1])
        half = FrequencyLDiversity("s", 2)
        for limit, proved in ((0.0, True), (0.2, True), (0.5, False)):
            error = Goal([half], limit).infeasible(common)
            assert error.message.startswith("no release satisfies" if proved else "no release was found")
            assert any("2 records may be left out" in line for line in error.details) != proved
        never = Goal([LDiversity("s", 3), half], 0.9).infeasible(common)
        assert never.message.startswith("no release satisfies"), "fewer records have no more values"

    @given(st.integers(1, 5000), st.data())
    def test_the_suggested_limit_is_enough(self, n, data):
        suppressed = data.draw(st.integers(0, n - 1))
        error = Goal([KAnonymity(1)]).infeasible(table([0] * n, [0] * n), suppressed)
        percent = re.search(r"suppressed_rows: ([\d.]+)%", error.hint).group(1)
        share = float(Decimal(percent) / 100)
        assert Goal([K5], min(share, 1.0)).budget(n) >= suppressed

    def test_an_empty_table_has_no_level(self):
        empty = Tally(np.zeros((0, 1), np.int32), np.zeros((0, 0), np.int32), np.zeros(0, np.int64), (), ())
        error = Goal([K5]).infeasible(empty)
        assert error.details == ()
        assert "weaken a criterion" in error.hint

    def test_does_not_suggest_to_suppress_everything(self):
        """A release of no records is never made, so this hint would not work when pasted."""
        tally = table([0, 1, 2], [0, 1, 2])
        with pytest.raises(InfeasibleError) as caught:
            Datafly().decide(tally, Goal([K5]), rng=np.random.default_rng(0))
        assert "100%" not in caught.value.hint


def test_goals_compare_by_what_they_ask():
    assert Goal([K5], 0.1) == Goal([KAnonymity(5)], 0.1)
    assert Goal([K5]) != Goal([K5], 0.1)
    assert hash(Goal([K5])) == hash(Goal([KAnonymity(5)]))


def test_a_group_too_small_is_not_asked_about_its_secrets():
    tally = table([0, 1, 1], [0, 1, 2])
    grouping = Grouping.of_cells(tally, np.array([0, 1, 1]), 2)
    goal = Goal([KAnonymity(2), LDiversity("s", 2)])
    assert goal.satisfied(goal.stats(tally, grouping)).tolist() == [False, True]


def test_the_limit_that_was_asked_for_has_all_its_digits():
    """12.3 % would be exceeded by a release that keeps the limit of 12.345 %."""
    assert Goal([KAnonymity(2)], 0.12345).asked.endswith("at most 12.345 % rows removed")
    assert Goal([KAnonymity(2)], 0.0004).asked.endswith("at most 0.04 % rows removed")
