"""The kernels that add up what happened to a column, against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tarnkappe.kernels.recoding import count_labels, count_values, sum_steps

CODES, GROUPS = 5, 3
pieces = st.lists(st.tuples(st.integers(0, CODES - 1), st.integers(-1, GROUPS - 1), st.integers(1, 9)), max_size=30)
LEAF_DEPTH = np.array([0, 1, 2, 3, 3], np.int32)
NODE_DEPTH = np.array([0, 1, 2], np.int32)
LABEL = np.array([1, 0, -1], np.int32)


def arrays(case: list[tuple[int, int, int]]) -> tuple[np.ndarray, int, np.ndarray, np.ndarray, np.ndarray]:
    """One column, with a cell per piece."""
    quasi = np.array([[9, code] for code, _, _ in case], np.int32).reshape(-1, 2)
    group = np.array([g for _, g, _ in case], np.int32)
    quota = np.array([q for _, _, q in case], np.int64)
    return quasi, 1, np.arange(len(case), dtype=np.int32), group, quota


@given(pieces)
@settings(deadline=None)
def test_sum_steps(case):
    steps, shares = sum_steps(*arrays(case), LEAF_DEPTH, NODE_DEPTH)
    made = [max(int(LEAF_DEPTH[c]) - (int(NODE_DEPTH[g]) if g >= 0 else 0), 0) for c, g, _ in case]
    assert steps == sum(m * q for m, (_, _, q) in zip(made, case, strict=True))
    expected = sum(m / max(int(LEAF_DEPTH[c]), 1) * q for m, (c, _, q) in zip(made, case, strict=True))
    assert shares == pytest.approx(expected)


@given(pieces)
@settings(deadline=None)
def test_count_values(case):
    counted: Counter[int] = Counter()
    for code, group, records in case:
        counted[code] += records if group >= 0 else 0
    assert count_values(*arrays(case), CODES).tolist() == [counted[c] for c in range(CODES)]


@given(pieces, st.integers(0, CODES - 1))
@settings(deadline=None)
def test_count_labels(case, value):
    counted: Counter[int] = Counter()
    for code, group, records in case:
        if group >= 0 and code == value:
            counted[int(LABEL[group])] += records
    assert count_labels(*arrays(case), value, LABEL, 2).tolist() == [counted[0], counted[1], counted[-1]]
