"""The space-filling curve: it goes everywhere, and never jumps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tarnkappe.kernels.hilbert import hilbert_keys


@pytest.mark.parametrize(("columns", "bits"), [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (8, 1)])
def test_neighbours_on_the_curve_are_neighbours_in_space(columns, bits):
    grid = np.array(list(product(range(1 << bits), repeat=columns)), np.uint32)
    keys = hilbert_keys(grid, bits)
    assert sorted(keys.tolist()) == list(range(len(grid)))
    along = grid[np.argsort(keys)].astype(np.int64)
    steps = np.abs(np.diff(along, axis=0)).sum(axis=1)
    assert np.all(steps == 1)
