"""Clusters of points become groups of k to 2k - 1: small ones are merged, large ones split."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.condensing import join_nearest, take_nearest
from tarnkappe.kernels.microaggregation.points import group_means

#: How small clusters are merged: each until it is large enough, all once and again, or each with one that suffices.
INNER, OUTER, ONCE = 0, 1, 2


@helper
def _partner(means: Floats, size: Counts, c: int, at_least: int, by_sse: bool) -> int:
    """The cluster of at least so many points that suits cluster c best; -1 if there is none."""
    best, least = -1, np.inf
    for other in range(size.size):
        if other == c or size[other] < at_least:
            continue
        weight = size[c] * size[other] / (size[c] + size[other]) if by_sse else 1.0
        cost = 0.0
        for j in range(means.shape[1]):
            cost += weight * (means[c, j] - means[other, j]) ** 2
            if cost >= least:
                break
        if cost < least:
            best, least = other, cost
    return best


@kernel
def _merged(means: Floats, size: Counts, k: int, merge: int, by_sse: bool) -> Counts:
    """Merge clusters until none has fewer than k points; the cluster that each one belongs to then."""
    n_clusters = size.size
    into = np.arange(n_clusters)
    lacking = True
    while lacking:
        lacking = False
        for first in range(n_clusters):
            c = first
            while 0 < size[c] < k:
                other = _partner(means, size, c, k - size[c], by_sse) if merge == ONCE else -1
                if other < 0:
                    other = _partner(means, size, c, 1, by_sse)
                both = size[c] + size[other]
                for j in range(means.shape[1]):
                    means[other, j] += (means[c, j] - means[other, j]) * size[c] / both
                size[other], size[c] = both, 0
                into[c] = other
                c = other
                if merge == OUTER:
                    lacking = lacking or both < k
                    break
    for c in range(n_clusters):
        last = c
        while into[last] != last:
            last = into[last]
        into[c] = last
    return into


@kernel
def _split(points: Floats, members: Counts, k: int, number: int, group: Codes) -> int:
    """Divide a cluster by MDAV+ into groups that are numbered from here on; the number after the last."""
    m, d = members.size, points.shape[1]
    mean, far = np.zeros(d), np.zeros(m)
    for i in range(m):
        for j in range(d):
            mean[j] += points[members[i], j] / m
    for i in range(m):
        for j in range(d):
            far[i] += (points[members[i], j] - mean[j]) ** 2
    first = number
    for _ in range(m // k):
        seed = -1
        for i in range(m):
            if group[members[i]] < 0 and (seed < 0 or far[i] > far[seed]):
                seed = i
        take_nearest(points, members, members[seed], k, number, group)
        number += 1
    join_nearest(points, members, k, first, number, group)
    return number


@kernel
def merge_and_split(points: Floats, owner: Codes, n_clusters: int, k: int, merge: int, by_sse: bool) -> Codes:
    """Groups of at least k points; clusters of 2k or more have been divided."""
    means, size = group_means(points, owner, n_clusters)
    into = _merged(means, size, k, merge, by_sse)
    end = np.cumsum(size)
    members = np.empty(owner.size, np.int64)
    for i in range(owner.size - 1, -1, -1):  # backwards, so that members keep their order
        c = into[owner[i]]
        end[c] -= 1
        members[end[c]] = i
    group = np.full(owner.size, -1, np.int32)
    number = 0
    for c in range(n_clusters):
        mine = members[end[c] : end[c] + size[c]]
        if mine.size >= 2 * k:
            number = _split(points, mine, k, number, group)
        elif mine.size > 0:
            for i in range(mine.size):
                group[mine[i]] = number
            number += 1
    return group
