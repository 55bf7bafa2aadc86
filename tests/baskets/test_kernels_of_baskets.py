"""Kernels on sets against plain Python."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from plain import keeps, support

from grids import examples
from tarnkappe.baskets.apriori import REMOVED, Baskets, apriori
from tarnkappe.baskets.recount import Recount, recount
from tarnkappe.kernels.baskets.chunking import vertical_parts
from tarnkappe.kernels.baskets.clustering import horizontal_parts
from tarnkappe.kernels.baskets.counting import rare_sets, recode
from tarnkappe.kernels.baskets.covering import cheapest_cover
from tarnkappe.taxonomy import Taxonomy

SETS = st.lists(st.sets(st.integers(0, 7), max_size=6), min_size=1, max_size=25)


def packed(sets) -> Baskets:
    codes = [c for s in sets for c in sorted(s)]
    return Baskets(np.append(0, np.cumsum([len(s) for s in sets])).astype(np.int64), np.array(codes, np.int32))


def texts(sets) -> list[set[str]]:
    return [{str(c) for c in s} for s in sets]


@settings(max_examples=examples(200), deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 5))
def test_rare_sets_are_all_that_are_rare(sets, size, k):
    b = packed(sets)
    found = rare_sets(b.starts, b.codes, 8, size, k, 1 << 12)
    expected = {c for c, n in support(texts(sets), size).items() if n < k}
    assert len(found) == len(expected)
    assert {tuple(str(c) for c in row) for row in found.tolist()} == expected


def test_no_more_rare_sets_than_asked_for():
    b = packed([{0, 1, 2, 3}])
    assert rare_sets(b.starts, b.codes, 4, 2, 2, 5).shape == (5, 2)


@settings(max_examples=examples(200), deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 5))
def test_the_recount_agrees_with_plain_python(sets, m, k):
    rows = [(i, c) for i, s in enumerate(texts(sets)) for c in s]
    found = recount(pl.DataFrame(rows, schema={"person": pl.Int64, "item": pl.String}, orient="row"), k, m)
    times = [n for size in range(1, m + 1) for n in support(texts(sets), size).values()]
    assert found == Recount(min(times, default=0), sum(n < k for n in times))


@settings(max_examples=examples(100), deadline=None)
@given(SETS, st.integers(1, 4), st.integers(1, 5))
def test_the_recount_by_sorting_is_the_recount_by_counters(sets, m, k):
    from tarnkappe.baskets import recount as module

    rows = [(i, c) for i, s in enumerate(texts(sets)) for c in s]
    frame = pl.DataFrame(rows, schema={"person": pl.Int64, "item": pl.String}, orient="row")
    usual, block, waiting = recount(frame, k, m), module._BLOCK, module._WAITING
    try:
        module._BLOCK, module._WAITING = 16, 1
        assert recount(frame, k, m) == usual
    finally:
        module._BLOCK, module._WAITING = block, waiting


def test_recoding_drops_and_merges():
    b = packed([{0, 1, 3}, {2}, set(), {1, 2}])
    starts, codes = recode(b.starts, b.codes, np.array([0, 0, -1, 1], np.int32))
    assert (starts.tolist(), codes.tolist()) == ([0, 2, 2, 2, 3], [0, 1, 0])


def test_the_cover_takes_what_settles_most_per_cost():
    sets = np.array([[0, 1], [0, 2], [0, 3]], np.int32)
    each = np.arange(4, dtype=np.int32)
    assert cheapest_cover(sets, each, each, np.ones(4), 4).tolist() == [True, False, False, False]
    dear = np.array([10.0, 1, 1, 1])
    assert cheapest_cover(sets, each, each, dear, 4).tolist() == [False, True, True, True]


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_the_cover_touches_every_set(pairs):
    sets = np.array(pairs, np.int32)
    first, last = np.array([0, 0, 2, 3, 4, 5], np.int32), np.array([5, 1, 2, 3, 4, 5], np.int32)
    taken = cheapest_cover(sets, first, last, np.array([9.0, 2, 1, 1, 1, 1]), 6)
    touched = {v for s in np.flatnonzero(taken) for v in range(first[s], last[s] + 1)}
    assert all(touched & set(pair) for pair in pairs)


TREE = Taxonomy.from_nested({"A": ["0", "1"], "B": {"B1": ["2", "3"], "B2": ["4"]}, "C": ["5", "6", "7"]})


@settings(max_examples=examples(200), deadline=None)
@given(SETS, st.integers(1, 3), st.integers(1, 4), st.sampled_from([(True, False), (False, True), (True, True)]))
def test_apriori_reaches_what_is_asked(sets, m, k, how):
    if sum(map(bool, sets)) < k:
        return
    at = apriori(packed(sets), TREE, k, m, generalise=how[0], remove=how[1])
    assert keeps([{str(at[c]) for c in s if at[c] != REMOVED} for s in sets], k, m)
    for leaf, node in enumerate(at):
        assert TREE.lo[node] <= leaf <= TREE.hi[node] or (node == REMOVED and how[1])
        assert how[0] or node in (REMOVED, TREE.leaf_nodes[leaf])


@settings(max_examples=examples(50), deadline=None)
@given(SETS, st.integers(1, 3))
def test_nothing_is_lost_where_nothing_is_rare(sets, m):
    at = apriori(packed([s for s in sets for _ in range(3)]), TREE, 3, m, generalise=True, remove=False)
    assert np.array_equal(at, TREE.leaf_nodes)


@settings(max_examples=examples(200), deadline=None)
@given(SETS, st.integers(2, 8), st.integers(1, 4))
def test_everybody_is_in_one_cluster_of_k(sets, most, k):
    sets = [s or {0} for s in sets]
    b = packed(sets)
    order, bounds = horizontal_parts(b.starts, b.codes, 8, most, k)
    assert sorted(order.tolist()) == list(range(len(sets)))
    assert (bounds[0], bounds[-1]) == (0, len(sets))
    assert (np.diff(bounds) >= min(k, len(sets))).all()


@settings(max_examples=examples(200), deadline=None)
@given(SETS, st.integers(2, 4), st.integers(1, 3))
def test_chunks_are_safe_and_items_are_in_one(sets, k, m):
    sets = [s or {0} for s in sets]
    b = packed(sets)
    order, bounds = np.arange(len(sets), dtype=np.int32), np.array([0, len(sets)])
    first, item, chunk = vertical_parts(b.starts, b.codes, 8, order, bounds, k, m)
    assert first.tolist() == [0, len(item)]
    assert sorted(item.tolist()) == sorted(set().union(*sets))
    parts = [{str(i) for i, c in zip(item, chunk, strict=True) if c == n} for n in range(1, chunk.max(initial=0) + 1)]
    assert all(parts)
    rows = [[t & part for t in texts(sets) if t & part] for part in parts]
    assert all(keeps(r, k, m) for r in rows)
    if not (chunk == 0).any():
        assert sum(map(len, rows)) >= len(sets) + k * (min(m, len(rows)) - 1)


def test_friends_are_one_cluster():
    """Two kinds of people with nothing in common are never in one cluster, and keep all that they have together."""
    sets = [{0, 1, 2}] * 10 + [{5, 6, 7}] * 10
    b = packed(sets)
    order, bounds = horizontal_parts(b.starts, b.codes, 8, 12, 2)
    kinds = [{order[i] // 10 for i in range(x, y)} for x, y in pairwise(bounds)]
    assert all(len(kind) == 1 for kind in kinds)
    _, _, chunk = vertical_parts(b.starts, b.codes, 8, order, bounds, 2, 2)
    assert set(chunk.tolist()) == {1}
