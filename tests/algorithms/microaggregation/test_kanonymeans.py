"""kAnonyMeans and kAnonyMeans*: against plain Python, and against MDAV+ as the slides say."""

from __future__ import annotations

import numpy as np
import plain_means
import pytest
from reference_points import check_sizes, loss, members, reference_points, squared_error

from tarnkappe.algorithms.microaggregation.kanonymeans import KAnonyMeans
from tarnkappe.algorithms.microaggregation.kanonymeans_star import KAnonyMeansStar
from tarnkappe.algorithms.microaggregation.mdav_plus import MDAVPlus
from tarnkappe.datasets.simulated import clustered_points
from tarnkappe.kernels.microaggregation.kmeans import AT_THE_END, CONVERGED, EVERY_ROUND, anonymous_means, spread_out
from tarnkappe.kernels.microaggregation.merging_points import INNER, ONCE, OUTER, merge_and_split

MERGES = {"inner": INNER, "outer": OUTER, "once": ONCE}
INTERLEAVED = {"rounds": EVERY_ROUND, "converged": CONVERGED, "never": AT_THE_END}
BOTH = [KAnonyMeans(runs=3), KAnonyMeansStar(population=6, survivors=3, generations=4)]


def tables(number, most=40):
    """Tables of all shapes; half of them are full of equal values."""
    rng = np.random.default_rng(3)
    for t in range(number):
        n, d = int(rng.integers(1, most)), int(rng.integers(1, 5))
        points = rng.normal(size=(n, d)) if t % 2 else rng.integers(0, rng.integers(1, 9), (n, d)) * 1.0
        yield np.ascontiguousarray(points), min(int(rng.integers(1, 6)), n), rng


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize("by_sse", [False, True])
def test_merging_and_splitting_is_that_of_plain_python(merge, by_sse):
    for points, k, rng in tables(40):
        n_clusters = int(rng.integers(1, len(points) + 1))
        owner = rng.integers(0, n_clusters, len(points)).astype(np.int32)
        group = merge_and_split(points, owner, n_clusters, k, MERGES[merge], by_sse)
        check_sizes(group, k, 2 * k - 1)
        clusters = [np.flatnonzero(owner == c).tolist() for c in range(n_clusters)]
        plain = plain_means.merged_and_split(points, clusters, k, merge, by_sse)
        assert members(group) == set(map(frozenset, plain))


@pytest.mark.parametrize("interleave", INTERLEAVED)
@pytest.mark.parametrize("merge", MERGES)
def test_groups_are_those_of_plain_python(merge, interleave):
    for points, k, rng in tables(24):
        starts = points[rng.choice(len(points), max(len(points) // k, 1), replace=False)]
        by_sse = bool(rng.integers(2))
        group, error = anonymous_means(points, starts, k, MERGES[merge], by_sse, INTERLEAVED[interleave])
        plain = plain_means.means(points, starts, k, merge, by_sse, interleave)
        assert members(group) == set(map(frozenset, plain))
        assert error == pytest.approx(squared_error(points, group), abs=1e-9)


def test_one_large_cluster_is_split_by_mdav_plus():
    rng = np.random.default_rng(4)
    for n, d, k in ((50, 3, 3), (37, 1, 4), (200, 6, 7), (9, 2, 5)):
        points = rng.normal(size=(n, d))
        group = merge_and_split(points, np.zeros(n, np.int32), 1, k, OUTER, False)
        assert members(group) == members(MDAVPlus().partition(points, k, rng))


def test_the_first_centres_are_different_places_as_long_as_there_are_any():
    points = np.repeat(np.arange(5.0), 4)[:, None]
    rng = np.random.default_rng(5)
    for _ in range(50):
        assert sorted(points[spread_out(points, rng.random(5)), 0]) == [0, 1, 2, 3, 4]
    assert len(spread_out(points, rng.random(20))) == 20


def test_far_points_are_chosen_more_often():
    points = np.array([[0.0], [1.0], [3.0]])
    rng = np.random.default_rng(6)
    chosen = np.array([spread_out(points, rng.random(2)) for _ in range(6000)])
    after_the_first = np.bincount(chosen[chosen[:, 0] == 0, 1], minlength=3) / (chosen[:, 0] == 0).sum()
    np.testing.assert_allclose(after_the_first, [0, 0.1, 0.9], atol=0.03)


@pytest.mark.parametrize("method", BOTH, ids=lambda m: m.name)
def test_sizes_and_seeds(method):
    for points, k, _ in tables(30):
        first, second = (method.partition(points, k, np.random.default_rng(7)) for _ in range(2))
        check_sizes(first, k, 2 * k - 1)
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("method", BOTH, ids=lambda m: m.name)
def test_records_all_alike(method):
    group = method.partition(np.zeros((23, 2)), 4, np.random.default_rng(8))
    check_sizes(group, 4, 7)


def test_clear_clusters_are_found():
    rng = np.random.default_rng(9)
    centre = rng.uniform(-100, 100, (12, 3))
    points = np.repeat(centre, 5, axis=0) + rng.normal(size=(60, 3))
    group = KAnonyMeans().partition(points, 5, rng)
    assert members(group) == members(np.repeat(np.arange(12, dtype=np.int32), 5))


def test_more_runs_and_more_generations_lose_no_more():
    points = np.random.default_rng(10).normal(size=(150, 4))
    losses = [loss(points, KAnonyMeans(runs=r).partition(points, 3, np.random.default_rng(1))) for r in (1, 5, 40)]
    assert losses == sorted(losses, reverse=True)
    grown = [
        loss(points, KAnonyMeansStar(generations=g).partition(points, 3, np.random.default_rng(1))) for g in (0, 3, 9)
    ]
    assert grown == sorted(grown, reverse=True)
    assert grown[-1] < grown[0]


@pytest.mark.parametrize("inherit", ["means", "starts"])
def test_more_survivors_than_individuals_are_no_problem(inherit):
    points = np.random.default_rng(11).normal(size=(40, 2))
    method = KAnonyMeansStar(population=3, survivors=9, mutations=5, strength=100, generations=2, inherit=inherit)
    check_sizes(method.partition(points, 3, np.random.default_rng(1)), 3, 5)


def test_the_order_of_the_slides_on_clustered_data():
    # Better than MDAV+, the more so the larger k (while clusters are larger still); the evolution is better yet.
    points = clustered_points(600, 5, clusters=10, seed=1)
    gains = []
    for k in (3, 10, 20):
        plus, means, star = (
            loss(points, m.partition(points, k, np.random.default_rng(1)))
            for m in (MDAVPlus(), KAnonyMeans(runs=20), KAnonyMeansStar(population=20, generations=8))
        )
        assert star <= means < plus
        gains.append(1 - means / plus)
    assert gains[0] < gains[-1]


def test_losses_on_census(shared):
    points = reference_points(shared, "census")
    bound, mdav = 4.6460, 5.6922
    found = loss(points, KAnonyMeansStar(generations=4).partition(points, 3, np.random.default_rng(1)))
    assert bound < found < mdav
