"""InfoGain Mondrian: by hand, and against plain Mondrian."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import published_rows, tallies
from tarnkappe.algorithms.multidimensional.infogain_mondrian import InfoGainMondrian
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

RNG = np.random.default_rng(0)


def numeric(name: str, values: list[float]) -> Domain:
    return Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), np.array(values, float))


CLASSES = Domain("class", Taxonomy.scale(["no", "yes"]), aside=True)


def table(columns: list[tuple[Domain, list[int]]], target: Domain, labels: list[int]) -> Tally:
    codes = [np.array(c) for _, c in columns]
    return count_cells(codes, [np.array(labels)], [d for d, _ in columns], [target])[0]


def texts(tally: Tally, goal: Goal, target: str = "class") -> set[tuple[str | None, ...]]:
    plan = Plan.of(tally, goal, InfoGainMondrian(target).decide(tally, goal, rng=RNG))
    return {t for t, _ in published_rows(plan)}


def k(number: int) -> Goal:
    return Goal([KAnonymity(number)])


class TestByHand:
    def test_the_cut_follows_the_classes_and_not_the_median(self):
        """Classes change between 3 and 4: information gain cuts there, Mondrian at the median 5."""
        x = numeric("x", [1, 2, 3, 4, 5, 6, 7, 8, 9])
        tally = table([(x, list(range(9)))], CLASSES, [0, 0, 0, 1, 1, 1, 1, 1, 1])
        assert texts(tally, k(3)) == {("[1 3]",), ("[4 6]",), ("[7 9]",)}
        assert texts(table([(x, list(range(9)))], CLASSES, [0] * 2 + [1] * 7), k(4)) == {("[1 4]",), ("[5 9]",)}

    def test_the_column_that_tells_most_is_cut(self):
        noise, signal = numeric("noise", [0, 100]), numeric("signal", [0, 1])
        tally = table([(noise, [0, 1, 0, 1]), (signal, [0, 0, 1, 1])], CLASSES, [0, 0, 1, 1])
        assert texts(tally, k(2)) == {("[0 100]", "0"), ("[0 100]", "1")}

    def test_the_gain_of_a_cut_in_bits(self):
        """Four of each class; the cut 3 + 1 | 1 + 3 gains 1 - H(1/4) = 0.189 bits a record, the other column none."""
        good, bad = numeric("good", [0, 1]), numeric("bad", [0, 1])
        labels = [0, 0, 0, 1, 1, 1, 1, 0]
        tally = table([(bad, [0, 1, 0, 1, 0, 1, 0, 1]), (good, [0, 0, 0, 0, 1, 1, 1, 1])], CLASSES, labels)
        assert texts(tally, k(4)) == {("0/1", "0"), ("0/1", "1")}

    def test_numbers_are_a_regression(self):
        """Squared deviations fall most between 2 and 90, far from the median."""
        income = Domain("income", Taxonomy.scale(["1", "2", "90"]), np.array([1.0, 2.0, 90.0]), aside=True)
        x = numeric("x", [1, 2, 3, 4, 5, 6])
        tally = table([(x, list(range(6)))], income, [0, 1, 0, 1, 2, 2])
        assert texts(tally, k(2), "income") >= {("[5 6]",)}
        assert texts(tally, k(3), "income") == {("[1 3]",), ("[4 6]",)}

    def test_missing_numbers_do_not_count(self):
        """All cuts between 1 and 90 part them fully, wherever the two missing ones go; the most even one is made."""
        tree = Taxonomy.scale(["1", "90"]).with_missing("?")
        income = Domain("income", tree, np.array([1.0, 90.0, np.nan]), missing=2, aside=True)
        x = numeric("x", [1, 2, 3, 4, 5, 6])
        tally = table([(x, list(range(6)))], income, [0, 0, 2, 2, 1, 1])
        assert texts(tally, k(2), "income") == {("[1 3]",), ("[4 6]",)}

    def test_a_pure_group_is_cut_on_at_the_median_of_the_widest_column(self):
        x = numeric("x", [1, 2, 3, 4])
        assert texts(table([(x, [0, 1, 2, 3])], CLASSES, [0] * 4), k(2)) == {("[1 2]",), ("[3 4]",)}

    def test_a_cut_that_the_goal_forbids_is_not_made(self):
        """The best cut would leave one class on each side; diversity of the same column forbids it."""
        x = numeric("x", [1, 2, 3, 4])
        goal = Goal([LDiversity("class", 2)])
        assert texts(table([(x, [0, 1, 2, 3])], CLASSES, [0, 0, 1, 1]), goal) == {("[1 4]",)}
        assert texts(table([(x, [0, 1, 2, 3])], CLASSES, [0, 1, 0, 1]), goal) == {("[1 2]",), ("[3 4]",)}

    def test_subtrees_are_kept_while_another_cut_is_allowed(self):
        city = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2", "n3"], "South": ["s1", "s2"]}))
        tally = table([(city, [0, 0, 1, 2, 3, 4])], CLASSES, [0, 0, 1, 1, 1, 1])
        assert texts(tally, k(2)) == {("n1",), ("North",), ("South",)}

    def test_too_few_records(self):
        with pytest.raises(InfeasibleError):
            texts(table([(numeric("x", [1]), [0])], CLASSES, [0]), k(2))


def classes_in_groups(tally: Tally, grouping: Grouping) -> float:
    """The share of records that have the commonest class of their group."""
    counts = np.zeros((grouping.n_groups, tally.sensitive_domains[0].size))
    np.add.at(counts, (grouping.group, tally.sensitive[grouping.cell, 0]), grouping.quota)
    return float(counts.max(axis=1).sum() / tally.n_records)


def test_groups_predict_the_target_better_than_mondrians():
    rng = np.random.default_rng(1)
    n = 2000
    columns = [rng.integers(0, 40, n) for _ in range(3)]
    label = (columns[1] > 12).astype(int) ^ (rng.random(n) < 0.1)
    domains = [numeric(name, list(range(40))) for name in "abc"]
    tally, _ = count_cells(columns, [label], domains, [CLASSES])
    found = [a.decide(tally, k(50), rng=rng) for a in (InfoGainMondrian("class"), Mondrian())]
    share, plain = (classes_in_groups(tally, grouping) for grouping in found)
    assert share > 0.89
    assert share > plain


@given(tallies(), st.integers(1, 6))
@settings(deadline=None)
def test_no_group_can_be_cut_any_further(tally, number):
    """Every group of 2k records or more has no threshold that leaves k on both sides; wildcards go left."""
    if tally.n_records < number:
        return
    grouping = InfoGainMondrian("s0").decide(tally, k(number), rng=RNG)
    assert not grouping.splits_cells
    for g in range(grouping.n_groups):
        cells = grouping.cell[grouping.group == g]
        for j, domain in enumerate(tally.quasi_domains):
            codes, records = tally.quasi[cells, j], tally.count[cells]
            known = codes != (domain.missing if domain.wildcard else -1)
            for cut in np.unique(codes[known])[1:]:
                right = int(records[known & (codes >= cut)].sum())
                assert right < number or records.sum() - right < number
