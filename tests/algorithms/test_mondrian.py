"""Mondrian: by hand, and the bounds of its authors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies import published_rows, tallies
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


def numeric(name: str, values: list[float], weight: float = 1.0) -> Domain:
    return Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), np.array(values, float), weight=weight)


def table(*columns: tuple[Domain, list[int]], secret: list[int] | None = None) -> Tally:
    s = [] if secret is None else [np.array(secret)]
    domains = [] if secret is None else [Domain("s", Taxonomy.scale([f"s{i}" for i in range(max(secret) + 1)]))]
    return count_cells([np.array(codes) for _, codes in columns], s, [d for d, _ in columns], domains)[0]


def texts(tally: Tally, goal: Goal, cut: str = "strict") -> list[tuple[str | None, ...]]:
    """What every record publishes, sorted."""
    plan = Plan.of(tally, goal, Mondrian(cut).decide(tally, goal, rng=RNG))
    return sorted((t for t, _ in published_rows(plan)), key=str)


def k(number: int) -> Goal:
    return Goal([KAnonymity(number)])


class TestByHand:
    def test_eight_values_halved_twice(self):
        tally = table((numeric("x", list(range(1, 9))), list(range(8))))
        assert texts(tally, k(2)) == [("[1 2]",)] * 2 + [("[3 4]",)] * 2 + [("[5 6]",)] * 2 + [("[7 8]",)] * 2
        assert texts(tally, k(4)) == [("[1 4]",)] * 4 + [("[5 8]",)] * 4
        assert texts(tally, k(5)) == [("[1 8]",)] * 8

    def test_boxes_are_tight(self):
        """What lies between two clusters is not claimed by either."""
        tally = table((numeric("x", [1, 2, 50, 51]), [0, 1, 2, 3]))
        assert texts(tally, k(2)) == [("[1 2]",)] * 2 + [("[50 51]",)] * 2

    def test_the_widest_attribute_is_cut_first(self):
        narrow, wide = numeric("a", [0, 1, 100]), numeric("b", [0, 100])
        tally = table((narrow, [0, 1, 0, 1]), (wide, [0, 0, 1, 1]))
        assert set(texts(tally, k(2))) == {("[0 1]", "0"), ("[0 1]", "100")}

    def test_a_weight_makes_an_attribute_wider(self):
        codes = [0, 0, 1, 1], [0, 1, 0, 1]
        values = [0, 1]
        even = table((numeric("a", values), codes[0]), (numeric("b", values), codes[1]))
        assert set(texts(even, k(2))) == {("0", "0/1"), ("1", "0/1")}  # a tie goes to the first
        heavy = table((numeric("a", values), codes[0]), (numeric("b", values, 2.0), codes[1]))
        assert set(texts(heavy, k(2))) == {("0/1", "0"), ("0/1", "1")}

    def test_below_the_median_is_tried_as_well(self):
        """The median is the largest value: ``x <= median`` leaves nothing on the right, ``x < median`` two and four."""
        tally = table((numeric("x", [1, 2]), [0, 0, 1, 1, 1, 1]))
        assert texts(tally, k(2)) == [("1",)] * 2 + [("2",)] * 4

    def test_the_next_attribute_is_tried_when_the_widest_fails(self):
        tally = table((numeric("a", [0, 100]), [0, 1, 1, 1, 1]), (numeric("b", [0, 1, 9]), [0, 0, 1, 1, 1]))
        assert set(texts(tally, k(2))) == {("[0 100]", "0"), ("100", "1")}

    def test_strict_keeps_equal_values_together(self):
        tally = table((numeric("x", [1, 2]), [0, 1, 1, 1, 1, 1]))
        assert texts(tally, k(2)) == [("[1 2]",)] * 6

    def test_relaxed_divides_them(self):
        tally = table((numeric("x", [1, 2]), [0, 1, 1, 1, 1, 1]))
        assert texts(tally, k(2), "relaxed") == [("2",)] * 3 + [("[1 2]",)] * 3

    def test_a_subtree_is_not_torn_while_another_cut_is_left(self):
        tree = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2", "n3"], "South": ["s1", "s2"]}))
        tally = table((tree, [0, 1, 2, 2, 2, 2, 3, 4]))
        # The median lies inside North; the cut goes between North and South.
        assert texts(tally, k(2)) == [("North",)] * 2 + [("South",)] * 2 + [("n3",)] * 4

    def test_a_cut_must_be_good_for_the_secrets_too(self):
        x = numeric("x", [1, 2, 3, 4])
        goal = Goal([KAnonymity(2), LDiversity("s", 2)])
        assert set(texts(table((x, [0, 1, 2, 3]), secret=[0, 1, 0, 1]), goal)) == {("[1 2]",), ("[3 4]",)}
        assert set(texts(table((x, [0, 1, 2, 3]), secret=[0, 0, 1, 1]), goal)) == {("[1 4]",)}

    def test_missing_values_are_a_value_of_their_own(self):
        x = Domain("x", Taxonomy.scale(["1", "2"]).with_missing("?"), np.array([1, 2, np.nan]), missing=2)
        assert set(texts(table((x, [0, 1, 2, 2])), k(2))) == {("[1 2]",), (None,)}

    def test_a_few_missing_values_do_not_keep_the_others_together(self):
        """One missing value is too few for a group of its own; the numbers can still be told apart."""
        x = Domain(
            "x", Taxonomy.scale([str(i) for i in range(8)]).with_missing("?"), np.array([*range(8), np.nan]), missing=8
        )
        found = set(texts(table((x, list(range(9)))), k(2)))
        assert len(found) >= 3
        assert len(found - {("*",)}) == len(found) - 1

    def test_wildcards_go_with_any_group(self):
        x = Domain(
            "x", Taxonomy.scale(["1", "9"]).with_missing("?"), np.array([1, 9, np.nan]), missing=2, wildcard=True
        )
        assert set(texts(table((x, [0, 0, 1, 1, 2])), k(2))) == {("1",), ("9",)}
        assert set(texts(table((x, [0, 1, 1, 2])), k(2))) == {("1",), ("9",)}

    def test_one_record_is_enough_for_one(self):
        tally = table((numeric("x", [1, 2, 3]), [0, 1, 2]))
        assert texts(tally, k(1)) == [("1",), ("2",), ("3",)]


class TestInfeasible:
    def test_too_few_records(self):
        with pytest.raises(InfeasibleError, match="k-anonymity ≥ 5"):
            Mondrian().decide(table((numeric("x", [1, 2]), [0, 1])), k(5), rng=RNG)

    def test_no_records(self):
        none = np.zeros(0, np.int32)
        tally, _ = count_cells([none], [], [numeric("x", [1])], [])
        with pytest.raises(InfeasibleError):
            Mondrian().decide(tally, k(1), rng=RNG)


def allowed_cut(codes: list[int], number: int, wild: int) -> bool:
    """Whether some threshold leaves `number` records or more on both sides; wildcards go left."""
    known = sorted(c for c in codes if c != wild)
    free = len(codes) - len(known)
    return any(
        known[i - 1] < known[i] and i + free >= number and len(known) - i >= number for i in range(1, len(known))
    )


def members(tally: Tally, grouping: Grouping) -> list[list[list[int]]]:
    """The codes of every record of every group, per attribute."""
    q = tally.quasi.shape[1]
    out: list[list[list[int]]] = [[[] for _ in range(q)] for _ in range(grouping.n_groups)]
    for cell, group, records in zip(grouping.cell, grouping.group, grouping.quota, strict=True):
        for j in range(q):
            out[group][j] += [int(tally.quasi[cell, j])] * int(records)
    return out


@given(tallies(wildcards=False), st.integers(1, 8))
@settings(deadline=None)
def test_strict_groups_cannot_be_cut_any_further(tally, number):
    """Minimal in the sense of the paper: no cut of any group leaves k records on both sides."""
    if tally.n_records < number:
        return
    grouping = Mondrian().decide(tally, k(number), rng=RNG)
    for group in members(tally, grouping):
        assert not any(allowed_cut(codes, number, -1) for codes in group)


@given(tallies(wildcards=False, missing=False), st.integers(2, 8))
@settings(deadline=None)
def test_the_size_of_strict_groups_is_bounded(tally, number):
    """At most 2d(k-1) + m records, where m is the largest number of equal records (LeFevre et al., theorem 2)."""
    if tally.n_records < number:
        return
    grouping = Mondrian().decide(tally, k(number), rng=RNG)
    bound = 2 * tally.quasi.shape[1] * (number - 1) + int(tally.tuple_sizes.max())
    assert all(len(group[0]) <= bound for group in members(tally, grouping))


@given(tallies(wildcards=False), st.integers(2, 8))
@settings(deadline=None)
def test_the_size_of_relaxed_groups_is_bounded(tally, number):
    """At most 2k-1 records, unless all are equal."""
    if tally.n_records < number:
        return
    grouping = Mondrian("relaxed").decide(tally, k(number), rng=RNG)
    for group in members(tally, grouping):
        assert len(group[0]) <= 2 * number - 1 or all(len(set(codes)) == 1 for codes in group)


@given(tallies(wildcards=False), st.integers(1, 5))
@settings(deadline=None)
def test_strict_never_divides_equal_records(tally, number):
    if tally.n_records < number:
        return
    grouping = Mondrian().decide(tally, k(number), rng=RNG)
    assert not grouping.splits_cells
    _, first = np.unique(tally.quasi, axis=0, return_inverse=True)
    first = first.reshape(-1)
    for t in range(first.max() + 1):
        assert len(np.unique(grouping.group[first == t])) == 1


@given(tallies(), st.integers(1, 5), st.sampled_from(["strict", "relaxed"]))
@settings(deadline=None)
def test_chance_plays_no_part(tally, number, cut):
    if tally.n_records < number:
        return
    one = Mondrian(cut).decide(tally, k(number), rng=np.random.default_rng(1))
    two = Mondrian(cut).decide(tally, k(number), rng=np.random.default_rng(2))
    assert np.array_equal(one.group, two.group)
    assert np.array_equal(one.quota, two.quota)
