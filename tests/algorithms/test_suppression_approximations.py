"""AFK05 and MW04: within their bounds of the optimum by brute force, and never below k."""

from __future__ import annotations

import numpy as np
import pytest
from every_suppression import least

from strategies import published_rows
from tarnkappe.algorithms.local.approximation import SuppressionApproximation
from tarnkappe.algorithms.local.diameter_cover import DiameterCover
from tarnkappe.algorithms.local.suppression_forest import SuppressionForest
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.kernels.local.approximating import cover_by_diameter, cover_to_partition, cut_trees, grow_forest
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping

BOTH = [SuppressionForest(), DiameterCover()]


def table(codes: np.ndarray, weights: list[float]) -> Tally:
    domains = [
        Domain("abc"[j], Taxonomy.from_nested([f"v{i}" for i in range(codes[:, j].max() + 1)]), weight=w)
        for j, w in enumerate(weights)
    ]
    return count_cells(list(codes.T), [], domains, [])[0]


@pytest.mark.parametrize("algorithm", BOTH, ids=lambda a: a.name)
@pytest.mark.parametrize("seed", range(16))
def test_within_the_bound_of_the_optimum(algorithm: SuppressionApproximation, seed: int):
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(4, 10)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
    n = max(n, k)
    codes = rng.integers(0, 4, (n, d)).astype(np.int32)
    weights = rng.choice([0.5, 1.0, 2.0], d).tolist()
    tally, goal = table(codes, weights), Goal([KAnonymity(k)])
    found = algorithm.decide(tally, goal, rng=rng)
    check_grouping(algorithm.name, tally, goal, found)
    rows = [row for row, _ in published_rows(Plan.of(tally, goal, found))]
    given_up = sum(w for row in rows for w, text in zip(weights, row, strict=True) if text == "*")
    best = least(codes, weights, k)
    assert best - 1e-9 <= given_up <= algorithm.bound(k) * best + 1e-9
    assert given_up <= float(found.notes["weight given up"]) + 1e-9
    assert found.notes["times the least weight at most"] == algorithm.bound(k)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_forest_edges_are_no_heavier_than_the_nearest_neighbours_that_are_needed(seed: int, k: int):
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(0, 5, (60, 4)).astype(np.int32), np.array([1.0, 2.0, 0.5, 1.0])
    to = grow_forest(codes, weights, k)
    apart = (codes[:, None, :] != codes[None, :, :]) @ weights
    nearest = np.sort(apart, axis=1)[:, k - 1]  # a record is its own nearest
    source = np.flatnonzero(to >= 0)
    assert np.all(apart[source, to[source]] <= nearest[source])
    group, n_groups = cut_trees(to, k)
    sizes = np.bincount(group, minlength=n_groups)
    assert sizes.min() >= k
    assert sizes.max() <= max(3 * k - 3, k)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("seed", range(5))
def test_the_cover_becomes_a_partition_of_allowed_sizes(seed: int, k: int):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, (40, 3)).astype(np.int32)
    member = cover_by_diameter(codes, np.ones(3), k)
    assert member.any(axis=0).all()
    assert set(member.sum(axis=1).tolist()) <= set(range(k, 2 * k))
    owner = cover_to_partition(member, k)
    sizes = np.bincount(owner)
    assert owner.min() >= 0
    assert set(sizes[sizes > 0].tolist()) <= set(range(k, 2 * k))


def test_large_tables_are_refused_with_one_that_takes_them():
    rng = np.random.default_rng(0)
    tally = table(rng.integers(0, 30, (5001, 2)).astype(np.int32), [1.0, 1.0])
    with pytest.raises(JobError, match="E111 diameter-cover would take too long") as error:
        DiameterCover().decide(tally, Goal([KAnonymity(2)]), rng=rng)
    assert "local-suppression" in str(error.value)
