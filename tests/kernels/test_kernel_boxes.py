"""The box kernels against plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.kernels.boxes import group_boxes, group_sets
from tarnkappe.kernels.multidimensional.mondrian import segment_boxes

WILD = 4


@st.composite
def pieces(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two codes, of which `WILD` may be a wildcard, and the group of each."""
    n = draw(st.integers(0, 30))
    rows = draw(st.lists(st.tuples(st.integers(0, WILD), st.integers(0, WILD)), min_size=n, max_size=n))
    group = draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    return np.array(rows, np.int32).reshape(n, 2), np.array(group, np.int32)


def box(values: list[int], wild: int) -> tuple[int, int]:
    known = [v for v in values if v != wild]
    return (min(known), max(known)) if known else (np.iinfo(np.int32).max, -1)


@given(pieces(), st.sampled_from([(-1, -1), (WILD, -1), (WILD, WILD)]))
@settings(deadline=None)
def test_group_boxes(case, wild):
    rows, group = case
    at = np.random.default_rng(0).permutation(len(rows)).astype(np.int32)  # cells need not be pieces in order
    lo, hi = group_boxes(rows[np.argsort(at)], at, group, 4, np.array(wild, np.int32))
    for g in range(4):
        for j in range(2):
            values = [int(row[j]) for row, its_group in zip(rows, group, strict=True) if its_group == g]
            assert (lo[g, j], hi[g, j]) == box(values, wild[j])


@given(pieces(), st.sampled_from([(-1, -1), (WILD, -1), (WILD, WILD)]))
@settings(deadline=None)
def test_segment_boxes(case, wild):
    rows, group = case
    cuts = np.sort(np.abs(group[:3]) * len(rows) // 4) if len(rows) else np.zeros(0, np.int64)
    starts = np.array([0, *cuts, len(rows)], np.int64)
    quota = np.arange(1, len(rows) + 1, dtype=np.int64)
    n = len(starts) - 1
    lo, hi, size = np.empty((n, 2), np.int32), np.empty((n, 2), np.int32), np.empty(n, np.int64)
    for begin, end in ((0, n // 2), (n // 2, n)):  # as two threads would share the work
        segment_boxes(rows, quota, starts, np.array(wild, np.int32), lo, hi, size, begin, end)
    for s in range(len(starts) - 1):
        here = slice(starts[s], starts[s + 1])
        assert size[s] == quota[here].sum()
        for j in range(2):
            assert (lo[s, j], hi[s, j]) == box(rows[here, j].tolist(), wild[j])


@given(pieces(), st.sampled_from([-1, WILD]))
@settings(deadline=None)
def test_group_sets(case, wild):
    rows, group = case
    cell = np.arange(len(rows), dtype=np.int32)
    for j in range(2):
        found = group_sets(rows, j, cell, group, 4, wild)
        for g in range(4):
            values = {int(row[j]) for row, its_group in zip(rows, group, strict=True) if its_group == g} - {wild}
            assert int(found[g]) == sum(1 << v for v in values)


def test_a_set_has_room_for_64_values():
    rows = np.array([[0], [31], [63]], np.int32)
    found = group_sets(rows, 0, np.arange(3, dtype=np.int32), np.zeros(3, np.int32), 1, -1)
    assert int(found[0]) == 1 | 1 << 31 | 1 << 63
