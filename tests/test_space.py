"""Points: variance 1 per column, distances of the taxonomy, and missing values off the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import taxonomies
from tarnkappe.space import Block, Space
from tarnkappe.tally import Domain, count_cells
from tarnkappe.taxonomy.tree import Taxonomy


def line(values: list[float], missing: bool = False) -> Domain:
    tree = Taxonomy.scale([f"{v:g}" for v in values])
    if not missing:
        return Domain("x", tree, np.array(values))
    return Domain("x", tree.with_missing("?"), np.array([*values, np.nan]), missing=len(values))


def variance(block: Block, counts: np.ndarray) -> float:
    mean = counts @ block.coordinates / counts.sum()
    return float(counts @ ((block.coordinates - mean) ** 2).sum(axis=1) / counts.sum())


def test_numbers_are_standardised():
    counts = np.array([1, 2, 1])
    block = Block.of(line([0, 2, 10]), counts)
    assert block.coordinates.shape == (3, 1)
    assert counts @ block.coordinates[:, 0] == pytest.approx(0)
    assert variance(block, counts) == pytest.approx(1)
    assert block.at(np.array([0.0, 2, 10, 6])) == pytest.approx(
        np.vstack([block.coordinates, [[2.5 / np.sqrt(14.75)]]])
    )


def test_a_constant_column_has_no_extent():
    block = Block.of(line([7]), np.array([5]))
    assert block.coordinates.tolist() == [[0.0]]


def test_a_missing_number_lies_off_the_line_at_the_mean():
    counts = np.array([3, 3, 2])
    block = Block.of(line([1, 5], missing=True), counts)
    assert variance(block, counts) == pytest.approx(1)
    known, gap = block.coordinates[:2], block.coordinates[2]
    assert gap[0] == pytest.approx(0)
    assert np.linalg.norm(known[0] - gap) == pytest.approx(np.linalg.norm(known[1] - gap))
    assert block.at(np.array([np.nan, 1.0])) == pytest.approx(block.coordinates[[2, 0]])


@given(taxonomies(), st.integers(0, 10**6))
def test_distances_of_nominal_values_are_those_of_the_taxonomy(tree: Taxonomy, seed: int):
    """Up to one factor, squared distances are the share of leaves below the lowest common node."""
    counts = np.random.default_rng(seed).integers(1, 5, tree.n_leaves)
    block = Block.of(Domain("x", tree), counts)
    if tree.n_leaves == 1:
        return
    assert variance(block, counts) == pytest.approx(1)
    leaf = np.arange(tree.n_leaves)
    common = tree.lca(np.minimum(leaf[:, None], leaf), np.maximum(leaf[:, None], leaf))
    asked = (tree.leaf_counts[common] - 1) / (tree.n_leaves - 1) * (leaf[:, None] != leaf)
    found = ((block.coordinates[:, None] - block.coordinates) ** 2).sum(axis=2)
    assert found * block.unit**2 == pytest.approx(asked, abs=1e-9)


def test_many_values_take_few_coordinates():
    tree = Taxonomy.from_nested({f"g{i}": [f"g{i}.{j}" for j in range(20)] for i in range(40)})
    block = Block.of(Domain("x", tree), np.ones(800, np.int64))
    assert block.coordinates.shape == (800, 16)


def test_weights_scale_columns():
    domains = [line([0, 1]), Domain("y", Taxonomy.scale(["0", "1"]), np.array([0.0, 1]), weight=3)]
    tally, _ = count_cells([np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])], [], domains, [])
    points = Space.of(tally).points(tally.quasi)
    assert points.var(axis=0) == pytest.approx([0.5, 1.5])
