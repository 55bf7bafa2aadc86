"""Groups one at a time, from the point farthest from the centre of all points inwards."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.points import group_means
from tarnkappe.kernels.microaggregation.tiles import NONE, Tiles, closed_up, drop, search, tiles_of

#: What extends a group of k up to 2k - 1: nothing, near points without near others, points it costs less than others.
FIXED, BY_GAP, BY_ERROR = 0, 1, 2


@helper
def _extended_by_gap(points: Floats, tiles: Tiles, member: Codes, size: int, gamma: float) -> int:
    """Take the point nearest to any member, while that is nearer than gamma times the point's nearest other.

    Returns the new size.
    """
    near, gap = np.empty(1, np.int32), np.empty(1)
    pair, pair_gap = np.empty(2, np.int32), np.empty(2)
    nearest, distance = np.full(member.size, -1, np.int32), np.full(member.size, np.inf)
    taken, looked = -1, 0
    while size < member.size:
        best = 0
        for m in range(size):
            if m >= looked or nearest[m] == taken:
                search(tiles, points[member[m]], near, gap, NONE)
                nearest[m], distance[m] = near[0], gap[0]
            if distance[m] < distance[best] or (distance[m] == distance[best] and nearest[m] < nearest[best]):
                best = m
        looked, taken = size, nearest[best]
        if taken < 0:
            break
        search(tiles, points[taken], pair, pair_gap, NONE)  # itself and one more
        if not distance[best] < gamma * gamma * pair_gap[1]:
            break
        drop(tiles, taken)
        member[size] = taken
        size += 1
    return size


@helper
def _average(points: Floats, chosen: Codes, mean: Floats) -> None:
    """Write the mean of the chosen points."""
    for j in range(mean.size):
        mean[j] = 0.0
        for i in chosen:
            mean[j] += points[i, j]
        mean[j] /= chosen.size


@helper
def _extended_by_error(points: Floats, tiles: Tiles, member: Codes, size: int, gamma: float) -> int:
    """Take the point nearest to the mean, while it costs less here than gamma times what it costs a group of its own.

    Returns the new size.
    """
    d, k = points.shape[1], size
    near, gap = np.empty(1, np.int32), np.empty(1)
    own, own_gap = np.empty(k, np.int32), np.empty(k)
    mean, other = np.empty(d), np.empty(d)
    _average(points, member[:size], mean)
    while size < member.size:
        search(tiles, mean, near, gap, NONE)
        i = near[0]
        if i < 0:
            break
        search(tiles, points[i], own, own_gap, NONE)
        if own[k - 1] < 0:
            break
        _average(points, own, other)
        apart = 0.0
        for j in range(d):
            apart += (points[i, j] - other[j]) ** 2
        if not gap[0] * size / (size + 1) < gamma * apart * k / (k - 1):
            break
        drop(tiles, i)
        member[size] = i
        size += 1
        _average(points, member[:size], mean)
    return size


@kernel
def group_outwards(points: Floats, order: Codes, outward: Codes, k: int, rule: int, gamma: float, group: Codes) -> int:
    """Group every point of `outward` that has no group yet with its nearest; how many groups there are then.

    Fewer than k points stay without a group: -1. The `order` decides nothing but which points share a tile.
    """
    number, left = 0, order.size
    near, gap = np.empty(k, np.int32), np.empty(k)
    member = np.empty(2 * k - 1, np.int32)
    for i in order:
        group[i] = -1
    place = np.empty(order.size, np.int32)
    tiles = tiles_of(points, order, place)
    for seed in outward:
        if left < k:
            break
        if group[seed] >= 0:
            continue
        if 4 * left < 3 * tiles.number.size:  # close up
            tiles = closed_up(points, tiles, group)
        search(tiles, points[seed], near, gap, NONE)
        for p in range(k):
            member[p] = near[p]
            drop(tiles, member[p])
        size = k
        if rule == BY_GAP:
            size = _extended_by_gap(points, tiles, member, size, gamma)
        elif rule == BY_ERROR:
            size = _extended_by_error(points, tiles, member, size, gamma)
        for i in member[:size]:
            group[i] = number
        left -= size
        number += 1
    return number


@kernel
def join_rest(points: Floats, group: Codes, n_groups: int) -> None:
    """Give every point without a group to the one with the nearest mean, the first of equals."""
    owner = np.empty_like(group)
    for i in range(group.size):
        owner[i] = group[i] if group[i] >= 0 else n_groups
    means, _ = group_means(points, owner, n_groups + 1)
    for i in range(group.size):
        if group[i] >= 0:
            continue
        least = np.inf
        for g in range(n_groups):
            square = 0.0
            for j in range(points.shape[1]):
                square += (points[i, j] - means[g, j]) ** 2
            if square < least:
                group[i], least = g, square
