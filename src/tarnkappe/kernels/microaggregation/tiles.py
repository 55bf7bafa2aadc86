"""Points in small tiles: the nearest to a point and the farthest from it are found without looking at most tiles."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.near import offer

#: Points of a tile.
WIDTH = 64

#: So many of the nearest are kept in their order while they are searched; more are sorted in the end.
_FEW = 256

#: Whether a search is for the farthest point too: whatever its distance, or not at all.
ANY, NONE = -1.0, np.inf


class Tiles(NamedTuple):
    """Points in tiles of 64, axis by axis, with the box around each tile.

    A place without a point holds NaN, which is neither near nor far. `number` says which point a place holds, `place`
    where a point is. `lower` and `upper` are scratch: how near and how far the points of a tile can be.
    """

    axis: Floats
    number: Codes
    place: Codes
    low: Floats
    high: Floats
    lower: Floats
    upper: Floats


@kernel
def tiles_of(points: Floats, order: Codes, place: Codes) -> Tiles:
    """The points that an order names, in this order; `place` has room for all points."""
    d = points.shape[1]
    count = (order.size + WIDTH - 1) // WIDTH
    axis = np.full((count, d, WIDTH), np.nan)
    low, high = np.full((d, count), np.inf), np.full((d, count), -np.inf)
    for p in range(order.size):
        t = p // WIDTH
        place[order[p]] = p
        for j in range(d):
            x = points[order[p], j]
            axis[t, j, p % WIDTH] = x
            low[j, t] = min(low[j, t], x)
            high[j, t] = max(high[j, t], x)
    return Tiles(axis, order, place, low, high, np.empty(count), np.empty(count))


@kernel
def closed_up(points: Floats, tiles: Tiles, group: Codes) -> Tiles:
    """Tiles of the points that have no group, in their old order."""
    left = np.empty(tiles.number.size, np.int32)
    count = 0
    for i in tiles.number:
        if group[i] < 0:
            left[count] = i
            count += 1
    return tiles_of(points, left[:count], tiles.place)


@kernel
def drop(tiles: Tiles, point: int) -> None:
    """Take a point out of its tile."""
    p = tiles.place[point]
    for j in range(tiles.axis.shape[1]):
        tiles.axis[p // WIDTH, j, p % WIDTH] = np.nan


@kernel
def measure(tiles: Tiles, t: int, centre: Floats, distance: Floats) -> None:
    """The squared distances of a tile's points from a centre."""
    for q in range(WIDTH):
        distance[q] = 0.0
    for j in range(centre.size):  # one axis after the other: several points at a time
        for q in range(WIDTH):
            distance[q] += (tiles.axis[t, j, q] - centre[j]) ** 2


@helper
def _bound(tiles: Tiles, centre: Floats) -> None:
    """How near to a centre and how far from it the points of each tile can be.

    Summed up like the distances themselves; rounding never turns a smaller term into a larger one, so the bounds hold
    to the last digit.
    """
    for t in range(tiles.lower.size):
        tiles.lower[t] = tiles.upper[t] = 0.0
    for j in range(centre.size):
        for t in range(tiles.lower.size):
            below, above = tiles.low[j, t] - centre[j], tiles.high[j, t] - centre[j]
            outside = below if below > 0.0 else (above if above < 0.0 else 0.0)
            farther = above if above > -below else below
            tiles.lower[t] += outside * outside
            tiles.upper[t] += farther * farther


@helper
def _farther(near: Codes, gap: Floats, a: int, b: int) -> bool:
    return bool(gap[a] > gap[b] or (gap[a] == gap[b] and near[a] > near[b]))


@helper
def _sink(near: Codes, gap: Floats, size: int) -> None:
    """Put the first of a heap where it belongs: nothing is farther than what stands above it."""
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            return
        if below + 1 < size and _farther(near, gap, below + 1, below):
            below += 1
        if not _farther(near, gap, below, at):
            return
        near[at], near[below] = near[below], near[at]
        gap[at], gap[below] = gap[below], gap[at]
        at = below


@helper
def _take_in(near: Codes, gap: Floats, candidate: int, distance: float) -> None:
    """Let a candidate take the place of the farthest of a heap, if it is nearer."""
    if distance < gap[0] or (distance == gap[0] and candidate < near[0]):
        near[0], gap[0] = candidate, distance
        _sink(near, gap, near.size)


@helper
def _sort(near: Codes, gap: Floats) -> None:
    """Put a heap into the order of distance and number."""
    for last in range(near.size - 1, 0, -1):
        near[0], near[last] = near[last], near[0]
        gap[0], gap[last] = gap[last], gap[0]
        _sink(near, gap, last)


@kernel
def search(tiles: Tiles, centre: Floats, near: Codes, gap: Floats, most: float) -> int:
    """Find the points nearest to a centre, as many as `near` has room for, and one farther away than `most`.

    The nearest are sorted; -1 stands where there are too few. Returns the farthest, if it is farther than `most`
    (`ANY`: whatever its distance; `NONE`: there is none), else -1. Of equally near or far points the first counts.
    """
    many = near.size > _FEW  # a heap then, the farthest first; it takes a logarithm where an order takes all
    count, last = tiles.lower.size, 0 if many else near.size - 1
    for p in range(near.size):
        near[p], gap[p] = -1, np.inf
    _bound(tiles, centre)
    inner = outer = 0
    for t in range(count):
        if tiles.lower[t] < tiles.lower[inner]:
            inner = t
        if tiles.upper[t] > tiles.upper[outer]:
            outer = t
    distance = np.empty(WIDTH)
    farthest = -1
    for step in range(-2, count):
        # First the tiles that promise most; the others can be skipped the sooner.
        t = inner if step == -2 else outer if step == -1 else step
        if tiles.upper[t] < 0.0 or (tiles.lower[t] > gap[last] and tiles.upper[t] < most):
            continue
        tiles.upper[t] = -1.0  # no second time
        measure(tiles, t, centre, distance)
        for q in range(WIDTH):
            if distance[q] <= gap[last]:
                if many:
                    _take_in(near, gap, tiles.number[t * WIDTH + q], distance[q])
                else:
                    offer(near, gap, tiles.number[t * WIDTH + q], distance[q])
            if distance[q] >= most:
                number = tiles.number[t * WIDTH + q]
                if distance[q] > most or number < farthest:
                    farthest, most = number, distance[q]
    if many:
        _sort(near, gap)
    return farthest
