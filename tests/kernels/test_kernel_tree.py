"""The tree of boxes finds what a look at everything finds."""

from __future__ import annotations

import numpy as np
import pytest

from tarnkappe.kernels.microaggregation.tree import boxes_of, cheapest_others, nearest, widen


def groups(n: int, seed: int, steps: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Means, on a coarse grid if there are to be ties, and sizes of groups."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n, 3))
    return (np.round(means * steps) / steps if steps else means), rng.integers(1, 6, n)


@pytest.mark.parametrize("n", [1, 2, 17, 64, 500])
@pytest.mark.parametrize("steps", [0, 1])
def test_nearest_is_the_first_of_the_nearest(n: int, steps: int):
    means, size = groups(n, n, steps)
    chosen = np.arange(0, n, 2, dtype=np.int32)
    boxes = boxes_of(means, size, chosen, np.empty(n, np.int32))
    for point in groups(40, 7, steps)[0]:
        apart = ((means[chosen] - point) ** 2).sum(axis=1)
        best, least = nearest(boxes, means, point, n, np.inf)
        assert least == pytest.approx(apart.min())
        if steps:
            assert best == chosen[np.argmin(apart)]


def test_boxes_follow_means_that_move():
    means, size = groups(100, 1)
    boxes = boxes_of(means, size, np.arange(100, dtype=np.int32), np.empty(100, np.int32))
    means[42] = 9.0
    widen(boxes, boxes.leaf[42], means[42])
    assert nearest(boxes, means, np.full(3, 8.9), 100, np.inf)[0] == 42


@pytest.mark.parametrize("n", [2, 33, 400])
@pytest.mark.parametrize("steps", [0, 1])
@pytest.mark.parametrize("larger", [0, 20])
def test_the_cheapest_partner_is_that_of_all_pairs(n: int, steps: int, larger: int):
    means, size = groups(n, n + 1, steps)
    size[n // 2 :] += larger  # boxes of large groups are left out sooner
    share = size[:, None] * size / (size[:, None] + size)
    price = ((means[:, None] - means) ** 2).sum(axis=2) * share
    np.fill_diagonal(price, np.inf)
    chosen = np.arange(0, n, 3)
    partner, found = cheapest_others(means, size, chosen)
    assert found == pytest.approx(price[chosen].min(axis=1))
    assert price[chosen, partner] == pytest.approx(price[chosen].min(axis=1))
