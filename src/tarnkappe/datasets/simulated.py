"""Simulated tables for microaggregation: evenly scattered records, and records in clusters."""

from __future__ import annotations

import numpy as np
import polars as pl

from tarnkappe.arrays import Floats


def uniform_points(n: int = 1000, d: int = 10, *, width: float = 20_000.0, seed: int = 1) -> Floats:
    """Points that are uniform in a cube round the origin."""
    return np.random.default_rng(seed).uniform(-width / 2, width / 2, (n, d))


def clustered_points(
    n: int = 1000, d: int = 10, *, clusters: int = 25, spread: float = 0.05, width: float = 20_000.0, seed: int = 1
) -> Floats:
    """Points in normal clusters of unequal sizes, whose centres are uniform in a cube round the origin.

    The standard deviation of a cluster is `spread` times the width of the cube, in every coordinate. Sizes are as if
    every point chose a cluster, with probabilities drawn uniformly.
    """
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-width / 2, width / 2, (clusters, d))
    owner = rng.choice(clusters, n, p=rng.dirichlet(np.ones(clusters)))
    return centres[owner] + rng.normal(0.0, spread * width, (n, d))


def sim_u(n: int = 1000, d: int = 10, *, seed: int = 1) -> pl.DataFrame:
    """SimU: records without any structure, whole numbers from -10 000 to 10 000 in columns ``x1``, ``x2``, …."""
    return _table(uniform_points(n, d, seed=seed))


def sim_c(n: int = 1000, d: int = 10, *, clusters: int = 25, spread: float = 0.05, seed: int = 1) -> pl.DataFrame:
    """SimC: records in clusters (see `clustered_points`), whole numbers in columns ``x1``, ``x2``, …."""
    return _table(clustered_points(n, d, clusters=clusters, spread=spread, seed=seed))


def _table(points: Floats) -> pl.DataFrame:
    names = [f"x{j + 1}" for j in range(points.shape[1])]
    return pl.DataFrame(np.round(points).astype(np.int64), schema=names)
