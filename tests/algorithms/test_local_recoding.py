"""Local recodings by hand, and what all of them promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import brute_meets, goals, published_rows, tallies
from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.bottom_up_greedy import BottomUpGreedy
from tarnkappe.algorithms.local.k_member import KMember
from tarnkappe.algorithms.local.oka import OneKMeans
from tarnkappe.algorithms.local.pool import Pool, divide, settle
from tarnkappe.algorithms.local.progressive_local_recoding import ProgressiveLocalRecoding
from tarnkappe.algorithms.local.top_down_greedy import TopDownGreedy
from tarnkappe.algorithms.steps.units import deal_out, project, ruler_of, select, tidy, tuples_of
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

ALL = [KMember, OneKMeans, BottomUpGreedy, TopDownGreedy, ProgressiveLocalRecoding]
RNG = np.random.default_rng(0)


def numeric(name: str, values: list[float]) -> Domain:
    return Domain(name, Taxonomy.scale([f"{v:g}" for v in values]), np.array(values, float))


def table(*columns: tuple[Domain, list[int]], secret: list[int] | None = None) -> Tally:
    s = [] if secret is None else [np.array(secret)]
    domains = [] if secret is None else [Domain("s", Taxonomy.scale([f"s{i}" for i in range(max(secret) + 1)]))]
    return count_cells([np.array(codes) for _, codes in columns], s, [d for d, _ in columns], domains)[0]


def texts(algorithm: LocalRecoding, tally: Tally, goal: Goal) -> list[tuple[str | None, ...]]:
    """What every record publishes, sorted."""
    plan = Plan.of(tally, goal, algorithm.decide(tally, goal, rng=np.random.default_rng(0)))
    return sorted((t for t, _ in published_rows(plan)), key=str)


def k(number: int) -> Goal:
    return Goal([KAnonymity(number)])


def pool_of(tally: Tally, goal: Goal) -> Pool:
    return Pool(tally, goal, goal.table_distributions(tally), ruler_of(tally.quasi_domains))


@pytest.mark.parametrize("algorithm", [cls(swaps=s) for cls in ALL for s in (0, 3)], ids=str)
class TestByHand:
    def test_clusters_on_a_line(self, algorithm):
        x = numeric("x", [1, 2, 30, 31, 60, 61, 98, 99])
        found = texts(algorithm, table((x, list(range(8)))), k(2))
        assert found == [(label,) for label in ("[1 2]", "[30 31]", "[60 61]", "[98 99]") for _ in range(2)]

    def test_what_satisfies_the_goal_stays_as_it_is(self, algorithm):
        x = numeric("x", [1, 5, 9])
        assert (
            texts(algorithm, table((x, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2])), k(3))
            == [("1",)] * 3 + [("5",)] * 4 + [("9",)] * 3
        )

    def test_taxonomies_are_followed(self, algorithm):
        city = Domain("city", Taxonomy.from_nested({"North": ["n1", "n2"], "South": ["s1", "s2"]}))
        assert texts(algorithm, table((city, [0, 1, 2, 3])), k(2)) == [("North",)] * 2 + [("South",)] * 2

    def test_records_left_over_join_the_nearest_group(self, algorithm):
        x = numeric("x", [1, 2, 3, 50, 51])
        assert texts(algorithm, table((x, list(range(5)))), k(2)) == [("[1 3]",)] * 3 + [("[50 51]",)] * 2

    def test_secrets_are_mixed(self, algorithm):
        x = numeric("x", [1, 2, 3, 4, 5, 6, 7, 8])
        tally = table((x, list(range(8))), secret=[0, 0, 1, 1, 0, 0, 1, 1])
        goal = Goal([LDiversity("s", 2)])
        grouping = algorithm.decide(tally, goal, rng=RNG)
        assert grouping.n_groups >= 2
        assert goal.satisfied(goal.stats(tally, grouping)).all()

    def test_columns_that_the_goal_does_not_see_do_not_matter(self, algorithm):
        """Six equal records with different secrets are one combination for k-anonymity."""
        tally = table((numeric("x", [1, 2]), [0] * 6), secret=[0, 1, 2, 3, 4, 5])
        grouping = algorithm.decide(tally, k(3), rng=RNG)
        assert np.array_equal(np.bincount(grouping.cell, grouping.quota, 6), tally.count)

    def test_too_few_records(self, algorithm):
        with pytest.raises(InfeasibleError):
            algorithm.decide(table((numeric("x", [1, 2]), [0, 1])), k(3), rng=RNG)

    def test_no_records(self, algorithm):
        tally, _ = count_cells([np.zeros(0, np.int32)], [], [numeric("x", [1])], [])
        with pytest.raises(InfeasibleError):
            algorithm.decide(tally, k(1), rng=RNG)

    def test_wildcards_fit_anywhere(self, algorithm):
        x = Domain(
            "x", Taxonomy.scale(["1", "9"]).with_missing("?"), np.array([1, 9, np.nan]), missing=2, wildcard=True
        )
        assert set(texts(algorithm, table((x, [0, 1, 1, 2])), k(2))) == {("1",), ("9",)}


@given(tallies(max_records=40), goals(), st.sampled_from(ALL), st.sampled_from([0, 2]), st.integers(0, 99))
@settings(deadline=None, max_examples=examples(150))
def test_what_is_published_keeps_the_promise(tally, goal, cls, swaps, seed):
    """Judged by the independent checker of published rows."""
    algorithm = cls(swaps=swaps)
    try:
        grouping = algorithm.decide(tally, goal, rng=np.random.default_rng(seed))
    except InfeasibleError:
        together = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        assert not goal.satisfied(goal.stats(tally, together)).all()
        return
    assert np.array_equal(np.bincount(grouping.cell, grouping.quota, tally.n_cells), tally.count)
    assert grouping.suppressed == 0
    rows = published_rows(Plan.of(tally, goal, grouping))
    assert len(rows) == tally.n_records
    assert all(brute_meets(rows, criterion, tally) for criterion in goal.criteria)


@pytest.mark.parametrize("cls", [KMember, OneKMeans, BottomUpGreedy, ProgressiveLocalRecoding])
def test_chance_plays_no_part(cls):
    rng = np.random.default_rng(5)
    tally = table((numeric("x", list(range(50))), rng.integers(0, 50, 200).tolist()))
    one, two = (cls().decide(tally, k(7), rng=np.random.default_rng(seed)) for seed in (1, 2))
    assert np.array_equal(one.group, two.group)
    assert np.array_equal(one.quota, two.quota)


class TestSteps:
    @given(tallies(max_records=40), goals(), st.integers(1, 12), st.integers(0, 99))
    @settings(deadline=None)
    def test_settled_groups_satisfy_the_goal(self, tally, goal, n, seed):
        pool = pool_of(tally, goal)
        if not pool.satisfied(pool.together()).all():
            return
        group = np.random.default_rng(seed).integers(-1, n, tally.n_cells)
        used, number = np.unique(group[group >= 0], return_inverse=True)
        group[group >= 0] = number
        settled = settle(pool, Grouping.of_cells(tally, group.astype(np.int32), len(used)))
        assert pool.satisfied(settled).all()
        assert settled.group.min() >= 0
        assert np.array_equal(np.unique(settled.group), np.arange(settled.n_groups))

    @given(tallies(max_records=40), goals())
    @settings(deadline=None)
    def test_divided_groups_satisfy_the_goal_and_lose_no_more(self, tally, goal):
        pool = pool_of(tally, goal)
        if not pool.satisfied(pool.together()).all():
            return
        divided = divide(pool, pool.together(), np.ones(1, np.bool_))
        assert pool.satisfied(divided).all()
        assert pool.loss(divided) <= pool.loss(pool.together()) + 1e-9

    def test_the_cheapest_merge_comes_first(self):
        """1 | 3 | 9 | 10 11: for k = 2, 1 and 3 are merged, then 9 joins [10 11]."""
        tally = table((numeric("x", [1, 3, 9, 10, 11]), list(range(5))))
        settled = settle(pool_of(tally, k(2)), Grouping.of_cells(tally, np.array([0, 1, 2, 3, 3], np.int32), 4))
        assert settled.group.tolist() == [0, 0, 1, 1, 1]


class TestUnits:
    @given(tallies(n_sensitive=2), st.data())
    @settings(deadline=None)
    def test_what_is_dealt_out_was_projected(self, tally, data):
        goal = Goal([LDiversity("s1", 1)])
        seen, owner = project(tally, goal)
        assert [d.name for d in seen.sensitive_domains] == ["s1"]
        assert np.array_equal(np.bincount(owner, tally.count, seen.n_cells), seen.count)
        assert np.array_equal(seen.quasi[owner], tally.quasi)
        assert np.array_equal(seen.sensitive[owner, 0], tally.sensitive[:, 1])
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        half = rng.integers(0, seen.count + 1)
        cells = np.arange(seen.n_cells, dtype=np.int32)
        pieces = [(cells, np.zeros_like(cells), half), (cells, np.ones_like(cells), seen.count - half)]
        cell, group, quota = (np.concatenate(a) for a in zip(*pieces, strict=True))
        grouping = tidy(cell[quota > 0], group[quota > 0], quota[quota > 0], 2)
        dealt = deal_out(tally, owner, grouping)
        assert np.array_equal(np.bincount(dealt.cell, dealt.quota, tally.n_cells), tally.count)
        assert np.all(np.diff(dealt.cell) >= 0)
        for g in range(2):
            before = np.bincount(grouping.cell, grouping.quota * (grouping.group == g), seen.n_cells)
            after = np.bincount(owner[dealt.cell], dealt.quota * (dealt.group == g), seen.n_cells)
            assert np.array_equal(before, after)

    def test_pieces_are_put_together(self):
        tidied = tidy(np.array([1, 0, 1, 1], np.int32), np.array([0, -1, 0, 1], np.int32), np.array([1, 2, 3, 4]), 2)
        assert tidied.cell.tolist() == [0, 1, 1]
        assert tidied.group.tolist() == [-1, 0, 1]
        assert tidied.quota.tolist() == [2, 4, 4]

    def test_parts_and_combinations(self):
        tally = table((numeric("x", [1, 2, 3]), [0, 0, 1, 2, 2]), secret=[0, 1, 0, 0, 1])
        assert tuples_of(tally).tolist() == [0, 0, 1, 2, 2]
        part, cells = select(tally, np.array([False, True, False, True, False]))
        assert cells.tolist() == [1, 3]
        assert part.quasi[:, 0].tolist() == [0, 2]
        assert part.n_records == 2
