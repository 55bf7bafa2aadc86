"""Every criterion against the independent checker, group by group, and where floats would go wrong."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from strategies import parent_map, taxonomies
from tarnkappe.criteria.entropy_l_diversity import EntropyLDiversity
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.criteria.recursive_cl_diversity import RecursiveCLDiversity
from tarnkappe.criteria.t_closeness import TCloseness
from tarnkappe.groups import GroupStats
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy


def stats_of(
    groups: list[dict[int, int]], tree: Taxonomy | None = None, table: dict[int, int] | None = None
) -> GroupStats:
    """Statistics of groups given as counts per code of the column ``s``."""
    tree = tree or Taxonomy.scale([f"v{i}" for i in range(max(max(g) for g in groups) + 1)])
    cells = [(g, v, c) for g, group in enumerate(groups) for v, c in group.items()]
    group, value, count = (np.array(column) for column in zip(*cells, strict=True))
    return GroupStats.from_cells(group, count, {"s": (value.astype(np.int32), Domain("s", tree))})


def counts(*per_value: int) -> GroupStats:
    """One group with these counts."""
    return stats_of([dict(enumerate(per_value))])


histograms = st.lists(st.dictionaries(st.integers(0, 5), st.integers(1, 12), min_size=1), min_size=1, max_size=6)


@given(histograms, st.integers(1, 20))
@settings(deadline=None)
def test_k_anonymity(groups, k):
    stats = stats_of(groups)
    sizes = [sum(g.values()) for g in groups]
    assert KAnonymity(k).level(stats).tolist() == sizes
    assert KAnonymity(k).satisfied(stats).tolist() == [n >= k for n in sizes]


@given(histograms, st.integers(1, 6))
@settings(deadline=None)
def test_distinct_l_diversity(groups, l):  # noqa: E741
    stats = stats_of(groups)
    assert LDiversity("s", l).level(stats).tolist() == [len(g) for g in groups]
    assert LDiversity("s", l).satisfied(stats).tolist() == [len(g) >= l for g in groups]


@given(histograms, st.sampled_from([1, 1.5, 2, 2.5, 3, 4, 5]))
@settings(deadline=None)
def test_entropy_l_diversity(groups, l):  # noqa: E741
    stats = stats_of(groups)
    criterion = EntropyLDiversity("s", l)
    assert criterion.level(stats).tolist() == pytest.approx([brute.effective_number(g) for g in groups], rel=1e-13)
    assert criterion.satisfied(stats).tolist() == [brute.has_entropy(g, l) for g in groups]


@given(histograms, st.sampled_from([0.5, 0.7, 1, 1.1, 1.5, 2, 3.3]), st.integers(2, 5))
@settings(deadline=None)
def test_recursive_diversity(groups, c, l):  # noqa: E741
    stats = stats_of(groups)
    criterion = RecursiveCLDiversity("s", c, l)
    expected = [brute.infimum(g, l) for g in groups]
    assert criterion.level(stats).tolist() == [float(e) for e in expected]
    assert criterion.satisfied(stats).tolist() == [e < Fraction(str(c)) for e in expected]


@given(histograms, st.sampled_from([1, 1.1, 1.5, 2, 2.2, 3, 10 / 3, 4.9]))
@settings(deadline=None)
def test_frequency_l_diversity(groups, l):  # noqa: E741
    stats = stats_of(groups)
    criterion = FrequencyLDiversity("s", l)
    shares = [Fraction(max(g.values()), sum(g.values())) for g in groups]
    assert criterion.level(stats).tolist() == [float(s) for s in shares]
    assert criterion.satisfied(stats).tolist() == [s * Fraction(str(float(l))) <= 1 for s in shares]


def some_groups(tree: Taxonomy) -> st.SearchStrategy[list[dict[int, int]]]:
    one = st.dictionaries(st.integers(0, tree.n_leaves - 1), st.integers(1, 9), min_size=1)
    return st.lists(one, min_size=1, max_size=5)


@given(
    taxonomies().flatmap(lambda tree: st.tuples(st.just(tree), some_groups(tree))),
    st.sampled_from(["equal", "ordered", "hierarchical"]),
    st.sampled_from([0, 0.1, 0.125, 0.2, 0.25, 0.3, 0.5, 1]),
)
@settings(deadline=None)
def test_t_closeness(case, distance, t):
    tree, groups = case
    stats = stats_of(groups, tree)
    names = tree.leaves
    named = [{names[v]: c for v, c in g.items()} for g in groups]
    whole: Counter[str] = Counter()
    for g in named:
        whole.update(g)
    if distance == "equal":
        expected = [brute.emd_equal(g, whole) for g in named]
    elif distance == "ordered":
        present = tuple(name for name in names if whole[name])  # a value that nobody has is not in the table's domain
        expected = [brute.emd_ordered(g, whole, present) for g in named]
    else:
        expected = [brute.emd_hierarchical(g, whole, parent_map(tree)) for g in named]
    criterion = TCloseness("s", t, distance)
    assert criterion.level(stats).tolist() == pytest.approx([float(e) for e in expected], rel=1e-14, abs=1e-15)
    assert criterion.satisfied(stats).tolist() == [e <= Fraction(str(float(t))) for e in expected]


class TestExactComparisons:
    """Comparisons on the edge, where a rounding error would let a group through that must not pass."""

    def test_l_equal_values_have_entropy_l(self):
        for l in range(1, 60):  # noqa: E741
            for times in (1, 3, 7, 1000):
                assert EntropyLDiversity("s", l).satisfied(counts(*[times] * l)).all()
            if l > 1:
                assert not EntropyLDiversity("s", l).satisfied(counts(*[1000] * (l - 1), 999)).any()

    def test_shares_of_one_in_l(self):
        for l in range(1, 60):  # noqa: E741
            assert FrequencyLDiversity("s", l).satisfied(counts(*[7] * l)).all()
            if l > 1:
                assert not FrequencyLDiversity("s", l).satisfied(counts(8, *[7] * (l - 1))).any()

    def test_recursive_is_strict(self):
        assert not RecursiveCLDiversity("s", 2.0, 2).satisfied(counts(4, 2)).any()
        assert RecursiveCLDiversity("s", 2.0, 2).satisfied(counts(4, 3)).all()

    @pytest.mark.parametrize(("c", "head", "tail"), [(1.1, 121, 110), (0.07, 7, 100), (2.2, 242, 110), (1.1, 3, 3)])
    def test_recursive_decimals_are_taken_as_written(self, c, head, tail):
        """``head < c * tail`` in decimals: 1.1 * 110 is 121, not the 121.00000000000001 of floats."""
        split = [head] * (tail // head) + ([tail % head] if tail % head else [])
        group = counts(head, *split)
        criterion = RecursiveCLDiversity("s", c, 2)
        expected = head < Fraction(str(c)) * tail
        assert criterion.satisfied(group).tolist() == [expected]
        assert (criterion.level(group) < c).tolist() == [expected]

    @pytest.mark.parametrize("l", [10 / 3, 1.000001, 1.2345678901234567, 7.7])
    @pytest.mark.parametrize("size", [100, 2000, 10**6, 10**9])
    def test_frequency_does_not_overflow(self, l, size):  # noqa: E741
        """One value fills all but one record of the group: no l of more than 1.000001 allows that."""
        group = counts(size, 1)
        share = Fraction(size, size + 1)
        assert FrequencyLDiversity("s", l).satisfied(group).tolist() == [share * Fraction(str(l)) <= 1]

    def test_t_zero_is_satisfied_by_the_table_itself(self):
        for distance in ("equal", "ordered", "hierarchical"):
            groups = [{0: 1, 1: 2, 2: 4}, {0: 3, 1: 6, 2: 12}]
            assert TCloseness("s", 0.0, distance).satisfied(stats_of(groups)).all()


class TestKnowOthers:
    """An attacker who knows the other sensitive column of the target sees smaller groups."""

    def stats(self, *records: tuple[int, int]) -> GroupStats:
        values, number = np.unique(records, axis=0, return_counts=True)
        codes = np.arange(len(values), dtype=np.int32)
        domains = [Domain(name, Taxonomy.scale(["0", "1", "2"])) for name in ("s", "o")]
        return GroupStats.from_cells(
            np.zeros(len(values), np.int32),
            number.astype(np.int64),
            {d.name: (values[:, i].astype(np.int32), d) for i, d in enumerate(domains)},
            joint=(tuple(domains), codes, values.astype(np.int32)),
        )

    def test_a_known_hole(self):
        """Two diverse columns whose combination gives everyone away."""
        stats = self.stats((0, 0), (1, 1), (2, 2))
        for column in ("s", "o"):
            assert LDiversity(column, 3).satisfied(stats).all()
            assert not LDiversity(column, 2, know_others=True).satisfied(stats).any()
            assert LDiversity(column, 2, know_others=True).verdict(stats).reached == 1
        assert KAnonymity(3).satisfied(stats).all()

    def test_independent_columns_are_safe(self):
        stats = self.stats(*[(s, o) for s in range(3) for o in range(3)])
        assert LDiversity("s", 3, know_others=True).satisfied(stats).all()
        assert TCloseness("s", 0.0, know_others=True).satisfied(stats).all()
        assert EntropyLDiversity("o", 3, know_others=True).verdict(stats).reached == pytest.approx(3)

    def test_the_worst_part_decides(self):
        stats = self.stats((0, 0), (1, 0), (0, 1))
        verdict = LDiversity("s", 2, know_others=True).verdict(stats)
        assert (verdict.ok, verdict.reached, verdict.violating_groups) == (False, 1.0, 1)
        assert FrequencyLDiversity("s", 2, know_others=True).verdict(stats).reached == 1.0


class TestWords:
    def test_verdicts(self):
        stats = stats_of([{0: 3, 1: 1}, {0: 1, 1: 1}, {0: 9}])
        verdict = LDiversity("s", 2).verdict(stats)
        assert (verdict.criterion, verdict.column, verdict.asked) == ("l-diversity", "s", "l-diversity ≥ 2")
        assert (verdict.reached, verdict.ok, verdict.violating_groups) == (1.0, False, 1)
        assert KAnonymity(2).verdict(stats).column is None
        assert KAnonymity(2).verdict(stats).ok

    def test_no_groups_reach_nothing(self):
        none = np.zeros(0, np.int32)
        stats = GroupStats.from_cells(none, none.astype(np.int64), {"s": (none, Domain("s", Taxonomy.scale(["a"])))})
        for criterion in (KAnonymity(2), LDiversity("s", 2), TCloseness("s", 0.1), EntropyLDiversity("s", 2)):
            assert math.isnan(criterion.verdict(stats).reached)

    @pytest.mark.parametrize(
        ("criterion", "asked"),
        [
            (KAnonymity(5), "k-anonymity ≥ 5"),
            (LDiversity("s", 3), "l-diversity ≥ 3"),
            (EntropyLDiversity("s", 2.5), "entropy-l-diversity ≥ 2.5"),
            (RecursiveCLDiversity("s", 1.5, 3), "recursive (1.5, 3)-diversity"),
            (FrequencyLDiversity("s", 4), "share of the commonest value ≤ 1/4"),
            (TCloseness("s", 0.2, "ordered"), "ordered EMD ≤ 0.2"),
        ],
    )
    def test_promises_in_short(self, criterion, asked):
        assert criterion.asked == asked

    def test_smallest_groups(self):
        assert KAnonymity(5).min_size == 5
        assert LDiversity("s", 3).min_size == 3
        assert EntropyLDiversity("s", 2.1).min_size == 3
        assert EntropyLDiversity("s", 3).min_size == 3
        assert RecursiveCLDiversity("s", 1.5, 4).min_size == 4
        assert FrequencyLDiversity("s", 2.5).min_size == 3
        assert TCloseness("s", 0.1).min_size == 1

    def test_one_diversity_is_always_satisfied(self):
        assert RecursiveCLDiversity("s", 0.01, 1).satisfied(counts(5)).all()


class TestOrderOfCriteria:
    """Which criteria imply which, as the catalogue of criteria says."""

    @given(histograms, st.sampled_from([2, 3, 4]))
    @settings(deadline=None)
    def test_frequency_implies_entropy_implies_distinct(self, groups, l):  # noqa: E741
        stats = stats_of(groups)
        frequency = FrequencyLDiversity("s", l).satisfied(stats)
        entropy = EntropyLDiversity("s", l).satisfied(stats)
        distinct = LDiversity("s", l).satisfied(stats)
        assert (~frequency | entropy).all()
        assert (~entropy | distinct).all()
        assert (~distinct | KAnonymity(l).satisfied(stats)).all()

    @given(histograms)
    @settings(deadline=None)
    def test_equal_distance_is_the_largest(self, groups):
        stats = stats_of(groups)
        equal = TCloseness("s", 0.1).level(stats)
        assert (TCloseness("s", 0.1, "ordered").level(stats) <= equal + 1e-12).all()
        assert (TCloseness("s", 0.1, "hierarchical").level(stats) <= equal + 1e-12).all()


@pytest.mark.parametrize("distance", ["equal", "ordered", "hierarchical"])
@pytest.mark.parametrize(("more", "ok"), [(-1, True), (1, False)])
def test_t_closeness_at_its_very_limit_is_decided_in_whole_numbers(distance: str, more: int, ok: bool):
    """A group of a thousand million whose distance is 0.3 and 1/(n N) more or less: floats cannot tell it from 0.3."""
    n, total = 10**9, 2 * 10**9 + 1
    work = 3 * n * total // 10 + more  # c N - T n for c records of T with the first value
    c = work * pow(total, -1, n) % n
    t = (c * total - work) // n
    assert Fraction(c, n) - Fraction(t, total) == Fraction(3, 10) + Fraction(more, n * total)
    flat = Taxonomy.from_nested({"*": ["s0", "s1"]})
    stats = stats_of([{0: c, 1: n - c}, {0: t - c, 1: total - t - (n - c)}], flat)
    assert TCloseness("s", 0.3, distance).level(stats)[0] == 0.3
    assert TCloseness("s", 0.3, distance).satisfied(stats)[0] == ok
