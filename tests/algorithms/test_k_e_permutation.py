"""(k, e)-permutation: its groups against brute force over all groups that there can be."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from grids import examples
from tarnkappe.algorithms.bucketization.k_e_permutation import KEPermutation, _ends
from tarnkappe.criteria.k_e_anonymity import KEAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.params import bind
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def table(numbers: list[float]) -> Tally:
    """Records with these numbers, no two of them with the same quasi-identifiers."""
    values, codes = np.unique(np.array(numbers, float) + 0.0, return_inverse=True)
    secret = Domain("s", Taxonomy.scale([repr(v) for v in values.tolist()]), values)
    quasi = Domain("q", Taxonomy.scale([str(i) for i in range(len(numbers))]))
    return count_cells([np.arange(len(numbers))], [codes], [quasi], [secret])[0]


def groups_of(numbers: list[float], goal: Goal, minimise: str, seed: int = 0) -> list[list[float]]:
    tally = table(numbers)
    deal = KEPermutation(minimise).deal(tally, goal, rng=np.random.default_rng(seed))
    deal.require_whole(tally)
    assert deal.n_records == len(numbers)
    values = tally.sensitive_domains[0].positions[tally.sensitive[deal.cell, 0]].tolist()
    return [sorted(values[a:b]) for a, b in pairwise(deal.starts.tolist())]


def fine(group: list[float], k: int, e: float) -> bool:
    return len(set(group)) >= k and max(group) - min(group) >= e


def cost(groups: list[list[float]], minimise: str) -> float:
    ranges = [max(g) - min(g) for g in groups]
    return sum(ranges) if minimise == "sum" else max(ranges)


def cut_in_all_ways(numbers: list[float]) -> list[list[list[float]]]:
    """The sorted records cut between any two of them or not."""
    ordered, out = sorted(numbers), []
    for cuts in product([False, True], repeat=len(numbers) - 1):
        edges = [0, *(i + 1 for i, cut in enumerate(cuts) if cut), len(numbers)]
        out.append([ordered[a:b] for a, b in pairwise(edges)])
    return out


def all_partitions(items: list[float]) -> list[list[list[float]]]:
    if not items:
        return [[]]
    out = []
    for rest in all_partitions(items[1:]):
        out.append([[items[0]], *rest])
        out += [[*rest[:i], [items[0], *rest[i]], *rest[i + 1 :]] for i in range(len(rest))]
    return out


numbers = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=10)
asked = st.tuples(st.integers(1, 4), st.integers(0, 8).map(float))


@pytest.mark.parametrize("minimise", ["sum", "max"])
@given(numbers, asked)
@settings(max_examples=examples(400), deadline=None)
def test_no_cut_of_the_sorted_records_is_better(minimise: str, values: list[float], ke: tuple[int, float]):
    k, e = ke
    possible = [groups for groups in cut_in_all_ways(values) if all(fine(g, k, e) for g in groups)]
    goal = Goal([KEAnonymity("s", k, e)])
    if not possible:
        with pytest.raises(InfeasibleError, match="E301"):
            groups_of(values, goal, minimise)
        return
    found = groups_of(values, goal, minimise)
    assert all(fine(g, k, e) for g in found)
    best = min(cost(groups, minimise) for groups in possible)
    assert cost(found, minimise) == best
    # Of equal ways that with the least sum, then that with the most groups.
    equal = [groups for groups in possible if cost(groups, minimise) == best]
    least = min(cost(groups, "sum") for groups in equal)
    assert cost(found, "sum") == least
    if k > 1 or e > 0:  # otherwise equal numbers could be groups by themselves, which helps nobody
        assert len(found) == max(len(groups) for groups in equal if cost(groups, "sum") == least)


@given(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=7), asked)
@settings(max_examples=examples(150), deadline=None)
def test_no_groups_at_all_have_a_smaller_sum(values: list[float], ke: tuple[int, float]):
    k, e = ke
    possible = [groups for groups in all_partitions(values) if all(fine(g, k, e) for g in groups)]
    if possible:
        found = groups_of(values, Goal([KEAnonymity("s", k, e)]), "sum")
        assert cost(found, "sum") == min(cost(groups, "sum") for groups in possible)


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=10), st.integers(1, 3), st.floats(0, 100))
@settings(max_examples=examples(200), deadline=None)
def test_numbers_that_are_no_decimals(values: list[float], k: int, e: float):
    """Differences are then rounded, here and in the brute force alike; sums may be in another order."""
    possible = [groups for groups in cut_in_all_ways(values) if all(fine(g, k, e) for g in groups)]
    if not possible:
        return
    goal = Goal([KEAnonymity("s", k, e)])
    assert cost(groups_of(values, goal, "max"), "max") == min(cost(groups, "max") for groups in possible)
    least = min(cost(groups, "sum") for groups in possible)
    assert cost(groups_of(values, goal, "sum"), "sum") == pytest.approx(least, rel=1e-12, abs=1e-9)


class TestByHand:
    def test_gaps_between_groups_are_what_is_saved(self):
        goal = Goal([KEAnonymity("s", 2, 2)])
        assert groups_of([1, 3, 10, 12, 13, 20, 22], goal, "sum") == [[1, 3], [10, 12, 13], [20, 22]]

    def test_equal_numbers_count_once_towards_k(self):
        goal = Goal([KEAnonymity("s", 3, 0)])
        assert groups_of([5, 5, 5, 6, 7, 8, 9, 9], goal, "sum") == [[5, 5, 5, 6, 7, 8, 9, 9]]

    def test_a_cut_may_go_through_equal_numbers(self):
        goal = Goal([KEAnonymity("s", 3, 0)])
        assert groups_of([5, 6, 7, 7, 7, 7, 8, 9], goal, "sum") == [[5, 6, 7, 7], [7, 7, 8, 9]]
        assert groups_of([5, 6, 7, 8, 9], goal, "sum") == [[5, 6, 7, 8, 9]], "one record cannot be in both"

    def test_the_sum_and_the_maximum_differ(self):
        numbers = [0, 1, 10, 12, 16, 17, 26, 27]
        goal = Goal([KEAnonymity("s", 3, 0)])
        for minimise in ("sum", "max"):
            found = groups_of(numbers, goal, minimise)
            possible = [g for g in cut_in_all_ways(numbers) if all(fine(x, 3, 0) for x in g)]
            assert cost(found, minimise) == min(cost(g, minimise) for g in possible)

    def test_decimals_are_exact(self):
        """0.3 - 0.1 is less than 0.2 in binary."""
        goal = Goal([KEAnonymity("s", 2, 0.2)])
        assert groups_of([0.1, 0.3, 0.5, 0.7], goal, "sum") == [[0.1, 0.3], [0.5, 0.7]]
        assert groups_of([0.1, 0.3, 0.5, 0.7], goal, "max") == [[0.1, 0.3], [0.5, 0.7]]

    def test_l_diversity_asks_for_different_numbers(self):
        goal = Goal([LDiversity("s", 2)])
        assert groups_of([1, 1, 2, 8, 9, 9], goal, "sum") == [[1, 1, 2], [8, 9, 9]]

    def test_both_criteria_together(self):
        goal = Goal([LDiversity("s", 3), KEAnonymity("s", 2, 5)])
        assert groups_of([1, 2, 6, 11, 12, 16, 30], goal, "sum") == [[1, 2, 6], [11, 12, 16, 30]]


def test_large_tables_take_little_time():
    """Many different numbers, each group with hundreds: the windows of the search are wide."""
    rng = np.random.default_rng(1)
    position = np.unique(rng.integers(0, 1 << 40, 300_000))
    count, apart = rng.integers(1, 3, len(position)), np.int64(1 << 30)
    for minimise in ("sum", "max"):
        ends = _ends(position, count, 2, apart, minimise)
        first = np.searchsorted(np.cumsum(count), np.append(0, ends[:-1]), side="right")
        last = np.searchsorted(np.cumsum(count), ends - 1, side="right")
        assert ends[-1] == count.sum()
        assert (position[last] - position[first] >= apart).all()


def test_missing_numbers_are_spread_and_count_for_nothing():
    data = pl.DataFrame({"age": [i % 7 for i in range(64)], "pay": [float(i // 2) for i in range(48)] + [None] * 16})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive={"pay": tk.numeric()},
        criteria=[tk.KEAnonymity("pay", 3, 2)],
        algorithm="k-e-permutation",
    )
    rows = job.anonymize(data, seed=1).table
    groups = rows.group_by("group").agg(pl.col("pay").drop_nulls(), pl.col("pay").null_count().alias("missing"))
    assert groups["missing"].to_list() == [2] * 8
    assert all(fine(pay, 3, 2) for pay in groups["pay"].to_list())


def test_a_missing_number_may_be_one_of_the_different_values():
    data = pl.DataFrame({"age": [1, 2, 3], "pay": [5.0, 5.0, None]})
    job = tk.Job(
        quasi={"age": tk.numeric()},
        sensitive={"pay": tk.numeric()},
        criteria=[tk.LDiversity("pay", 2)],
        algorithm="k-e-permutation",
    )
    assert Counter(job.anonymize(data, seed=1).table["group"]) == {1: 3}


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (tk.EntropyLDiversity("pay", 1.5), "does not decide about entropy-l-diversity"),
        (tk.KAnonymity(2), "cannot promise k-anonymity"),
        (tk.LDiversity("pay", 2, know_others=True), "does not decide about l-diversity"),
        (tk.LDiversity("job", 2), "not declared to hold any"),
    ],
)
def test_what_it_cannot_promise_is_refused(criterion: tk.Criterion, message: str):
    data = pl.DataFrame({"age": [1, 2, 3, 4], "pay": [1, 2, 3, 4], "job": ["a", "b", "a", "b"]})
    with pytest.raises(JobError, match="E111") as caught:
        tk.Job(
            quasi={"age": tk.numeric()},
            sensitive={"pay": tk.numeric(), "job": None},
            criteria=[criterion],
            algorithm="k-e-permutation",
        ).anonymize(data)
    assert message in str(caught.value)


def test_a_range_that_the_whole_table_lacks_is_refused_with_a_way_out():
    data = pl.DataFrame({"age": [1, 2, 3, 4], "pay": [1, 2, 3, 4]})
    with pytest.raises(InfeasibleError, match="E301"):
        tk.Job(
            quasi={"age": tk.numeric()},
            sensitive={"pay": tk.numeric()},
            criteria=[tk.KEAnonymity("pay", 2, 10)],
            algorithm="k-e-permutation",
        ).anonymize(data)


@pytest.mark.parametrize("role", ["keep", "sensitive", "drop"])
def test_a_column_that_passes_through_is_refused_and_the_ways_out_work(role: str):
    """It would be lost without a word: tables follow from the groups, which know nothing of it."""
    data = pl.DataFrame({"age": [1, 2] * 6, "pay": [1, 2, 3, 4] * 3, "flag": ["a", "b", "c"] * 4})
    made = {"keep": [], "drop": [], "sensitive": {"pay": tk.numeric()}}
    made[role] = {**made[role], "flag": None} if role == "sensitive" else ["flag"]
    job = tk.Job(
        quasi={"age": tk.numeric()}, criteria=[tk.KEAnonymity("pay", 2, 1)], algorithm="k-e-permutation", **made
    )
    if role != "keep":
        assert ("flag" in job.anonymize(data, seed=1).table.columns) == (role == "sensitive")
        return
    with pytest.raises(JobError, match="E111") as caught:
        job.anonymize(data)
    assert 'drop=["flag"]' in str(caught.value)
    assert 'sensitive=["flag"]' in str(caught.value)


def test_what_is_made_small_is_one_of_two_things():
    with pytest.raises(JobError, match="E110 'minimise' must be one of sum, max"):
        bind(KEPermutation, {"minimise": "maximum"}, "algorithm")
