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
    tree = Taxonomy.scale([f"{v:.17g}" for v in values])
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
    codes, published = np.array([0, 1, 2, 0]), np.array([0.0, 2, 0, 6])
    assert block.apart(codes, published) == pytest.approx([0, 0, 100 / 14.75, 36 / 14.75])
    assert block.from_mean == pytest.approx(block.coordinates[:, 0] ** 2)


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
    assert block.apart(np.array([2, 0, 0]), np.array([np.nan, 1.0, np.nan])) == pytest.approx(
        [0, 0, ((known[0] - gap) ** 2).sum()]
    )


@pytest.mark.parametrize("size", [1e-320, 1.0, 1e200, 1e308])
def test_numbers_of_any_size_are_standardised(size: float):
    counts = np.array([1, 1])
    block = Block.of(line([size / 4, size]), counts)
    assert block.coordinates[:, 0] == pytest.approx([-1, 1])
    assert block.apart(np.array([0, 1]), np.array([size / 4, size / 4])) == pytest.approx([0, 4])


def exact(tree: Taxonomy) -> np.ndarray:
    """The squared distances of all leaves: the share of leaves below the lowest common node."""
    leaf = np.arange(tree.n_leaves)
    common = tree.lca(np.minimum(leaf[:, None], leaf), np.maximum(leaf[:, None], leaf))
    return (tree.leaf_counts[common] - 1) / max(tree.n_leaves - 1, 1) * (leaf[:, None] != leaf)


def squared(points: np.ndarray) -> np.ndarray:
    return ((points[:, None] - points) ** 2).sum(axis=2)


@given(taxonomies(), st.integers(0, 10**6))
def test_distances_of_nominal_values_are_those_of_the_taxonomy(tree: Taxonomy, seed: int):
    """Up to one factor, squared distances are the share of leaves below the lowest common node."""
    counts = np.random.default_rng(seed).integers(1, 5, tree.n_leaves)
    block = Block.of(Domain("x", tree), counts)
    asked = exact(tree)
    n = counts.sum()
    spread = float(counts @ asked @ counts) / (2 * n * n) or 1.0  # half the mean of all pairs
    assert squared(block.coordinates) == pytest.approx(asked / spread, abs=1e-9)
    a, b = np.indices(asked.shape).reshape(2, -1)
    assert block.apart(a, b.astype(float)) == pytest.approx(asked.ravel() / spread, abs=1e-9)
    assert block.from_mean == pytest.approx(asked @ counts / n / spread - (tree.n_leaves > 1), abs=1e-9)


TREES = {
    "flat": Taxonomy.from_nested([f"v{i}" for i in range(300)]),
    "two levels": Taxonomy.from_nested({f"g{i}": [f"g{i}.{j}" for j in range(20)] for i in range(15)}),
    "just exact": Taxonomy.from_nested([f"v{i}" for i in range(65)]),
}


@pytest.mark.parametrize("shape", TREES)
def test_the_loss_of_many_values_is_exact_and_groups_see_all_of_them(shape: str):
    tree = TREES[shape]
    counts = np.maximum(1000 // np.arange(1, tree.n_leaves + 1), 1)
    block = Block.of(Domain("x", tree), counts)
    asked, n = exact(tree), counts.sum()
    spread = counts @ asked @ counts / (2 * n * n)
    assert block.variance == pytest.approx(1)
    assert block.from_mean == pytest.approx(asked @ counts / n / spread - 1)
    a, b = np.indices(asked.shape).reshape(2, -1)
    assert block.apart(a, b.astype(float)) == pytest.approx(asked.ravel() / spread)
    assert block.coordinates.shape[1] <= 64
    seen = squared(block.coordinates)[~np.eye(len(asked), dtype=bool)] * spread / asked[~np.eye(len(asked), dtype=bool)]
    if tree.n_leaves <= 65:
        assert seen == pytest.approx(np.ones_like(seen))
    assert 0.3 < seen.min() <= seen.max() < 1.7
    assert np.quantile(abs(seen - 1), 0.9) < 0.35


def test_weights_scale_columns():
    domains = [line([0, 1]), Domain("y", Taxonomy.scale(["0", "1"]), np.array([0.0, 1]), weight=3)]
    tally, _ = count_cells([np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])], [], domains, [])
    points = Space.of(tally).points(tally.quasi)
    assert points.var(axis=0) == pytest.approx([0.5, 1.5])


def test_numbers_that_differ_in_their_last_digits_only_are_told_apart():
    counts = np.array([5, 1, 3])
    block, near = Block.of(line([1e16, 1e16 + 2, 1e16 + 6]), counts), Block.of(line([0, 2, 6]), counts)
    assert block.coordinates == pytest.approx(near.coordinates)
    assert block.apart(np.array([0, 2]), np.array([1e16 + 4] * 2)) == pytest.approx(
        near.apart(np.array([0, 2]), np.array([4.0] * 2))
    )
