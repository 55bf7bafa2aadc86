"""k-Ward in all directions, along a line and recursively, against a plain twin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from reference_points import check_sizes, loss, members, reference_points

from tarnkappe.algorithms.microaggregation.k_ward import KWard
from tarnkappe.algorithms.microaggregation.recursive_k_ward import RecursiveKWard
from tarnkappe.arrays import Floats
from tarnkappe.kernels.microaggregation.ward import ward, ward_on_line


def first_groups(points: Floats, own: list[int], k: int, *, line: bool) -> list[list[int]]:
    """Groups of k at both ends and single points."""
    if line:
        return [own[:k], *([i] for i in own[k:-k]), own[-k:]]
    distance = ((points[own][:, None] - points[own]) ** 2).sum(axis=2)
    first, second = divmod(int(distance.argmax()), len(own))
    left = [i for i in range(len(own)) if i not in (first, second)]
    groups = []
    for seed in (first, second):
        nearest = sorted(left, key=lambda i: distance[seed, i])[: k - 1]
        left = [i for i in left if i not in nearest]
        groups.append([seed, *nearest])
    return [[own[i] for i in g] for g in [*groups, *([i] for i in left)]]


def plain_ward(points: Floats, k: int, *, line: bool) -> set[frozenset[int]]:
    """k-Ward by the definition: all pairs are looked at before each merge."""
    waiting, done = [list(range(len(points)))], set()
    while waiting:
        own = waiting.pop()
        if len(own) < 2 * k:
            done.add(frozenset(own))
            continue
        groups = first_groups(points, own, k, line=line)
        while True:
            offers = []
            for i in range(len(groups)):
                for j in range(i + 1, min(i + 2, len(groups)) if line else len(groups)):
                    a, b = points[groups[i]], points[groups[j]]
                    if min(len(a), len(b)) < k:
                        far = ((a.mean(axis=0) - b.mean(axis=0)) ** 2).sum()
                        offers.append((len(a) * len(b) / (len(a) + len(b)) * far, i, j))
            if not offers:
                break
            _, i, j = min(offers)
            groups[i] = groups[i] + groups.pop(j)
        waiting += [sorted(g) for g in groups]
    return done


def test_kernels_equal_the_plain_algorithm():
    rng = np.random.default_rng(0)
    for _ in range(80):
        n, d = int(rng.integers(1, 36)), int(rng.integers(1, 4))
        k = int(rng.integers(1, min(n, 6) + 1))
        points = rng.standard_normal((n, d)) ** 3
        assert members(ward(points, k)) == plain_ward(points, k, line=False)
        points = points[np.argsort(points[:, 0])]
        assert members(ward_on_line(points, k)) == plain_ward(points, k, line=True)


def test_separate_clusters_are_found():
    rng = np.random.default_rng(1)
    centre = np.array([[0.0, 0], [100, 0], [0, 100], [70, 70]])
    cluster = np.repeat(np.arange(4), [5, 7, 9, 6])
    points = centre[cluster] + rng.standard_normal((27, 2))
    assert members(KWard().partition(points, 5, rng)) == members(cluster)


def test_one_column_is_grouped_along_its_line():
    points = np.random.default_rng(2).standard_normal((200, 1))
    order = np.argsort(points[:, 0])
    group = KWard().partition(points, 4, np.random.default_rng(0))
    assert np.all(np.diff(group[order]) >= 0)


def test_recursive_k_ward_divides_as_the_threshold_says():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((400, 3))
    whole = members(ward(points[np.argsort(points.sum(axis=1), kind="stable")], 4))
    order = np.argsort(points.sum(axis=1), kind="stable")
    in_order = {frozenset(order[list(g)].tolist()) for g in whole}
    assert members(RecursiveKWard(theta=1000, smallest=1).partition(points, 4, rng)) == in_order
    assert members(RecursiveKWard(theta=0, smallest=201).partition(points, 4, rng)) == in_order
    halves = RecursiveKWard(theta=0, smallest=200).partition(points, 4, rng)
    assert set(halves[order[:200]]).isdisjoint(halves[order[200:]])
    # The variance of each half of evenly spread numbers is a quarter of the whole: together they have half of it.
    even = np.arange(64.0)[:, None]
    divided = RecursiveKWard(theta=0.49, smallest=32).partition(even, 3, rng)
    assert set(divided[:32]).isdisjoint(divided[32:])
    assert np.array_equal(RecursiveKWard(theta=0.51, smallest=32).partition(even, 3, rng), ward_on_line(even, 3))


def test_losses_of_k_ward(shared: Path):
    rng = np.random.default_rng(0)
    for name, found in {"census": 5.9908, "tarragona": 16.2109}.items():
        points = reference_points(shared, name)
        group = KWard().partition(points, 3, rng)
        check_sizes(group, 3, 5)
        assert round(loss(points, group), 4) == found


def test_groups_do_not_swallow_equal_points():
    """Otherwise every round would take off no more than a group at each end, and there would be no end to it."""
    rng = np.random.default_rng(4)
    check_sizes(ward_on_line(np.zeros((50_000, 1)), 4), 4, 7)
    check_sizes(ward(np.zeros((1500, 2)), 4), 4, 7)
    check_sizes(ward(rng.integers(0, 3, (1500, 2)).astype(np.float64), 4), 4, 7)
