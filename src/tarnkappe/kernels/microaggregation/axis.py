"""Points in a line, cut into groups of k to 2k - 1 neighbours where that costs least."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import kernel


@kernel
def cheapest_cuts(points: Floats, k: int) -> tuple[Codes, float]:
    """The group of every point of the line, and the squared error of all groups together: the least there is.

    Mean and error of a group grow point by point, so nothing is lost by subtracting large sums.
    """
    n, d = points.shape
    best, before = np.empty(n + 1), np.zeros(n + 1, np.int64)
    best[0] = 0.0
    for i in range(1, n + 1):
        best[i] = np.inf
    mean = np.empty(d)
    for begin in range(n - k + 1):
        if best[begin] == np.inf:
            continue
        for j in range(d):
            mean[j] = 0.0
        error = 0.0
        for size in range(1, min(2 * k - 1, n - begin) + 1):
            far = 0.0
            for j in range(d):
                off = points[begin + size - 1, j] - mean[j]
                far += off * off
                mean[j] += off / size
            error += far * (size - 1) / size
            if size >= k and best[begin] + error < best[begin + size]:
                best[begin + size] = best[begin] + error
                before[begin + size] = begin
    groups, end = 0, n
    while end > 0:
        groups, end = groups + 1, before[end]
    group, end = np.empty(n, np.int32), n
    while end > 0:
        groups -= 1
        for i in range(before[end], end):
            group[i] = groups
        end = before[end]
    return group, float(best[n])
