"""Maximum distance to average vector: groups of k around the points that are farthest from the others."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.tiles import ANY, NONE, WIDTH, Tiles, closed_up, drop, search, tiles_of


@kernel
def _take(points: Floats, tiles: Tiles, near: Codes, number: int, group: Codes, total: Floats) -> None:
    """Make the nearest points that were found a group; they leave the tiles and the sum of what is left."""
    for p in range(near.size):
        i = near[p]
        group[i] = number
        drop(tiles, i)
        for j in range(total.size):
            total[j] -= points[i, j]


@helper
def _anchor(points: Floats, tiles: Tiles, group: Codes, mean: Floats, reach: Floats, top: Floats) -> None:
    """How far every point is from the mean, and the farthest of every tile."""
    for p in range(tiles.number.size):
        if p % WIDTH == 0:
            top[p // WIDTH] = -1.0
        i = tiles.number[p]
        if group[i] >= 0:
            reach[p] = -1.0
            continue
        square = 0.0
        for j in range(mean.size):
            square += (points[i, j] - mean[j]) ** 2
        reach[p] = np.sqrt(square)
        top[p // WIDTH] = max(top[p // WIDTH], reach[p])


@helper
def _outermost(
    points: Floats, tiles: Tiles, group: Codes, mean: Floats, drift: float, reach: Floats, top: Floats
) -> tuple[int, int]:
    """The point farthest from the mean, and how many were looked at.

    `reach` is how far the points were from an earlier mean. Since then the mean has moved by `drift`, and they cannot
    be farther than both together.
    """
    farthest, most, limit, looked = -1, -1.0, -1.0, 0
    outer = 0
    for t in range(top.size):
        if top[t] > top[outer]:
            outer = t
    for step in range(-1, top.size):
        t = outer if step == -1 else step
        if top[t] < limit:
            continue
        top[t] = -1.0
        for p in range(t * WIDTH, min((t + 1) * WIDTH, tiles.number.size)):
            i = tiles.number[p]
            if group[i] >= 0:
                reach[p] = -1.0
            top[t] = max(top[t], reach[p])
            if reach[p] < 0.0 or reach[p] < limit:
                continue
            looked += 1
            square = 0.0
            for j in range(mean.size):
                square += (points[i, j] - mean[j]) ** 2
            if square > most or (square == most and i < farthest):
                farthest, most = i, square
                root = np.sqrt(most)
                limit = root - drift - 1e-9 * (root + drift)  # roots are rounded
    return farthest, looked


@kernel
def mdav(points: Floats, order: Codes, total: Floats, k: int, group: Codes, place: Codes) -> None:
    """Group the points that an order names: k around the farthest from the mean, k around the farthest from that.

    `total` is their sum; what is left of it gives the means. There are as many groups as k goes into the number of
    points. The order decides nothing but which points share a tile.
    """
    d = points.shape[1]
    left = order.size
    near, gap = np.empty(k, np.int32), np.empty(k)
    mean, anchor = np.zeros(d), np.zeros(d)
    for i in order:
        group[i] = -1
    tiles = tiles_of(points, order, place)
    reach, top = np.empty(order.size), np.empty(tiles.lower.size)
    looked = order.size
    while left >= 2 * k:
        if 4 * left < 3 * tiles.number.size:  # close up
            tiles = closed_up(points, tiles, group)
            top = np.empty(tiles.lower.size)
            looked = left
        drift = 0.0
        for j in range(d):
            mean[j] = total[j] / left
            drift += (mean[j] - anchor[j]) ** 2
        if 8 * looked > left:
            _anchor(points, tiles, group, mean, reach, top)
            for j in range(d):
                anchor[j] = mean[j]
            drift = 0.0
        seed, looked = _outermost(points, tiles, group, mean, np.sqrt(drift), reach, top)
        other = search(tiles, points[seed], near, gap, ANY)
        _take(points, tiles, near, (order.size - left) // k, group, total)
        left -= k
        if left < 2 * k:
            break
        if group[other] >= 0:  # all are equally far
            other = search(tiles, points[seed], near, gap, ANY)
        search(tiles, points[other], near, gap, NONE)
        _take(points, tiles, near, (order.size - left) // k, group, total)
        left -= k
    for i in order:
        if group[i] < 0:
            group[i] = (order.size - left) // k


@kernel
def mdav_blocks(
    points: Floats, order: Codes, count: int, k: int, begin: int, end: int, group: Codes, place: Codes
) -> None:
    """Group the points of a range of blocks, each by itself; of `count` blocks that the order has (see `split`).

    Numbers are those of the groups within their block.
    """
    n = order.size
    for b in range(begin, end):
        block = order[n * b // count : n * (b + 1) // count]
        total = np.zeros(points.shape[1])
        for i in block:
            for j in range(total.size):
                total[j] += points[i, j]
        mdav(points, block, total, k, group, place)
