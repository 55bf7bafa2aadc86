"""The histogram and distance kernels against counters and fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import brute
from strategies import parent_map, taxonomies
from tarnkappe.kernels.histograms import (
    FEW_CODES,
    emd_equal,
    emd_hierarchical,
    emd_ordered,
    group_order,
    recursive_tails,
    reduce_groups,
    run_histogram,
)
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.threads import share_out

cells = st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 5), st.integers(1, 9)), max_size=40)


def columns(case: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    group, code, count = (np.array([row[i] for row in case]) for i in range(3))
    return group.astype(np.int32), code.astype(np.int32), count.astype(np.int64)


@given(cells)
@settings(deadline=None)
def test_group_order_is_a_stable_counting_sort(case):
    group, _, _ = columns(case)
    starts, order = group_order(group, 5)
    for g in range(5):
        assert order[starts[g] : starts[g + 1]].tolist() == [i for i, row in enumerate(case) if row[0] == g]
    assert starts[0] == 0
    assert starts[-1] == len(order) == sum(row[0] >= 0 for row in case)


@pytest.mark.parametrize("apart", [1, 20, FEW_CODES])
@given(case=cells)
@settings(deadline=None)
def test_run_histogram_counts(apart, case):
    case = [(group, apart * code, count) for group, code, count in case]
    group, code, count = columns(case)
    starts, order = group_order(group, 5)
    indptr, codes, counts = run_histogram(starts, code[order], count[order], 5 * apart + 1)
    for g in range(5):
        expected: Counter[int] = Counter()
        for its_group, its_code, its_count in case:
            if its_group == g:
                expected[its_code] += its_count
        run = slice(indptr[g], indptr[g + 1])
        assert dict(zip(codes[run].tolist(), counts[run].tolist(), strict=True)) == dict(expected)
        assert codes[run].tolist() == sorted(expected)
    assert indptr[-1] == len(codes) == len(counts)


@pytest.mark.parametrize("n_codes", [6, 600])
def test_run_histogram_of_many_runs_is_that_of_each(n_codes: int):
    rng = np.random.default_rng(n_codes)
    starts = np.append(0, np.cumsum(rng.integers(0, 200, 1000)))
    code = rng.integers(0, n_codes, starts[-1]).astype(np.int32)
    weight = rng.integers(1, 9, starts[-1])
    indptr, codes, counts = run_histogram(starts, code, weight, n_codes, share_out)
    for g in range(1000):
        run = slice(starts[g], starts[g + 1])
        expected = np.bincount(code[run], weight[run], n_codes)
        assert codes[indptr[g] : indptr[g + 1]].tolist() == np.flatnonzero(expected).tolist()
        assert counts[indptr[g] : indptr[g + 1]].tolist() == expected[expected > 0].tolist()
    assert indptr[-1] == len(codes) == len(counts)


histogram_lists = st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=6), max_size=8)


@given(histogram_lists, st.integers(1, 7))
@settings(deadline=None)
def test_recursive_tails_sum_from_a_rank_on(groups, rank):
    indptr = np.cumsum([0, *map(len, groups)])
    counts = np.array([c for g in groups for c in g], np.int64)
    expected = [sum(sorted(g, reverse=True)[rank - 1 :]) for g in groups]
    assert recursive_tails(indptr, counts, rank).tolist() == expected


@given(histogram_lists)
def test_reduce_groups_applies_within_each_run(groups):
    indptr = np.cumsum([0, *map(len, groups)])
    counts = np.array([c for g in groups for c in g], np.int64)
    assert reduce_groups(np.maximum, counts, indptr).tolist() == [max(g) for g in groups]
    assert reduce_groups(np.add, counts, indptr).tolist() == [sum(g) for g in groups]


@st.composite
def tables(draw: st.DrawFn, n_values: int) -> tuple[list[dict[int, int]], dict[int, int]]:
    """Groups, and a table that is their sum or any other with more of everything."""
    groups = draw(
        st.lists(st.dictionaries(st.integers(0, n_values - 1), st.integers(1, 40), min_size=1), min_size=1, max_size=5)
    )
    whole = Counter(draw(st.dictionaries(st.integers(0, n_values - 1), st.integers(1, 40))))
    for g in groups:
        whole.update(g)
    return groups, dict(whole)


def arrays(groups: list[dict[int, int]], whole: dict[int, int], n_values: int) -> tuple[np.ndarray, ...]:
    indptr = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    codes = np.array([v for g in groups for v in sorted(g)], np.int32)
    counts = np.array([g[v] for g in groups for v in sorted(g)], np.int64)
    size = np.array([sum(g.values()) for g in groups], np.int64)
    return indptr, codes, counts, size, np.array([whole.get(v, 0) for v in range(n_values)], np.int64)


def assert_exact(found: np.ndarray, expected: list[Fraction]) -> None:
    assert found.tolist() == pytest.approx([float(e) for e in expected], rel=1e-14, abs=1e-15)
    # A distance of nothing is exactly nothing, so t = 0 can be asked for.
    assert [f == 0 for f in found] == [e == 0 for e in expected]


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), tables(n))))
@settings(deadline=None)
def test_equal_distance(case):
    n, (groups, whole) = case
    assert_exact(emd_equal(*arrays(groups, whole, n)), [brute.emd_equal(g, whole) for g in groups])


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(st.just(n), tables(n))))
@settings(deadline=None)
def test_ordered_distance(case):
    n, (groups, whole) = case
    present = [v for v in range(n) if whole.get(v)]  # a value that nobody has is not in the table's domain
    assert_exact(emd_ordered(*arrays(groups, whole, n)), [brute.emd_ordered(g, whole, present) for g in groups])


@given(taxonomies().flatmap(lambda tree: st.tuples(st.just(tree), tables(tree.n_leaves))))
@settings(deadline=None)
def test_hierarchical_distance(case):
    tree, (groups, whole) = case
    found = emd_hierarchical(*arrays(groups, whole, tree.n_leaves), tree.parent, tree.leaf_nodes, tree.node_heights)
    named = [{tree.leaves[v]: c for v, c in h.items()} for h in (*groups, whole)]
    assert_exact(found, [brute.emd_hierarchical(g, named[-1], parent_map(tree)) for g in named[:-1]])


def test_a_single_value_is_at_no_distance():
    one = arrays([{0: 3}], {0: 5}, 1)
    alone = Taxonomy.from_parents(["only"], [-1])
    assert emd_equal(*one).tolist() == [0.0]
    assert emd_ordered(*one).tolist() == [0.0]
    assert emd_hierarchical(*one, alone.parent, alone.leaf_nodes, alone.node_heights).tolist() == [0.0]


#: Products of two counts reach 10**14 and sums of 500 of them 5 * 10**16: integers must not wrap around.
N, M = 10_000_000, 500
BIG_TREE = Taxonomy.from_nested(
    {f"f{i}": {f"f{i}.{j}": [f"f{i}.{j}.{k}" for k in range(5)] for j in range(10)} for i in range(10)}
)
BIG_GROUPS = ("the first value", "the last value", "half the values", "all values")


def big_group(which: str) -> tuple[tuple[np.ndarray, ...], dict[str, int], dict[str, int]]:
    """Ten million records in one group, and ten million of 500 values in the table."""
    rng = np.random.default_rng(1)
    whole = rng.multinomial(N - M, rng.dirichlet(np.ones(M))) + 1
    group = np.zeros(M, np.int64)
    if which == "the first value":
        group[0] = N
    elif which == "the last value":
        group[-1] = N
    elif which == "half the values":
        group[: M // 2] = N // (M // 2)
    else:
        group[:] = rng.permutation(whole)
    assert group.sum() == whole.sum() == N
    named = [{BIG_TREE.leaves[i]: int(c) for i, c in enumerate(h) if c} for h in (group, whole)]
    counts = {i: int(c) for i, c in enumerate(group) if c}
    return arrays([counts], {i: int(c) for i, c in enumerate(whole)}, M), named[0], named[1]


@pytest.mark.parametrize("which", BIG_GROUPS)
def test_ten_million_records_do_not_overflow(which: str):
    csr, group, whole = big_group(which)
    equal = brute.emd_equal(group, whole)
    ordered = brute.emd_ordered(group, whole, BIG_TREE.leaves)
    hierarchical = brute.emd_hierarchical(group, whole, parent_map(BIG_TREE))
    assert emd_equal(*csr)[0] == pytest.approx(float(equal), rel=1e-12)
    assert emd_ordered(*csr)[0] == pytest.approx(float(ordered), rel=1e-12)
    found = emd_hierarchical(*csr, BIG_TREE.parent, BIG_TREE.leaf_nodes, BIG_TREE.node_heights)
    assert found[0] == pytest.approx(float(hierarchical), rel=1e-12)


def test_ten_thousand_million_records_are_counted():
    starts, order = group_order(np.zeros(1000, np.int32), 1)
    counts = np.full(1000, 10**7, np.int64)
    indptr, _, summed = run_histogram(starts, (np.arange(1000) % 2).astype(np.int32)[order], counts[order], 2)
    assert summed.tolist() == [5 * 10**9, 5 * 10**9]
    assert recursive_tails(indptr, summed, 1).tolist() == [10**10]
