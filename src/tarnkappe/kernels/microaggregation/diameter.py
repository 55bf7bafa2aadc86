"""Groups of k around the two points that are farthest apart."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.tiles import ANY, NONE, WIDTH, Tiles, closed_up, drop, search, tiles_of


@helper
def _apart(points: Floats, i: int, centre: Floats) -> float:
    square = 0.0
    for j in range(centre.size):
        square += (points[i, j] - centre[j]) ** 2
    return square


@helper
def _first_bounds(points: Floats, mean: Floats) -> Floats:
    """How far from any other point each can be at most, squared: no farther than by way of the mean."""
    bound = np.empty(points.shape[0])
    most = 0.0
    for i in range(bound.size):
        bound[i] = np.sqrt(_apart(points, i, mean))
        most = max(most, bound[i])
    for i in range(bound.size):
        bound[i] = (bound[i] + most) ** 2 * (1.0 + 1e-9)  # roots are rounded
    return bound


@helper
def _largest(values: Floats) -> int:
    """Where the largest value is, the first of equals."""
    best = 0
    for i in range(values.size):
        if values[i] > values[best]:
            best = i
    return best


@helper
def _lower(bound: Floats, top: Floats, i: int, value: float) -> None:
    """Lower the bound of a point; `top` has the largest of every 64 bounds."""
    bound[i] = value
    some = bound[i // WIDTH * WIDTH : (i // WIDTH + 1) * WIDTH]
    top[i // WIDTH] = some[_largest(some)]


@kernel
def _take(
    points: Floats, tiles: Tiles, k: int, seed: int, number: int, group: Codes, bound: Floats, top: Floats
) -> None:
    """Make a point and its nearest a group."""
    near, gap = np.empty(k, np.int32), np.empty(k)
    search(tiles, points[seed], near, gap, NONE)
    for p in range(k):
        group[near[p]] = number
        drop(tiles, near[p])
        _lower(bound, top, near[p], -1.0)


@kernel
def group_extremes(points: Floats, order: Codes, mean: Floats, k: int, group: Codes) -> int:
    """Group the two points that are farthest apart with their nearest, again and again; how many groups there are then.

    `bound` says how far from any other each point can be. The point with the largest bound is compared with all others;
    if the bound is true, no two points are farther apart. Fewer than k points stay without a group: -1. The `order`
    decides nothing but which points share a tile.
    """
    left = order.size
    one, one_gap = np.empty(1, np.int32), np.empty(1)
    for i in order:
        group[i] = -1
    place = np.empty(order.size, np.int32)
    tiles = tiles_of(points, order, place)
    bound, partner = _first_bounds(points, mean), np.full(order.size, -1, np.int32)
    top = np.empty((order.size + WIDTH - 1) // WIDTH)
    for i in range(0, order.size, WIDTH):
        _lower(bound, top, i, bound[i])
    while left >= 2 * k:
        if 4 * left < 3 * tiles.number.size:  # close up
            tiles = closed_up(points, tiles, group)
        while True:
            block = _largest(top) * WIDTH
            seed = block + _largest(bound[block : block + WIDTH])
            other = partner[seed]
            if other >= 0 and group[other] < 0:
                break
            partner[seed] = search(tiles, points[seed], one, one_gap, ANY)
            _lower(bound, top, seed, _apart(points, partner[seed], points[seed]))
        number = (order.size - left) // k
        _take(points, tiles, k, seed, number, group, bound, top)
        if group[other] >= 0:  # all are equally far
            other = search(tiles, points[seed], one, one_gap, ANY)
        _take(points, tiles, k, other, number + 1, group, bound, top)
        left -= 2 * k
    number = (order.size - left) // k
    if left < k and number > 0:
        return number
    for i in range(group.size):
        if group[i] < 0:
            group[i] = number
    return number + 1
