"""Maximum distance to average vector: groups of k around the points that are farthest from the others."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


@njit(cache=True, nogil=True)
def _distances(points: Floats, left: Counts, n_left: int, centre: Floats, out: Floats) -> int:
    """Squared distances of the points that are left from a centre; which of them is farthest, the first of equals."""
    far, most = 0, -1.0
    for i in range(n_left):
        total = 0.0
        for j in range(points.shape[1]):
            total += (points[left[i], j] - centre[j]) ** 2
        out[i] = total
        if total > most:
            far, most = i, total
    return far


@njit(cache=True, nogil=True)
def _take(points: Floats, left: Counts, n_left: int, seed: int, k: int, number: int, group: Codes) -> int:
    """Put a point and the k - 1 nearest that are left into a group; how many are left then, in their old order."""
    distance = np.empty(n_left)
    _distances(points, left, n_left, points[seed], distance)
    order = np.argsort(distance, kind="mergesort")
    for i in range(k):
        group[left[order[i]]] = number
    rest = 0
    for i in range(n_left):
        if group[left[i]] < 0:
            left[rest] = left[i]
            rest += 1
    return rest


@njit(cache=True, nogil=True)
def mdav(points: Floats, k: int) -> Codes:
    """The group of every point: k points around the farthest from the mean, k around the farthest from that."""
    n, d = points.shape
    group = np.full(n, -1, np.int32)
    left = np.arange(n)
    n_left, number = n, 0
    distance = np.empty(n)
    mean = np.empty(d)
    while n_left >= 2 * k:
        mean[:] = 0.0
        for i in range(n_left):
            mean += points[left[i]]
        mean /= n_left
        first = left[_distances(points, left, n_left, mean, distance)]
        if n_left < 3 * k:
            n_left = _take(points, left, n_left, first, k, number, group)
            number += 1
            break
        _distances(points, left, n_left, points[first], distance)
        n_left = _take(points, left, n_left, first, k, number, group)
        second = left[_distances(points, left, n_left, points[first], distance)]
        n_left = _take(points, left, n_left, second, k, number + 1, group)
        number += 2
    for i in range(n_left):
        group[left[i]] = number
    return group
