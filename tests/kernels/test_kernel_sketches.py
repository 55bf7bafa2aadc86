"""Sketches of sets, and joining what is most alike."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.local.sketches import join_most_alike, least_ranks


def test_the_lowest_rank_of_a_row():
    rows, start = np.array([[0, 1], [2, 0], [1, 1]], np.int32), np.array([0, 3], np.int64)
    assert least_ranks(rows, start, np.array([5, 3, 4, 7, 1], np.int32)).tolist() == [1, 4, 1]


def joined(starts, sketch, size, needy, least):
    return join_most_alike(
        np.array(starts, np.int64), np.array(sketch, np.int32), np.array(size, np.int64), np.array(needy, bool), least
    ).tolist()


def test_the_small_join_the_most_alike():
    sketch = [[1, 2, 3], [1, 2, 9], [7, 7, 7]]
    assert joined([0, 3], sketch, [1, 5, 5], [False] * 3, 2) == [1, 1, 2]
    assert joined([0, 3], sketch, [5, 5, 5], [False] * 3, 2) == [0, 1, 2]
    assert joined([0, 3], sketch, [5, 9, 6], [False, False, True], 2) == [0, 1, 0]  # nothing in common: the smallest


def test_nobody_leaves_the_run():
    assert joined([0, 1, 3], [[1], [1], [1]], [1, 1, 1], [True] * 3, 9) == [0, 2, 2]


@given(st.data())
def test_none_is_left_small_beside_others(data):
    lengths = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    starts = np.cumsum([0, *lengths])
    n = int(starts[-1])
    size = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    needy = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    sketch = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 3, (n, 4))
    into = joined(starts, sketch, size, needy, 5)
    total = np.bincount(into, weights=size, minlength=n)
    for a, b in pairwise(starts):
        kept = set(into[a:b])
        assert kept <= set(range(a, b))
        assert all(into[s] == s for s in kept)
        assert len(kept) == 1 or all(total[s] >= 5 for s in kept)
        assert len(kept) == 1 or not any(needy[s] and into.count(s) == 1 for s in kept)
