"""The kernels of top-down specialisation against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.subtree.specialising import (
    ANYWHERE,
    NO_PART,
    SINGLY,
    TOGETHER,
    part_groups,
    smallest_side,
    weigh_groups,
)

LEAVES = 6


@st.composite
def groups_of_cells(draw: st.DrawFn):
    """Cells of one column with six leaves, in some groups that are runs of an order."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    rows = rng.integers(0, LEAVES, (n, 1)).astype(np.int32)
    count = rng.integers(1, 5, n).astype(np.int64)
    order = rng.permutation(n).astype(np.int32)
    bounds = np.unique(np.r_[0, n, rng.integers(0, n + 1, 3)])
    return rows, count, order, bounds[:-1].astype(np.int64), bounds[1:].astype(np.int64)


@given(groups_of_cells(), st.lists(st.integers(0, LEAVES - 1), min_size=LEAVES, max_size=LEAVES))
def test_pieces_are_the_cells_of_each_group_by_slot(table, slots):
    rows, count, order, start, stop = table
    slot = np.array(slots, np.int32)
    before = [sorted(order[a:b]) for a, b in zip(start, stop, strict=True)]
    groups = np.arange(len(start))
    owner, begin, end, size = part_groups(groups, rows, 0, slot, count, order, start, stop)
    assert [sorted(order[a:b]) for a, b in zip(start, stop, strict=True)] == before
    expected = []
    for g, cells in enumerate(before):
        for s in sorted({slot[rows[c, 0]] for c in cells}):
            members = [c for c in cells if slot[rows[c, 0]] == s]
            expected.append((g, members, sum(count[c] for c in members)))
    found = [(int(g), sorted(order[a:b]), int(n)) for g, a, b, n in zip(owner, begin, end, size, strict=True)]
    assert found == expected


def sides(sizes: Counter[int], mode: int) -> dict[int, list[int]]:
    """The parts that each candidate makes of a group, given the records per slot."""
    total = sum(sizes.values())
    if mode == TOGETHER:
        return {0: list(sizes.values())}
    if mode == SINGLY:
        return {s: [n, total - n] for s, n in sizes.items()} if len(sizes) > 1 else {}
    cuts = {leaf: sum(n for s, n in sizes.items() if s <= leaf) for leaf in range(LEAVES)}
    return {leaf: [left, total - left] for leaf, left in cuts.items() if 0 < left < total}


@given(groups_of_cells(), st.integers(1, 8), st.sampled_from([TOGETHER, SINGLY, ANYWHERE]))
def test_weights_are_the_sums_over_groups(table, min_size, mode):
    rows, count, order, start, stop = table
    slot = np.arange(LEAVES, dtype=np.int32) if mode == ANYWHERE else np.array([0, 0, 2, 2, 2, 5], np.int32)
    lost, freed = np.zeros(LEAVES, np.int64), np.zeros(LEAVES)
    least = np.full(LEAVES, NO_PART)
    given_groups = (rows, count, order, start, stop, np.full(LEAVES, mode, np.int8), slot, np.zeros(LEAVES, np.int32))
    groups, columns = np.arange(len(start)), np.array([0])
    weigh_groups(groups, columns, 1, *given_groups, min_size, lost, freed, least)
    expected_lost, expected_freed, expected_least = Counter(), Counter(), {}
    for a, b in zip(start, stop, strict=True):
        sizes = Counter()
        for c in order[a:b]:
            sizes[int(slot[rows[c, 0]])] += int(count[c])
        for candidate, parts in sides(sizes, mode).items():
            expected_lost[candidate] += sum(n for n in parts if n < min_size)
            expected_freed[candidate] += sum(parts) ** 2 - sum(n**2 for n in parts)
            expected_least[candidate] = min([NO_PART, expected_least.get(candidate, NO_PART), *parts])
    if mode == ANYWHERE:
        sums = np.cumsum(lost), np.cumsum(freed)
    else:
        sums = lost, freed
        if min_size == 1:
            assert {c: n for c, n in enumerate(least) if n < NO_PART} == expected_least
    assert [expected_lost[c] for c in range(LEAVES)] == sums[0].tolist()
    assert [expected_freed[c] for c in range(LEAVES)] == sums[1].tolist()
    weigh_groups(groups, columns, -1, *given_groups, min_size, lost, freed, least)
    assert not lost.any()
    assert not freed.any()


@given(groups_of_cells(), st.integers(0, LEAVES - 1), st.integers(1, 8))
def test_smallest_side(table, last, min_size):
    rows, count, order, start, stop = table
    parts = []
    for a, b in zip(start, stop, strict=True):
        left = sum(int(count[c]) for c in order[a:b] if rows[c, 0] <= last)
        parts += [left, sum(int(count[c]) for c in order[a:b]) - left]
    expected = min([n for n in parts if n >= min_size], default=NO_PART)
    assert smallest_side(np.arange(len(start)), rows, 0, last, count, order, start, stop, min_size) == expected
