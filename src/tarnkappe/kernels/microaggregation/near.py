"""The nearest points of every point: compared within blocks, then with the neighbours of neighbours."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import kernel


@kernel
def offer(near: Codes, gap: Floats, candidate: int, distance: float) -> None:
    """Take a candidate into the list of a point, sorted by distance and number, unless it is there or too far."""
    place = near.size
    while place > 0 and (gap[place - 1] > distance or (gap[place - 1] == distance and near[place - 1] > candidate)):
        place -= 1
    if place == near.size or (place > 0 and near[place - 1] == candidate):
        return
    for p in range(near.size - 1, place, -1):
        near[p], gap[p] = near[p - 1], gap[p - 1]
    near[place], gap[place] = candidate, distance


@kernel
def compare(points: Floats, order: Codes, count: int, begin: int, end: int, near: Codes, gap: Floats) -> None:
    """Offer to the points of a range of the order all others of their block."""
    n, d = points.shape
    size = n // count + 1
    axis, distance = np.empty((d, size)), np.empty(size)
    for b in range(count):
        first, last = n * b // count, n * (b + 1) // count
        if last <= begin or first >= end:
            continue
        for q in range(last - first):
            for j in range(d):
                axis[j, q] = points[order[first + q], j]
        for p in range(max(first, begin), min(last, end)):
            i = order[p]
            for q in range(last - first):
                distance[q] = 0.0
            for j in range(d):  # one axis after the other: several points at a time
                for q in range(last - first):
                    distance[q] += (axis[j, q] - points[i, j]) ** 2
            for q in range(last - first):
                if distance[q] <= gap[i, -1] and first + q != p:
                    offer(near[i], gap[i], order[first + q], distance[q])


@kernel
def descend(points: Floats, known: Codes, begin: int, end: int, near: Codes, gap: Floats) -> None:
    """Offer to the points of a range the neighbours that their neighbours know."""
    n, d = points.shape
    m = known.shape[1]
    seen = np.full(n, -1, np.int32)
    for i in range(begin, end):
        seen[i] = i
        for a in range(m):
            seen[known[i, a]] = i
        for a in range(m):
            for b in range(m):
                candidate = known[known[i, a], b]
                if seen[candidate] == i:
                    continue
                seen[candidate] = i
                distance = 0.0
                for j in range(d):
                    distance += (points[candidate, j] - points[i, j]) ** 2
                if distance <= gap[i, m - 1]:
                    offer(near[i], gap[i], candidate, distance)
