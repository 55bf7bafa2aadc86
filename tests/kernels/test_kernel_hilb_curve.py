"""The compact curve: it goes everywhere, never jumps where it is full, and sorts as the full curve does."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.hilbert import MAX_COLUMNS, compact_hilbert_keys


def as_numbers(keys: np.ndarray) -> list[int]:
    """The words of every key as one Python integer."""
    return [sum(int(word) << 64 * i for i, word in enumerate(row[::-1])) for row in keys]


def whole_grid(bits: list[int]) -> np.ndarray:
    return np.array(list(product(*(range(1 << b) for b in bits))), np.uint32).reshape(-1, len(bits))


@pytest.mark.parametrize("stretch", [True, False])
@pytest.mark.parametrize(("columns", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2), (8, 1)])
def test_neighbours_on_the_curve_are_neighbours_in_space(columns, bits, stretch):
    grid = whole_grid([bits] * columns)
    keys = as_numbers(compact_hilbert_keys(grid, np.full(columns, bits), stretch))
    assert sorted(keys) == list(range(len(grid)))
    along = grid[np.argsort(keys)].astype(np.int64)
    assert np.all(np.abs(np.diff(along, axis=0)).sum(axis=1) == 1)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(lambda b: 0 < sum(b) <= 9), st.booleans())
def test_compact_keys_sort_as_those_of_the_full_curve(bits, stretch):
    grid = whole_grid(bits)
    widest = max(bits)
    keys = as_numbers(compact_hilbert_keys(grid, np.array(bits), stretch))
    assert sorted(keys) == list(range(len(grid)))  # no bit is wasted
    up = np.array([widest - b for b in bits], np.uint32) if stretch else np.zeros(len(bits), np.uint32)
    full = as_numbers(compact_hilbert_keys(grid << up, np.full(len(bits), widest), stretch))
    assert np.array_equal(np.argsort(keys), np.argsort(full))


@pytest.mark.parametrize(("columns", "bits"), [(9, 10), (MAX_COLUMNS, 5), (3, 31)])
def test_keys_of_more_than_64_bits(columns, bits):
    """A step along the curve from any point is a step of one in space: found by looking at all neighbours."""
    rng = np.random.default_rng(0)
    here = rng.integers(1, (1 << bits) - 1, columns)
    steps = np.concatenate([np.eye(columns, dtype=np.int64), -np.eye(columns, dtype=np.int64)])
    grid = np.concatenate([[here], here + steps]).astype(np.uint32)
    keys = compact_hilbert_keys(grid, np.full(columns, bits), True)
    assert keys.shape[1] == -(-columns * bits // 64)
    own, *others = as_numbers(keys)
    assert max(as_numbers(keys)).bit_length() <= columns * bits
    assert {own - 1, own + 1} <= set(others)
