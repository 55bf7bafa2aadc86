"""The kernel of (c, t)-isolation against a plain twin."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.kernels.evaluate.isolation import mark_isolated


def plain(squares: np.ndarray, weight: np.ndarray, factor: float, least: int) -> np.ndarray:
    """One row of squared distances per guess."""
    out = np.zeros(len(weight), np.bool_)
    for row in squares:
        within = (row[None, :] <= factor * row[:, None]) @ weight
        out |= within < least
    return out


@pytest.mark.parametrize("seed", range(30))
def test_equals_its_plain_twin(seed: int):
    rng = np.random.default_rng(seed)
    n, m, least = int(rng.integers(1, 40)), int(rng.integers(1, 8)), int(rng.integers(1, 9))
    scales, guesses = rng.random((n, 2)), rng.random((m, 2))
    scales[rng.random((n, 2)) < 0.1] = np.nan
    guesses[rng.random((m, 2)) < 0.1] = np.nan
    width = np.array([3, 4], np.int64)
    tables = [rng.random((5, w)) for w in width]
    categories = np.column_stack([rng.integers(0, w, n) for w in width]).astype(np.int32)
    labels = rng.integers(0, 5, (m, 2)).astype(np.int32)
    weight = rng.integers(1, 4, n)
    factor = float(rng.choice([1.0, 1.44, 9.0]))

    known = np.nan_to_num(scales)[None, :, :], np.nan_to_num(guesses)[:, None, :]
    gaps = np.isnan(scales)[None, :, :].astype(int) + np.isnan(guesses)[:, None, :].astype(int)
    squares = np.where(gaps == 0, (known[0] - known[1]) ** 2, np.where(gaps == 2, 0.0, 1.0)).sum(axis=2)
    squares = squares + sum(tables[j][labels[:, j]][:, categories[:, j]] for j in range(2))

    found = np.zeros(n, np.bool_)
    flat = np.concatenate([t.ravel() for t in tables])
    offset = np.array([0, 15], np.int64)
    half = m // 2
    for begin, end in ((0, half), (half, m)):
        mark_isolated(
            scales, categories, weight, guesses, labels, flat, offset, width, factor, least, begin, end, found
        )
    assert np.array_equal(found, plain(squares, weight, factor, least))
