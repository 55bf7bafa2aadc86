"""Specialisation towards the clusters of the raw table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from strategies import goals, tallies
from tarnkappe.algorithms.subtree.clusters import cluster_cells
from tarnkappe.algorithms.subtree.tds_cluster import TdsForClusters
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.errors import InfeasibleError, JobError
from tarnkappe.goal import Goal
from tarnkappe.tally import Domain, Tally, count_cells
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.testing import check_grouping


def two_clusters() -> Tally:
    """Young people with few savings and old people with many; sex is spread over both."""
    values = np.array([20.0, 21.0, 22.0, 70.0, 71.0, 72.0])
    age = Domain("age", Taxonomy.scale([f"{v:g}" for v in values]), values)
    savings = Domain("savings", Taxonomy.scale([f"{v:g}" for v in values]), values)
    sex = Domain("sex", Taxonomy.from_nested({"any": ["f", "m"]}))
    codes = np.tile(np.arange(6), 4)
    return count_cells([codes, codes[::-1].copy(), np.tile([0, 1, 1, 0, 0, 1], 4)], [], [age, savings, sex], [])[0]


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_found_from_any_seed(seed: int):
    table = two_clusters()
    cluster = cluster_cells(table, 2, np.random.default_rng(seed))
    young = table.quasi[:, 0] < 3
    assert len(set(cluster[young])) == len(set(cluster[~young])) == 1
    assert cluster[young][0] != cluster[~young][0]


def test_what_tells_clusters_apart_is_kept():
    table = two_clusters()
    grouping = TdsForClusters(clusters=2).decide(table, Goal([KAnonymity(12)]), rng=np.random.default_rng(1))
    assert sorted(grouping.fixed.lo[:, 0]) == [0, 3]
    assert sorted(grouping.fixed.lo[:, 1]) == [0, 3]
    assert set(grouping.fixed.node[:, 2]) == {0}


@given(tallies(wildcards=False), st.integers(2, 6), st.integers(0, 100))
def test_clusters_are_numbered_without_gaps(tally: Tally, n_clusters: int, seed: int):
    cluster = cluster_cells(tally, n_clusters, np.random.default_rng(seed))
    assert len(cluster) == tally.n_cells
    assert np.array_equal(np.unique(cluster), np.arange(cluster.max() + 1))
    assert cluster.max() < n_clusters


def test_the_same_cell_values_are_in_one_cluster():
    """Cells that differ in a secret only are in the same cluster."""
    secret = Domain("s", Taxonomy.from_nested(["a", "b"]))
    domain = Domain("x", Taxonomy.from_nested(["p", "q", "r"]))
    table = count_cells([np.array([0, 0, 1, 2])], [np.array([0, 1, 0, 1])], [domain], [secret])[0]
    cluster = cluster_cells(table, 3, np.random.default_rng(0))
    assert cluster[0] == cluster[1]
    assert len(set(cluster)) == 3


@settings(max_examples=examples(40))
@given(tallies(wildcards=False), goals())
def test_every_goal_is_kept(tally: Tally, goal: Goal):
    try:
        grouping = TdsForClusters(clusters=3).decide(tally, goal, rng=np.random.default_rng(0))
    except InfeasibleError:
        return
    check_grouping("tds-cluster", tally, goal, grouping)


def test_one_cluster_is_none():
    with pytest.raises(JobError, match="at least 2"):
        TdsForClusters(clusters=1)
