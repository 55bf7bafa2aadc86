"""Near points, blocks and tiles against plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from plain_mdav import squares

from tarnkappe.algorithms.microaggregation import near as module
from tarnkappe.algorithms.microaggregation.near import near
from tarnkappe.kernels.microaggregation.blocks import block_count, split
from tarnkappe.kernels.microaggregation.tiles import ANY, NONE, drop, search, tiles_of

WIDEST = np.empty((0, 2))


def exact(points, m, rows):
    out = np.empty((len(rows), m), np.int32)
    for r, i in enumerate(rows):
        order = np.argsort(squares(points, points[i]), kind="stable")
        out[r] = order[order != i][:m]
    return out


def drawn(rng, n, d):
    return rng.normal(size=(n, d)) if rng.random() < 0.5 else rng.integers(0, 4, (n, d)) * 1.0


def test_few_points_have_their_nearest():
    rng = np.random.default_rng(0)
    for _ in range(40):
        n, m = int(rng.integers(2, 200)), int(rng.integers(1, 20))
        points = drawn(rng, n, int(rng.integers(1, 5)))
        np.testing.assert_array_equal(near(points, m, rng), exact(points, min(m, n - 1), range(n)))


@pytest.mark.parametrize("n", [0, 1])
def test_a_single_point_has_none(n):
    assert near(np.zeros((n, 3)), 5, np.random.default_rng(0)).shape == (n, 0)


@pytest.mark.parametrize("equal", [False, True])
def test_many_points_have_most_of_their_nearest(equal, monkeypatch):
    monkeypatch.setattr(module, "_FEW", 1000)
    points = np.zeros((6000, 6)) if equal else np.random.default_rng(1).normal(size=(6000, 6))
    found = near(points, 10, np.random.default_rng(2))
    np.testing.assert_array_equal(found, near(points, 10, np.random.default_rng(2)))
    own = np.arange(len(points))[:, None]
    assert found.min() >= 0
    assert not (found == own).any()
    assert all(len(set(row)) == 10 for row in found)
    gap = ((points[found] - points[own]) ** 2).sum(axis=2)
    assert (np.diff(gap, axis=1) >= -1e-12).all()
    if not equal:
        some = range(0, len(points), 20)
        wanted = exact(points, 10, some)
        assert np.mean([len(set(a) & set(b)) for a, b in zip(found[some], wanted, strict=True)]) > 9


@pytest.mark.parametrize("random", [False, True])
def test_blocks_are_cut_at_medians(random):
    rng = np.random.default_rng(3)
    for _ in range(30):
        n, size = int(rng.integers(1, 300)), int(rng.integers(1, 60))
        points = drawn(rng, n, 2)
        count = block_count(n, size)
        assert count // 2 * size < n <= count * size or count == 1
        order = split(points, size, rng.random((count, 2)) if random else WIDEST)
        assert sorted(order) == list(range(n))
        if not random and count > 1:
            axis = int(points.var(axis=0).argmax())
            assert points[order[: n // 2], axis].max() <= points[order[n // 2 :], axis].min()


def test_the_nearest_and_farthest_of_tiles():
    rng = np.random.default_rng(4)
    for _ in range(40):
        n, d, m = int(rng.integers(2, 600)), int(rng.integers(1, 5)), int(rng.integers(1, 12))
        points = drawn(rng, n, d)
        tiles = tiles_of(points, split(points, 64, WIDEST), np.empty(n, np.int32))
        left = np.sort(rng.permutation(n)[: rng.integers(1, n + 1)])
        for i in np.setdiff1d(np.arange(n), left):
            drop(tiles, i)
        found, gap = np.empty(m, np.int32), np.empty(m)
        centre = points[rng.integers(n)] if rng.random() < 0.5 else rng.normal(size=d)
        farthest = search(tiles, centre, found, gap, ANY)
        square = squares(points[left], centre)
        wanted = left[np.argsort(square, kind="stable")][:m]
        np.testing.assert_array_equal(found[: len(wanted)], wanted)
        assert (found[len(wanted) :] == -1).all()
        assert farthest == left[square.argmax()]
        assert search(tiles, centre, found, gap, NONE) == -1
        np.testing.assert_array_equal(found[: len(wanted)], wanted)
