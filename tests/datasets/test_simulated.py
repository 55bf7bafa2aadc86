"""Simulated tables."""

from __future__ import annotations

import numpy as np

from tarnkappe.datasets.simulated import clustered_points, sim_c, sim_u, uniform_points


def test_shapes_and_seeds():
    for make in (sim_u, sim_c):
        table = make(300, 4, seed=2)
        assert table.shape == (300, 4)
        assert table.columns == ["x1", "x2", "x3", "x4"]
        assert table.equals(make(300, 4, seed=2))
        assert not table.equals(make(300, 4, seed=3))
        assert all(dtype.is_integer() for dtype in table.dtypes)


def test_uniform_points_fill_the_cube():
    points = uniform_points(20_000, 2, width=2.0)
    assert np.abs(points).max() <= 1.0
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=0.02)
    np.testing.assert_allclose(points.var(axis=0), 1 / 3, atol=0.01)


def test_clustered_points_have_the_spread_asked_for():
    points = clustered_points(5000, 3, clusters=1, spread=0.1, width=10.0)
    np.testing.assert_allclose(points.std(axis=0), 1.0, atol=0.05)
    few = clustered_points(500, 3, clusters=4, spread=0.0)
    assert len(np.unique(few, axis=0)) <= 4
