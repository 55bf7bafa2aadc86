"""The kernels of full-domain search against plain loops."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.kernels.fulldomain.lattice import roll_up, small_classes, suppressed_costs, suppressed_gaps
from tarnkappe.kernels.histograms import largest_remainder


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(deadline=None, max_examples=examples(60))
def test_roll_up(seed: int, exact: bool):
    """Classes are pooled exactly where the chosen rows agree in every column."""
    rng = np.random.default_rng(seed)
    n, columns, levels = int(rng.integers(1, 60)), 3, 2
    values = rng.integers(0, 4, (columns, levels, n))
    # Key parts: exact ones do not overlap between columns; inexact ones collide on purpose.
    parts = np.zeros((1 + columns * levels, n), np.int64)
    for j in range(columns):
        for level in range(levels):
            parts[1 + j * levels + level] = values[j, level] * (5**j if exact else 1)
    node = rng.integers(0, levels, columns)
    rows = (1 + np.arange(columns) * levels + node).astype(np.int32)
    some = np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False)).astype(np.int32)
    size = rng.integers(1, 9, len(some)).astype(np.int64)
    slots = np.full(256, -1, np.int32)
    into, tuple_of, new_size = roll_up(some, size, parts, rows, exact, parts, rows, slots)
    assert (slots == -1).all()
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, t in enumerate(some):
        groups[tuple(int(values[j, node[j], t]) for j in range(columns))].append(i)
    assert len(tuple_of) == len(groups)
    for members in groups.values():
        (c,) = {int(into[i]) for i in members}
        assert new_size[c] == size[members].sum()
        assert tuple_of[c] == some[members[0]]


def test_small_classes():
    ok, records = small_classes(np.array([5, 2, 0, 4], np.int64), 4)
    assert ok.tolist() == [True, False, True, True]
    assert records == 2


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=examples(40))
def test_costs_of_suppression(seed: int):
    rng = np.random.default_rng(seed)
    n, d, leaves, levels = int(rng.integers(1, 20)), 2, 4, 3
    quasi = rng.integers(0, leaves, (n, d)).astype(np.int32)
    costs, charges = rng.random((d * levels, leaves)), rng.random((d, leaves))
    size, ok = rng.integers(1, 6, n).astype(np.int64), rng.random(n) < 0.5
    rows = (np.arange(d) * levels + rng.integers(0, levels, d)).astype(np.int32)
    tuples = np.arange(n, dtype=np.int32)
    found = suppressed_costs(ok, tuples, size, quasi, costs, rows, charges)
    for j in range(d):
        lost = [t for t in range(n) if not ok[t]]
        expected = sum(size[t] * (charges[j, quasi[t, j]] - costs[rows[j], quasi[t, j]]) for t in lost)
        assert found[j] == pytest.approx(expected)
    into = rng.integers(0, 3, n).astype(np.int32)
    whole = np.bincount(into, weights=size, minlength=3).astype(np.int64)
    gone = np.array([0, whole[1], whole[2] // 2], np.int64)
    first = (np.arange(d + 1) * levels).astype(np.int32)
    added = suppressed_gaps(gone, whole, into, size, quasi, costs, first)
    for j in range(d):
        for row in range(first[j], first[j + 1]):
            exact = sum(size[t] * costs[row, quasi[t, j]] for t in range(n) if into[t] == 1)
            least = min((costs[row, quasi[t, j]] for t in range(n) if into[t] == 2), default=0.0)
            assert added[row] == pytest.approx(exact + gone[2] * least)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=5).filter(any), st.floats(0, 0.9), st.integers(0, 1000))
@example([1, 1, 1, 1], 0.0, 36)  # shares that add up to hardly less than 1
@settings(deadline=None, max_examples=examples(100))
def test_largest_remainder(counts: list[int], t: float, seed: int):
    """No choice of records that is closer than t is larger; found by trying every size."""
    table = np.random.default_rng(seed).integers(1, 9, len(counts))
    share = table / table.sum()
    codes = np.flatnonzero(counts).astype(np.int32)
    given_counts = np.array(counts, np.int64)[codes]
    size = np.array([sum(counts)], np.int64)
    (found,) = largest_remainder(np.array([0, len(codes)]), codes, given_counts, size, share, t)
    possible = [
        r
        for r in range(sum(counts) + 1)
        if sum(min(c, s * r) for c, s in zip(counts, share, strict=True)) >= (1 - t) * r - 1e-12
    ]
    assert max(possible) <= found + 1e-6
    assert found < max(possible) + 1 + 1e-6
