"""The MDAV family against plain twins, the oracle and what is known of the benchmark data."""

from __future__ import annotations

import json

import numpy as np
import plain_mdav
import polars as pl
import pytest

from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
from tarnkappe.algorithms.microaggregation.maximum_distance import MaximumDistance
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.algorithms.microaggregation.mdav_plus import MDAVPlus
from tarnkappe.algorithms.microaggregation.mdav_star import MDAVStar
from tarnkappe.algorithms.microaggregation.v_mdav import VMDAV
from tarnkappe.kernels.microaggregation.points import group_means, squared_errors

ALL = [MDAV(), MDAVPlus(), VMDAV(gamma=1.1), MDAVStar(), MaximumDistance(), BlockMDAV(block=100)]
TWINS = [
    (MDAV(), plain_mdav.mdav),
    (MDAVPlus(), plain_mdav.mdav_plus),
    (MaximumDistance(), plain_mdav.maximum_distance),
    (VMDAV(gamma=0.2), lambda points, k: plain_mdav.v_mdav(points, k, 0.2)),
    (VMDAV(gamma=1.1), lambda points, k: plain_mdav.v_mdav(points, k, 1.1)),
]


def grouped(method, points, k):
    return method.partition(np.ascontiguousarray(points, np.float64), k, np.random.default_rng(0))


def loss(points, group):
    means, _ = group_means(points, group, int(group.max()) + 1)
    return 100 * squared_errors(points, group, means).sum() / ((points - points.mean(axis=0)) ** 2).sum()


def tables(number, most):
    """Tables of all shapes; half of them are full of equal values."""
    rng = np.random.default_rng(1)
    for t in range(number):
        n, d = int(rng.integers(1, most)), int(rng.integers(1, 6))
        scattered = rng.normal(size=(n, d))
        points = scattered if t % 2 else rng.integers(0, rng.integers(1, 9), (n, d)) * 1.0
        yield points, min(int(rng.integers(1, 8)), n)


@pytest.mark.parametrize(("method", "twin"), TWINS, ids=lambda x: getattr(x, "name", ""))
def test_groups_are_those_of_the_plain_twin(method, twin):
    for points, k in tables(60, 150):
        np.testing.assert_array_equal(grouped(method, points, k), twin(points, k))


def test_mdav_of_many_points_is_the_plain_one():
    # Several tiles and several rounds of closing up, also when most of the points are in one place.
    rng = np.random.default_rng(2)
    for points in (rng.normal(size=(3000, 4)), rng.lognormal(0, 2, (3000, 3)), rng.integers(0, 4, (2000, 3)) * 1.0):
        np.testing.assert_array_equal(grouped(MDAV(), points, 4), plain_mdav.mdav(points, 4))


def test_groups_of_many_points_are_the_plain_ones_too():
    # The nearest are kept in a heap then, and points that are equally near are taken in their order.
    rng = np.random.default_rng(4)
    for points in (rng.normal(size=(2000, 3)), rng.integers(0, 6, (2000, 3)) * 1.0):
        for k in (256, 257, 600):
            np.testing.assert_array_equal(grouped(MDAV(), points, k), plain_mdav.mdav(points, k))


@pytest.mark.parametrize("gamma", [0.5, 1.0])
def test_mdav_star_is_the_plain_one(gamma):
    # Without ties: the twin computes the errors by another formula.
    rng = np.random.default_rng(3)
    for _ in range(30):
        n, k = int(rng.integers(2, 120)), int(rng.integers(1, 6))
        points = rng.normal(size=(n, 3)) * rng.choice([0.1, 1.0], n)[:, None]
        k = min(k, n)
        np.testing.assert_array_equal(grouped(MDAVStar(gamma=gamma), points, k), plain_mdav.mdav_star(points, k, gamma))


@pytest.mark.parametrize("method", ALL, ids=lambda m: m.name)
def test_every_group_has_k_points(method):
    cases = [*tables(40, 400), (np.ones((50, 2)), 4), (np.arange(9.0)[:, None], 5), (np.arange(5.0)[:, None], 5)]
    for points, k in cases:
        group = grouped(method, points, k)
        size = np.bincount(group)
        assert group.min() == 0
        assert size.min() >= k
        if method.name not in ("v-mdav", "mdav-star"):  # the rest may join groups that have grown
            assert size.max() < 2 * k
        np.testing.assert_array_equal(group, grouped(method, points, k))


def test_blocks_are_grouped_by_themselves():
    points = np.random.default_rng(4).normal(size=(4000, 2))
    np.testing.assert_array_equal(grouped(BlockMDAV(block=4000), points, 3), grouped(MDAV(), points, 3))
    group = grouped(BlockMDAV(block=1000), points, 3)
    assert len(np.unique(group)) == 4 * (1000 // 3)
    axis = int(points.var(axis=0).argmax())
    below = points[:, axis] < np.median(points[:, axis])
    assert not set(group[below]) & set(group[~below])


def test_blocks_of_less_than_k_are_never_made():
    points = np.random.default_rng(5).normal(size=(1000, 2))
    for k in range(1, 60, 7):
        assert np.bincount(grouped(BlockMDAV(block=2), points, k)).min() >= k


@pytest.fixture(scope="module")
def benchmarks(shared):
    """The benchmark data, standardised, and the oracle."""
    oracle = json.loads((shared / "oracles/microaggregation.json").read_text())
    out = {}
    for name in ("census", "tarragona", "eia"):
        table = pl.read_csv(shared / f"data/microaggregation/{name}.csv")
        values = (table.select(oracle["eia_columns"]) if name == "eia" else table).to_numpy().astype(np.float64)
        out[name] = np.ascontiguousarray((values - values.mean(axis=0)) / values.std(axis=0))
    return out, oracle["results"]


def test_mdav_has_the_losses_of_the_oracle(benchmarks):
    data, results = benchmarks
    wanted = [r for r in results if r["algorithm"] == "MDAV" and r["dataset"] in data]
    assert len(wanted) == 12
    for r in wanted:
        points = data[r["dataset"]]
        assert loss(points, grouped(MDAV(), points, r["k"])) == pytest.approx(r["IL"], abs=5e-5)


def test_v_mdav_has_the_known_losses(benchmarks):
    data, _ = benchmarks
    known = {"tarragona": (16.9630, 19.6974, 22.8778, 33.2527), "census": (5.6619, 7.5140, 9.0070, 14.0730)}
    for name, losses in known.items():
        for k, wanted in zip((3, 4, 5, 10), losses, strict=True):
            assert loss(data[name], grouped(VMDAV(gamma=0.2), data[name], k)) == pytest.approx(wanted, abs=5e-5)


def test_mdav_star_loses_less_than_mdav_plus_on_average(benchmarks):
    data, _ = benchmarks
    ratio = [
        loss(points, grouped(MDAVStar(), points, k)) / loss(points, grouped(MDAVPlus(), points, k))
        for points in data.values()
        for k in (3, 4, 5, 10)
    ]
    assert np.exp(np.mean(np.log(ratio))) < 0.95
