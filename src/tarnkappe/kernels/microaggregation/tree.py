"""Groups of points in a tree of boxes: the nearest or cheapest of them is found without looking at most boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel
from tarnkappe.kernels.microaggregation.blocks import block_count, split

#: Groups of a leaf, at most.
LEAF = 16

#: Boxes that wait to be opened, at most: two for each level.
_DEEPEST = 128


class Boxes(NamedTuple):
    """Boxes around the means of groups: that of node 1 holds all, those of 2v and 2v + 1 the halves of that of node v.

    The last half of the nodes are the leaves; `leaf` says in which of them a group is. A box may be too large, but not
    too small. No group in a box has fewer points than the `fewest` of the box. Boxes that wait to be opened are on the
    `stack`, with their distance `away` from the point that is looked around.
    """

    order: Codes
    leaf: Codes
    low: Floats
    high: Floats
    fewest: Counts
    stack: Counts
    away: Floats


@kernel
def price_of(mean: Floats, size: Counts, g: int, h: int, most: float) -> float:
    """By how much the squared error grows if two groups become one; something above `most` if by more than that."""
    share = size[g] * size[h] / (size[g] + size[h])
    far = 0.0
    for j in range(mean.shape[1]):
        far += (mean[g, j] - mean[h, j]) ** 2
        if far * share > most:
            break
    return float(far * share)


@kernel
def widen(boxes: Boxes, leaf: int, point: Floats) -> None:
    """Make the boxes of a leaf, and of all above it, hold a point."""
    v = boxes.low.shape[0] // 2 + leaf
    while v > 0:
        for j in range(point.size):
            boxes.low[v, j] = min(boxes.low[v, j], point[j])
            boxes.high[v, j] = max(boxes.high[v, j], point[j])
        v //= 2


@kernel
def count_again(boxes: Boxes, leaf: int, size: Counts) -> None:
    """The fewest points of a group in a leaf, and in all boxes above it, after groups there have grown or gone."""
    n, count = boxes.order.size, boxes.low.shape[0] // 2
    fewest = np.int64(np.iinfo(np.int32).max)
    for p in range(n * leaf // count, n * (leaf + 1) // count):
        if size[boxes.order[p]] > 0:
            fewest = min(fewest, size[boxes.order[p]])
    v = count + leaf
    while v > 0 and boxes.fewest[v] != fewest:
        boxes.fewest[v] = fewest
        fewest = min(fewest, boxes.fewest[v ^ 1]) if v > 1 else fewest
        v //= 2


@kernel
def boxes_of(mean: Floats, size: Counts, chosen: Codes, leaf: Codes) -> Boxes:
    """The chosen groups in a tree; `leaf` has room for all groups. They may grow, but not shrink unless they go."""
    n, d = chosen.size, mean.shape[1]
    own = np.empty((n, d))
    for c in range(n):
        own[c] = mean[chosen[c]]
    order = split(own, LEAF, np.empty((0, 2)))
    count = block_count(n, LEAF)
    low, high = np.full((2 * count, d), np.inf), np.full((2 * count, d), -np.inf)
    fewest = np.full(2 * count, np.iinfo(np.int32).max, np.int64)
    for b in range(count):
        for p in range(n * b // count, n * (b + 1) // count):
            g = chosen[order[p]]
            order[p], leaf[g] = g, b
            fewest[count + b] = min(fewest[count + b], size[g])
            for j in range(d):
                low[count + b, j] = min(low[count + b, j], mean[g, j])
                high[count + b, j] = max(high[count + b, j], mean[g, j])
    for v in range(count - 1, 0, -1):
        fewest[v] = min(fewest[2 * v], fewest[2 * v + 1])
        for j in range(d):
            low[v, j] = min(low[2 * v, j], low[2 * v + 1, j])
            high[v, j] = max(high[2 * v, j], high[2 * v + 1, j])
    return Boxes(order, leaf, low, high, fewest, np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST))


@kernel
def _outside(boxes: Boxes, v: int, point: Floats) -> float:
    """How far a point is from a box, squared; summed up like distances, so that it is never more than any of them."""
    far = 0.0
    for j in range(point.size):
        outside = max(boxes.low[v, j] - point[j], point[j] - boxes.high[v, j], 0.0)
        far += outside * outside
    return far


@kernel
def _open(boxes: Boxes, v: int, point: Floats, held: int) -> int:
    """Put the halves of a box on the stack, the nearer one on top; how many boxes it holds then."""
    first, second = 2 * v, 2 * v + 1
    far, near = _outside(boxes, first, point), _outside(boxes, second, point)
    if far < near:
        first, second, far, near = second, first, near, far
    boxes.stack[held], boxes.stack[held + 1] = first, second
    boxes.away[held], boxes.away[held + 1] = far, near
    return held + 2


@kernel
def nearest(boxes: Boxes, mean: Floats, point: Floats, best: int, least: float) -> tuple[int, float]:
    """The group whose mean is nearest to a point, and its squared distance; of equals the first.

    Only those that are nearer than `least`, the distance from the `best` so far, are looked for.
    """
    n, count = boxes.order.size, boxes.low.shape[0] // 2
    boxes.stack[0], boxes.away[0], held = 1, 0.0, 1
    while held > 0:
        held -= 1
        v = boxes.stack[held]
        if boxes.away[held] > least:
            continue
        if v < count:
            held = _open(boxes, v, point, held)
            continue
        for p in range(n * (v - count) // count, n * (v - count + 1) // count):
            g = boxes.order[p]
            apart = 0.0
            for j in range(point.size):
                apart += (point[j] - mean[g, j]) ** 2
                if apart > least:
                    break
            if apart < least or (apart == least and g < best):
                best, least = g, apart
    return best, least


@kernel
def cheapest(boxes: Boxes, mean: Floats, size: Counts, g: int, partner: Counts, price: Floats) -> None:
    """Look for the partner with which a group adds least to the squared error; of equals the smallest, then the next.

    Among equal points this keeps groups small, and not all of them wait for the same one. The distance of a box and the
    fewest points of a group in it say how cheap these can be.
    """
    n, total, count = boxes.order.size, size.size, boxes.low.shape[0] // 2
    price[g] = np.inf
    boxes.stack[0], boxes.stack[1], held = 1, count + boxes.leaf[g], 2  # its own leaf first
    boxes.away[0] = boxes.away[1] = 0.0
    while held > 0:
        held -= 1
        v = boxes.stack[held]
        share = size[g] * boxes.fewest[v] / (size[g] + boxes.fewest[v])
        if boxes.away[held] * share > price[g]:
            continue
        if v < count:
            held = _open(boxes, v, mean[g], held)
            continue
        for p in range(n * (v - count) // count, n * (v - count + 1) // count):
            h = boxes.order[p]
            if size[h] == 0 or h == g:
                continue
            found = price_of(mean, size, g, h, price[g])
            if found > price[g]:
                continue
            if found == price[g]:
                other = partner[g]
                if size[h] > size[other] or (size[h] == size[other] and (h - g) % total > (other - g) % total):
                    continue
            partner[g], price[g] = h, found


@kernel
def cheapest_others(means: Floats, size: Counts, chosen: Counts) -> tuple[Counts, Floats]:
    """For each of the chosen groups, the other one with which pooling adds least to the squared error, and how much."""
    n = size.size
    partner, price = np.full(n, -1, np.int64), np.full(n, np.inf)
    boxes = boxes_of(means, size, np.arange(n, dtype=np.int32), np.empty(n, np.int32))
    for g in chosen:
        cheapest(boxes, means, size, g, partner, price)
    return partner[chosen], price[chosen]
