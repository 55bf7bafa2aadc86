"""Condensation: groups of nearest records."""

from __future__ import annotations

import numpy as np
import pytest
from plain_means import nearest, square
from reference_points import check_sizes, members

from tarnkappe.algorithms.microaggregation.condensation import Condensation
from tarnkappe.kernels.microaggregation.condensing import condense


def plain(points, order, k):
    """One seed after the other takes its nearest."""
    left, groups = [int(i) for i in order], []
    while len(left) >= k:
        seed = left[0]
        groups.append(sorted(left, key=lambda i: -1.0 if i == seed else square(points[i], points[seed]))[:k])
        left = [i for i in left if i not in groups[-1]]
    means = [points[g].mean(axis=0) for g in groups]
    for i in left:
        groups[nearest(points[i], means)].append(i)
    return set(map(frozenset, groups))


@pytest.mark.parametrize("ties", [False, True])
def test_groups_are_those_of_plain_python(ties):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n, d = int(rng.integers(1, 60)), int(rng.integers(1, 5))
        points = rng.integers(0, 4, (n, d)) * 1.0 if ties else rng.normal(size=(n, d))
        k = min(int(rng.integers(1, 7)), n)
        if ties:
            n, points = n // k * k, points[: n // k * k]  # means that are equally far differ in the last digit
        order = rng.permutation(n)
        group = condense(points, order, k)
        check_sizes(group, k, 2 * k - 1)
        assert members(group) == plain(points, order, k)


def test_the_same_seed_gives_the_same_groups():
    points = np.random.default_rng(2).normal(size=(100, 3))
    first, second = (Condensation().partition(points, 7, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert len(np.unique(Condensation().partition(np.zeros((11, 2)), 4, np.random.default_rng(3)))) == 2
