"""Groups of a point and those nearest to it."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel


@kernel
def take_nearest(points: Floats, members: Counts, seed: int, k: int, number: int, group: Codes) -> None:
    """Put a point and the k - 1 nearest members without a group (-1) into one; of equals the first."""
    nearest, far = np.empty(k, np.int64), np.empty(k)
    found = 0
    for m in range(members.size):
        i = members[m]
        if group[i] >= 0:
            continue
        apart = 0.0
        for j in range(points.shape[1]):
            apart += (points[i, j] - points[seed, j]) ** 2
        if i == seed:
            apart = -1.0  # it comes first, even if others lie just there
        if found < k:
            found += 1
        elif apart >= far[k - 1]:
            continue
        at = found - 1
        while at > 0 and far[at - 1] > apart:
            nearest[at], far[at] = nearest[at - 1], far[at - 1]
            at -= 1
        nearest[at], far[at] = i, apart
    for m in range(found):
        group[nearest[m]] = number


@kernel
def join_nearest(points: Floats, members: Counts, k: int, first: int, end: int, group: Codes) -> None:
    """Members without a group join the one whose mean is nearest: of k members each, numbered from first to end."""
    d = points.shape[1]
    means = np.zeros((end - first, d))
    for m in range(members.size):
        i = members[m]
        if group[i] >= 0:
            for j in range(d):
                means[group[i] - first, j] += points[i, j] / k
    for m in range(members.size):
        i = members[m]
        if group[i] >= 0:
            continue
        best, least = first, np.inf
        for g in range(end - first):
            apart = 0.0
            for j in range(d):
                apart += (points[i, j] - means[g, j]) ** 2
            if apart < least:
                best, least = first + g, apart
        group[i] = best


@kernel
def condense(points: Floats, order: Counts, k: int) -> Codes:
    """Groups around the points that come first in the order; those left over join the nearest group."""
    n = order.size
    group = np.full(n, -1, np.int32)
    left = order.copy()
    n_left = n
    for number in range(n // k):
        take_nearest(points, left[:n_left], left[0], k, number, group)
        rest = 0
        for m in range(n_left):
            if group[left[m]] < 0:
                left[rest] = left[m]
                rest += 1
        n_left = rest
    join_nearest(points, order, k, 0, n // k, group)
    return group
