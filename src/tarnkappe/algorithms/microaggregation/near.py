"""Lists of near points."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.blocks import block_count, split
from tarnkappe.kernels.microaggregation.near import compare, descend
from tarnkappe.threads import map_threads, share_out

#: Up to so many points all are compared with all.
_FEW = 5000

#: How often the points are divided into blocks anew, and how many points a block has at least for each neighbour.
_TREES = 10
_BLOCK, _BLOCK_PER_NEIGHBOUR = 128, 4


def near(points: Floats, m: int, rng: np.random.Generator) -> Codes:
    """The `m` points nearest to each point (all others, if there are fewer), the nearest first.

    Exact for up to 5000 points. More are divided into small blocks several times, each time along other lines, and
    compared within the blocks; then with the neighbours of the neighbours they have found. That takes O(n log n) and
    misses a few.
    """
    n = len(points)
    m = max(0, min(m, n - 1))
    lists, gap = np.full((n, m), -1, np.int32), np.full((n, m), np.inf)
    if m == 0:
        return lists
    if n <= _FEW:
        _compare(points, np.arange(n, dtype=np.int32), 1, lists, gap)
        return lists
    size = max(_BLOCK, _BLOCK_PER_NEIGHBOUR * (m + 1))
    count = block_count(n, size)
    first = split(points, size, rng.random((count, 2)))
    ordered = points[first]  # neighbours are neighbours in memory too
    picks = [rng.random((count, 2)) for _ in range(_TREES - 1)]
    others = map_threads(lambda pick: split(ordered, size, pick), picks)
    for order in (np.arange(n, dtype=np.int32), *others):
        _compare(ordered, order, count, lists, gap)
    known = lists.copy()
    share_out(lambda a, b: descend(ordered, known, a, b, lists, gap), np.arange(n + 1) * m * m)
    out = np.empty_like(lists)
    out[first] = first[lists]
    return out


def _compare(points: Floats, order: Codes, count: int, lists: Codes, gap: Floats) -> None:
    """Compare all points of each of `count` blocks, in threads."""
    work = np.arange(len(points) + 1) * (len(points) // count)
    share_out(lambda a, b: compare(points, order, count, a, b, lists, gap), work)
