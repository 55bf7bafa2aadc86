"""r-gather: at most twice the smallest radius, which small tables tell by trying everything."""

from __future__ import annotations

import numpy as np
import plain_means
import pytest
from reference_points import check_sizes, loss

from tarnkappe.algorithms.microaggregation.r_gather import RGather, _gathered
from tarnkappe.kernels.microaggregation.r_gather import gather, reach


def tables(number, most):
    rng = np.random.default_rng(1)
    for t in range(number):
        n, d = int(rng.integers(1, most)), int(rng.integers(1, 4))
        points = rng.normal(size=(n, d)) if t % 2 else rng.integers(0, 6, (n, d)) * 1.0
        yield np.ascontiguousarray(points), min(int(rng.integers(1, 5)), n)


def radius(points, group):
    """The largest radius of a group round the best of its records."""
    far = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    return max(far[np.ix_(group == g, group == g)].max(axis=0).min() for g in range(group.max() + 1))


def test_every_point_reaches_enough_others():
    for points, r in tables(60, 50):
        far = ((points[:, None] - points[None]) ** 2).sum(axis=2)
        assert reach(points, r) == pytest.approx(np.sort(far, axis=1)[:, r - 1].max())


def test_the_radius_is_at_most_twice_the_smallest():
    for points, k in tables(80, 10):
        group, square = _gathered(points, k, np.inf)
        check_sizes(group, k)
        best = plain_means.smallest_radius(points, k)
        assert np.sqrt(square) <= 2 * best * (1 + 1e-6) + 1e-12
        assert radius(points, group) <= np.sqrt(square) + 1e-12


def test_it_works_for_every_limit_of_twice_the_smallest_radius_or_more():
    for points, k in tables(40, 9):
        limit = (2 * plain_means.smallest_radius(points, k)) ** 2 * (1 + 1e-12)
        for factor in (1.0, 1.3, 2.0, 50.0):
            group, square = gather(points, limit * factor, k)
            assert 0 <= square <= limit * factor
            check_sizes(group, k)


def test_points_are_passed_on_where_a_centre_lacks_them():
    # The centres are 10, 0 and 6: for the one at 6 to have three points, the one at 10 must give up 8.
    points = np.array([[10.0], [10], [10], [9.5], [0.0], [0], [0], [6.0], [6.1], [8.05]])
    group, square = gather(points, 3.9**2, 3)
    assert square > 0
    check_sizes(group, 3)
    assert len(np.unique(group)) == 3
    assert group[9] == group[7]


def test_dividing_keeps_the_radius_and_lowers_the_loss():
    rng = np.random.default_rng(2)
    points = np.vstack([rng.normal(size=(200, 3)), rng.normal(size=(10, 3)) * 10])
    whole = RGather(divide=False).partition(points, 4, rng)
    divided = RGather().partition(points, 4, rng)
    limit = np.sqrt(_gathered(points, 4, np.inf)[1])
    check_sizes(divided, 4)
    assert radius(points, divided) <= limit * (1 + 1e-9)
    assert radius(points, whole) <= limit * (1 + 1e-9)
    assert loss(points, divided) < loss(points, whole)


def test_sizes_and_records_all_alike():
    for points, k in tables(60, 60):
        check_sizes(RGather().partition(points, k, np.random.default_rng(0)), k)
    check_sizes(RGather().partition(np.zeros((9, 2)), 4, np.random.default_rng(0)), 4)
