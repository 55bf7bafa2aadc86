"""k-means whose clusters become groups of at least k points: merged where too small, split where too large."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.merging_points import merge_and_split
from tarnkappe.kernels.microaggregation.points import group_means, squared_errors
from tarnkappe.kernels.microaggregation.tree import boxes_of, nearest

#: When clusters are merged and split: once at the end, each time k-means has converged, or after its every round.
AT_THE_END, CONVERGED, EVERY_ROUND = 0, 1, 2

#: k-means stops after so many rounds, merging and splitting after so many times: both end much earlier.
_ROUNDS, _TIMES = 1000, 100

#: So many times in a row merging and splitting may bring nothing better.
_PATIENCE = 5


@kernel
def spread_out(points: Floats, chance: Floats) -> Counts:
    """Points chosen one by one, each with a probability that grows with the square of the distance from the others."""
    n, d = points.shape
    chosen = np.empty(chance.size, np.int64)
    far = np.ones(n)
    for c in range(chance.size):
        total = 0.0
        for i in range(n):
            total += far[i]
        goal, i, so_far = chance[c] * total, 0, far[0]
        while so_far <= goal and i < n - 1:
            i += 1
            so_far += far[i]
        if total == 0.0:  # every point has been chosen
            i = int(chance[c] * n)
        chosen[c] = i
        for other in range(n):
            apart = 0.0
            for j in range(d):
                apart += (points[other, j] - points[i, j]) ** 2
            if c == 0 or apart < far[other]:
                far[other] = apart
    return chosen


@kernel
def _assign(points: Floats, centres: Floats, moved: Flags, owner: Codes, far: Floats, changed: Flags) -> bool:
    """Give every point to its nearest centre, the first of equals; whether any point has changed hands.

    `far` are the squared distances from the nearest centres as they were before some `moved`. A point that its own
    centre has not left, or has come nearer to, need only look at those that have moved.
    """
    n, d = points.shape
    n_centres, n_moved = centres.shape[0], 0
    to_look_at = np.empty(n_centres, np.int32)
    for c in range(n_centres):
        if moved[c]:
            to_look_at[n_moved] = c
            n_moved += 1
    leaf, size = np.empty(n_centres, np.int32), np.ones(n_centres, np.int64)
    some = boxes_of(centres, size, to_look_at[:n_moved], leaf)
    every = some if n_moved == n_centres else boxes_of(centres, size, np.arange(n_centres, dtype=np.int32), leaf)
    any_change = False
    for i in range(n):
        own, least, everywhere = owner[i], far[i], False
        if moved[own]:
            least = 0.0
            for j in range(d):
                least += (points[i, j] - centres[own, j]) ** 2
            everywhere = least >= far[i]
        best, least = nearest(every if everywhere else some, centres, points[i], own, least)
        far[i] = least
        if best != own:
            owner[i] = best
            changed[own] = changed[best] = any_change = True
    return any_change


@helper
def _recentre(points: Floats, owner: Codes, changed: Flags, centres: Floats) -> None:
    """Put the centres of changed clusters at their means. An empty cluster's centre stays, and has not changed."""
    size = np.zeros(changed.size, np.int64)
    for i in range(owner.size):
        g = owner[i]
        if changed[g]:
            if size[g] == 0:
                centres[g] = 0.0
            size[g] += 1
            for j in range(points.shape[1]):
                centres[g, j] += points[i, j]
    for g in range(changed.size):
        changed[g] = size[g] > 0
        if changed[g]:
            for j in range(points.shape[1]):
                centres[g, j] /= size[g]


@kernel
def _moved(owner: Codes, centres: Floats, group: Codes, means: Floats) -> Flags:
    """Which groups do not have their mean just where the cluster of their first point has its centre."""
    out = np.zeros(means.shape[0], np.bool_)
    met = np.zeros(means.shape[0], np.bool_)
    for i in range(group.size):
        g = group[i]
        if not met[g]:
            met[g] = True
            for j in range(means.shape[1]):
                if means[g, j] != centres[owner[i], j]:
                    out[g] = True
    return out


@helper
def _signature(group: Codes, n_groups: int) -> np.uint64:
    """A number that two different groupings hardly share (FNV-1a of the first point of each point's group)."""
    first = np.full(n_groups, -1)
    out = np.uint64(14695981039346656037)
    for i in range(group.size):
        if first[group[i]] < 0:
            first[group[i]] = i
        out = (out ^ np.uint64(first[group[i]])) * np.uint64(1099511628211)
    return out


@kernel
def anonymous_means(points: Floats, starts: Floats, k: int, merge: int, by_sse: bool, when: int) -> tuple[Codes, float]:
    """The best groups of at least k points that k-means from these centres leads to, and their squared error."""
    n = points.shape[0]
    centres = starts.copy()
    owner, far = np.zeros(n, np.int32), np.full(n, -1.0)
    moved = np.ones(centres.shape[0], np.bool_)
    best, least, last = owner, np.inf, 0
    seen = np.empty(_TIMES, np.uint64)
    for time in range(_TIMES):
        for _ in range(_ROUNDS):
            changed = np.zeros(centres.shape[0], np.bool_)
            any_change = _assign(points, centres, moved, owner, far, changed)
            if not any_change or when == EVERY_ROUND:
                break
            _recentre(points, owner, changed, centres)
            moved = changed
        group = merge_and_split(points, owner, centres.shape[0], k, merge, by_sse)
        n_groups = 0
        for i in range(n):
            n_groups = max(n_groups, group[i] + 1)
        means, _ = group_means(points, group, n_groups)
        loss = 0.0
        for error in squared_errors(points, group, means):
            loss += error
        if loss < least:
            best, least, last = group, loss, time
        seen[time] = _signature(group, n_groups)
        again = when == AT_THE_END or time - last >= _PATIENCE
        for t in range(time):
            again = again or seen[t] == seen[time]
        if again:
            break
        moved = _moved(owner, centres, group, means)
        centres, owner = means, group.copy()
    return best, least
