"""The kernels of clusters of cells against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.kernels.subtree.clustering import count_values, nearest_centres


@pytest.mark.parametrize("seed", range(5))
def test_centres_and_counts_are_the_plain_ones(seed):
    rng = np.random.default_rng(seed)
    sizes, n, n_centres = rng.integers(1, 6, 3), int(rng.integers(1, 200)), int(rng.integers(1, 5))
    starts = np.append(0, np.cumsum(sizes))
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes]).astype(np.int32)
    apart = rng.integers(0, 3, (starts[-1], n_centres)) * 1.0  # with many ties
    nearest, least = np.empty(n, np.int32), np.empty(n)
    nearest_centres(codes, starts, apart, nearest, least)
    away = apart[codes + starts[:-1]].sum(axis=1)
    np.testing.assert_array_equal(nearest, away.argmin(axis=1))
    np.testing.assert_array_equal(least, away.min(axis=1))

    count = rng.integers(1, 9, n)
    often = np.zeros((n_centres, starts[-1]))
    count_values(codes, starts, nearest, count, often)
    expected = np.zeros_like(often)
    for cell, centre, records in zip(codes + starts[:-1], nearest, count, strict=True):
        expected[centre, cell] += records
    np.testing.assert_array_equal(often, expected)
