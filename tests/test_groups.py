"""Groupings and group statistics against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from strategies import groupings, tallies
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, GroupStats, Histogram, JointHistogram
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy

grouped = tallies(n_sensitive=2).flatmap(lambda tally: st.tuples(st.just(tally), groupings(tally)))


def rows_of(tally: Tally, grouping: Grouping) -> list[brute.Row]:
    """Every published record as (group, sensitive codes)."""
    return [
        ((int(g),), tuple(tally.sensitive[c].tolist()))
        for c, g, n in zip(grouping.cell, grouping.group, grouping.quota, strict=True)
        for _ in range(n)
        if g != SUPPRESSED
    ]


def counters(h: Histogram | JointHistogram) -> list[dict[object, int]]:
    """One dictionary per group."""
    runs = [slice(a, b) for a, b in zip(h.indptr[:-1], h.indptr[1:], strict=True)]
    if isinstance(h, Histogram):
        return [dict(zip(h.codes[r].tolist(), h.counts[r].tolist(), strict=True)) for r in runs]
    return [{tuple(h.values[c].tolist()): int(n) for c, n in zip(h.codes[r], h.counts[r], strict=True)} for r in runs]


def same(one: GroupStats, two: GroupStats) -> bool:
    assert one.histograms.keys() == two.histograms.keys()
    return (
        one.size.tolist() == two.size.tolist()
        and all(counters(one.histograms[c]) == counters(two.histograms[c]) for c in one.histograms)
        and all(np.array_equal(one.histograms[c].table, two.histograms[c].table) for c in one.histograms)
        and counters(one.joint) == counters(two.joint)
    )


@given(grouped)
@settings(deadline=None)
def test_statistics_are_those_of_the_records(case):
    tally, grouping = case
    stats = GroupStats.of(tally, grouping, ["s0", "s1"], joint=True)
    rows = rows_of(tally, grouping)
    per_group: list[list[tuple[int, ...]]] = [[] for _ in range(grouping.n_groups)]
    for (g,), values in rows:
        per_group[g].append(values)
    assert stats.size.tolist() == [len(g) for g in per_group]
    assert stats.n_groups == grouping.n_groups
    for s, column in enumerate(("s0", "s1")):
        h = stats.histograms[column]
        assert counters(h) == [Counter(v[s] for v in g) for g in per_group]
        whole = Counter(v[s] for _, v in rows)  # the baseline is what is published
        assert h.table.tolist() == [whole[v] for v in range(h.domain.size)]
    assert counters(stats.joint) == [Counter(g) for g in per_group]
    assert stats.joint.columns == ("s0", "s1")


@given(grouped, st.sampled_from(["s0", "s1"]))
@settings(deadline=None)
def test_refined_groups_are_divided_by_what_the_attacker_knows(case, column):
    tally, grouping = case
    stats = GroupStats.of(tally, grouping, ["s0", "s1"], joint=True)
    parts, owner = stats.refined(column)
    own = int(column[1])
    expected: dict[tuple[int, int], Counter[int]] = {}
    for (g,), values in rows_of(tally, grouping):
        expected.setdefault((g, values[1 - own]), Counter())[values[own]] += 1
    assert counters(parts.histograms[column]) == [expected[key] for key in sorted(expected)]
    assert owner.tolist() == [g for g, _ in sorted(expected)]
    assert parts.size.tolist() == [sum(expected[key].values()) for key in sorted(expected)]
    assert np.array_equal(parts.histograms[column].table, stats.histograms[column].table)


def test_refining_by_nothing_changes_nothing():
    tally, _ = count_cells([np.array([0, 0, 1])], [np.array([0, 1, 1])], [domain("q", 2)], [domain("s", 2)])
    stats = GroupStats.of(tally, Grouping.of_cells(tally, np.array([0, 0, 1]), 2), ["s"], joint=True)
    parts, owner = stats.refined("s")
    assert owner.tolist() == [0, 1]
    assert counters(parts.histograms["s"]) == counters(stats.histograms["s"])


@given(grouped, st.data())
@settings(deadline=None)
def test_pooling_equals_the_statistics_of_the_whole(case, data):
    tally, grouping = case
    if not grouping.n_groups:
        return
    into = dense(data.draw(st.lists(st.integers(0, 3), min_size=grouping.n_groups, max_size=grouping.n_groups)))
    pooled = GroupStats.of(tally, grouping, ["s0", "s1"], joint=True).pooled(into)
    whole = GroupStats.of(tally, grouping.relabel(into, int(into.max()) + 1), ["s0", "s1"], joint=True)
    assert same(pooled, whole)


@given(grouped, st.data())
@settings(deadline=None)
def test_pooling_is_associative_and_commutative(case, data):
    tally, grouping = case
    n = grouping.n_groups
    if not n:
        return
    stats = GroupStats.of(tally, grouping, ["s0", "s1"], joint=True)
    first = dense(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    m = int(first.max()) + 1
    second = dense(data.draw(st.lists(st.integers(0, 2), min_size=m, max_size=m)))
    assert same(stats.pooled(first).pooled(second), stats.pooled(second[first]))  # (a+b)+c = a+(b+c)
    order = np.array(data.draw(st.permutations(range(n))), np.int32)
    shuffled = stats.pooled(order)  # group g is now number order[g]
    assert same(shuffled.pooled(first[np.argsort(order)]), stats.pooled(first))  # a+b = b+a


def dense(labels: list[int]) -> np.ndarray:
    """Renumber without gaps: pooled groups are never empty."""
    return np.unique(labels, return_inverse=True)[1].astype(np.int32)


def domain(name: str, size: int) -> Domain:
    return Domain(name, Taxonomy.scale([f"{name}{i}" for i in range(size)]))


def small_tally() -> Tally:
    codes = np.array([0, 1, 2, 3, 3])
    return count_cells([codes], [codes % 2], [domain("q", 4)], [domain("s", 2)])[0]


def test_a_baseline_can_be_given():
    tally = small_tally()
    grouping = Grouping.of_cells(tally, np.array([0, 0, -1, -1]), 1)
    table = np.array([7, 9])
    assert GroupStats.of(tally, grouping, ["s"]).histograms["s"].table.tolist() == [1, 1]
    assert GroupStats.of(tally, grouping, ["s"], tables={"s": table}).histograms["s"].table is table


def test_suppressed_groups_are_counted_and_the_rest_renumbered():
    tally = small_tally()
    grouping = Grouping.of_cells(tally, np.array([0, 1, 1, 2]), 3)
    kept = grouping.without(np.array([False, True, False]))
    assert kept.group.tolist() == [0, SUPPRESSED, SUPPRESSED, 1]
    assert (kept.n_groups, kept.suppressed) == (2, 2)
    again = kept.without(np.array([True, False]))
    assert again.group.tolist() == [SUPPRESSED, SUPPRESSED, SUPPRESSED, 0]
    assert again.suppressed == 3


def test_relabelling_keeps_what_groups_publish():
    tally = small_tally()
    node = np.array([[4], [0], [1]], np.int32)
    grouping = Grouping.of_cells(tally, np.array([0, 1, 1, 2]), 3, Boxes.of_nodes(node, tally.quasi_domains))
    swapped = grouping.relabel(np.array([2, 0, 1], np.int32), 3)
    assert swapped.group.tolist() == [2, 0, 0, 1]
    assert swapped.fixed.node.tolist() == [[0], [1], [4]]
    assert grouping.without(np.array([False, True, False])).fixed.node.tolist() == [[4], [1]]


def test_divided_cells_are_noticed():
    tally = small_tally()
    assert not Grouping.of_cells(tally, np.zeros(4, np.int32), 1).splits_cells
    cell, group = np.array([0, 1, 2, 3, 3], np.int32), np.array([0, 0, 1, 0, 1], np.int32)
    assert Grouping(cell, group, np.ones(5, np.int64), 2).splits_cells
    nothing = np.zeros(0, np.int32)
    assert not Grouping(nothing, nothing, nothing.astype(np.int64), 0).splits_cells


@pytest.mark.parametrize(
    ("cell", "group", "quota", "why"),
    [
        ([1, 0], [0, 0], [1, 1], "not sorted"),
        ([0, 1, 0], [0, 0, 1], [1, 1, 1], "not sorted"),
        ([0, 1], [0, 1], [1, 1], "does not exist"),
        ([0, 1], [0, -2], [1, 1], "does not exist"),
        ([0, 1], [0, 0], [1, -1], "fewer than no records"),
        ([0, 1], [0, 0], [1], "different lengths"),
    ],
)
def test_what_is_no_grouping_cannot_be_made(cell, group, quota, why):
    with pytest.raises(VerificationError, match=f"E502.*{why}"):
        Grouping(np.array(cell, np.int32), np.array(group, np.int32), np.array(quota), 1)


def test_pieces_in_any_order_can_be_sorted():
    grouping = Grouping.sorted_by_cell(np.array([2, 0, 2]), np.array([1, 0, 0]), np.array([5, 6, 7]), 2)
    assert (grouping.cell.tolist(), grouping.group.tolist(), grouping.quota.tolist()) == (
        [0, 2, 2],
        [0, 1, 0],
        [6, 5, 7],
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda g: replace(g, quota=g.quota + 1), "lost or invented"),
        (lambda g: replace(g, quota=np.maximum(g.quota - 1, 1)), "lost or invented"),
        (lambda g: replace(g, cell=g.cell[1:], group=g.group[1:], quota=g.quota[1:]), "lost or invented"),
        (lambda g: replace(g, cell=g.cell + 1), "does not exist"),
        (lambda g: replace(g, quota=g.quota * 0), "without records"),
    ],
)
def test_a_plan_takes_only_what_holds_every_record_once(change, why):
    tally = small_tally()
    grouping = Grouping.of_cells(tally, np.zeros(4, np.int32), 1)
    assert Plan.of(tally, Goal([KAnonymity(1)]), grouping).n_groups == 1
    with pytest.raises(VerificationError, match=why):
        Plan.of(tally, Goal([KAnonymity(1)]), change(grouping))


@given(grouped)
@settings(deadline=None)
def test_boxes_are_tight_and_publish_the_lowest_node(case):
    tally, grouping = case
    boxes = grouping.boxes(tally)
    assert boxes.n_groups == grouping.n_groups
    for g in range(grouping.n_groups):
        cells = grouping.cell[grouping.group == g]
        for j, d in enumerate(tally.quasi_domains):
            codes = [c for c in tally.quasi[cells, j].tolist() if not (d.wildcard and c == d.missing)]
            if not codes:
                assert boxes.lo[g, j] > boxes.hi[g, j]
                assert boxes.node[g, j] == d.taxonomy.leaf_nodes[d.missing]
                continue
            assert (boxes.lo[g, j], boxes.hi[g, j]) == (min(codes), max(codes))
            node, tree = boxes.node[g, j], d.taxonomy
            assert tree.lo[node] <= min(codes)
            assert max(codes) <= tree.hi[node]
            if d.sets:
                assert boxes.members[j][g] == sum(1 << c for c in set(codes))
            below = [v for v in range(tree.n_nodes) if v and tree.parent[v] == node]
            assert not any(tree.lo[v] <= min(codes) and max(codes) <= tree.hi[v] for v in below)


def test_fixed_nodes_cover_all_their_leaves():
    tree = Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    tally, _ = count_cells([np.array([0, 3])], [], [Domain("q", tree)], [])
    node = np.array([[tree.labels.index("A")], [tree.labels.index("*")]], np.int32)
    boxes = Grouping.of_cells(tally, np.array([0, 1]), 2, Boxes.of_nodes(node, tally.quasi_domains)).boxes(tally)
    assert boxes.lo.tolist() == [[0], [0]]
    assert boxes.hi.tolist() == [[1], [3]]


def test_no_groups():
    stats = GroupStats.from_cells(
        np.zeros(0, np.int32), np.zeros(0, np.int64), {"s": (np.zeros(0, np.int32), domain("s", 2))}
    )
    assert stats.n_groups == 0
    assert stats.histograms["s"].table.tolist() == [0, 0]
    assert stats.pooled(np.zeros(0, np.int32)).n_groups == 0


def test_the_joint_distribution_must_be_there_to_be_used():
    tally = small_tally()
    with pytest.raises(AssertionError, match="joint"):
        GroupStats.of(tally, Grouping.of_cells(tally, np.zeros(4, np.int32), 1), ["s"]).refined("s")


def test_boxes_without_sets_cover_all_between_their_ends():
    """Joined with boxes that have sets; the ends 0 and 63 use all bits of a word."""
    ends = [(0, 63), (0, 0), (63, 63), (5, 7), (3, 2), (0, 62)]
    lo, hi = (np.array([[pair[i]] for pair in ends], np.int32) for i in (0, 1))
    plain = Boxes(lo, hi, np.zeros((len(ends), 1), np.int32), {})
    sets = Boxes(lo[:1], hi[:1], np.zeros((1, 1), np.int32), {0: np.array([5], np.uint64)})
    found = Boxes.joined([sets, plain]).members[0].tolist()
    assert found == [5, *(sum(1 << v for v in range(low, high + 1)) for low, high in ends)]
