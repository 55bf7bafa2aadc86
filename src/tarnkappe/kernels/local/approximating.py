"""Partitions into groups of at least k records whose cells to give up are within a factor of the fewest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel

Ints = NDArray[np.int64]


@helper
def _distance(codes: Codes, weights: Floats, i: int, j: int) -> float:
    total = 0.0
    for c in range(codes.shape[1]):
        if codes[i, c] != codes[j, c]:
            total += weights[c]
    return total


@helper
def _found(parent: Ints, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@kernel
def grow_forest(codes: Codes, weights: Floats, k: int) -> Ints:
    """Trees of at least `k` records: ``to[i]`` is the record that `i` points to, -1 for the root of a tree.

    While a tree has fewer than `k` records, its root points to the nearest record outside: one of its own ``k - 1``
    nearest, because fewer than that are inside.
    """
    n = len(codes)
    to = np.full(n, -1, np.int64)
    parent, size, root = np.arange(n), np.ones(n, np.int64), np.arange(n)
    for i in range(n):
        while True:
            tree = _found(parent, i)
            if size[tree] >= k or size[tree] == n:
                break
            r = root[tree]
            best, nearest = -1, np.inf
            for j in range(n):
                if _found(parent, j) != tree:
                    d = _distance(codes, weights, r, j)
                    if d < nearest:
                        best, nearest = j, d
            to[r] = best
            other = _found(parent, best)
            parent[tree] = other
            size[other] += size[tree]
    return to


@kernel
def cut_trees(to: Ints, k: int) -> tuple[NDArray[np.int32], int]:
    """Groups of `k` to ``3 k - 3`` records (``k >= 2``) whose connections in the forest share no edge.

    From the leaves upwards a record collects what its children left over. As soon as that is `k` records they are a
    group, connected through the record; less than that, with the record itself, is handed on to the parent. What the
    root has left joins a group that its remainder touches.
    """
    n = len(to)
    group = np.full(n, -1, np.int32)
    waiting = np.zeros(n, np.int64)
    for i in range(n):
        if to[i] >= 0:
            waiting[to[i]] += 1
    head, following, held = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64)
    touch = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int64)
    end = 0
    for i in range(n):
        if waiting[i] == 0:
            queue[end] = i
            end += 1
    n_groups = 0
    begin = 0
    while begin < end:
        v = queue[begin]
        begin += 1
        following[v] = head[v]  # the record joins what its children left over
        head[v] = v
        held[v] += 1
        if held[v] >= k:
            i = head[v]
            while i >= 0:
                group[i] = n_groups
                i = following[i]
            head[v], held[v], touch[v] = -1, 0, n_groups
            n_groups += 1
        up = to[v]
        if up < 0:
            i = head[v]
            while i >= 0:
                group[i] = touch[v] if touch[v] >= 0 else n_groups
                i = following[i]
            if held[v] > 0 and touch[v] < 0:
                n_groups += 1  # a tree of fewer than k records: there are no more
            continue
        if held[v] > 0:
            last = head[v]
            while following[last] >= 0:
                last = following[last]
            following[last] = head[up]
            head[up] = head[v]
            held[up] += held[v]
        if touch[v] >= 0:
            touch[up] = touch[v]
        if held[up] >= k:
            i = head[up]
            while i >= 0:
                group[i] = n_groups
                i = following[i]
            head[up], held[up], touch[up] = -1, 0, n_groups
            n_groups += 1
        waiting[up] -= 1
        if waiting[up] == 0:
            queue[end] = up
            end += 1
    return group, n_groups


@kernel
def cover_by_diameter(codes: Codes, weights: Floats, k: int) -> NDArray[np.bool_]:
    """Sets of `k` to ``2 k - 1`` records that cover all: again and again that of least radius per record newly covered.

    Candidates are, for every record that is not covered as centre, its nearest records that are not covered yet, filled
    up to `k` with the nearest of those that are. Returns the members of every set. There must be `k` records.
    """
    n = len(codes)
    near = np.empty((n, n), np.int32)
    apart = np.empty(n, np.float64)
    for c in range(n):
        for j in range(n):
            apart[j] = _distance(codes, weights, c, j)
        near[c] = np.argsort(apart, kind="mergesort")
    covered = np.zeros(n, np.bool_)
    left = n
    member = np.zeros((n, n), np.bool_)
    n_sets = 0
    new, old = np.empty(2 * k - 1, np.float64), np.empty(max(k - 1, 1), np.float64)
    while left > 0:
        best, best_centre, best_new = np.inf, -1, 0
        for c in range(n):
            if covered[c]:
                continue
            n_new, n_old = 0, 0
            for j in near[c]:
                if not covered[j] and n_new < 2 * k - 1:
                    new[n_new] = _distance(codes, weights, c, j)
                    n_new += 1
                elif covered[j] and n_old < k - 1:
                    old[n_old] = _distance(codes, weights, c, j)
                    n_old += 1
                if n_new == 2 * k - 1 and n_old == k - 1:
                    break
            for t in range(1, n_new + 1):
                radius = new[t - 1]
                if t < k:
                    if k - t > n_old:
                        continue
                    radius = max(radius, old[k - t - 1])
                price = radius / t
                if price < best or (price == best and t > best_new):
                    best, best_centre, best_new = price, c, t
        taken, filled = 0, 0
        for j in near[best_centre]:
            if not covered[j]:
                if taken < best_new:
                    member[n_sets, j] = True
                    taken += 1
            elif filled < k - best_new:
                member[n_sets, j] = True
                filled += 1
        for j in range(n):
            if member[n_sets, j] and not covered[j]:
                covered[j] = True
                left -= 1
        n_sets += 1
    return member[:n_sets]


@kernel
def cover_to_partition(member: NDArray[np.bool_], k: int) -> NDArray[np.int32]:
    """The set of each record once sets that share records were parted, or merged if both are as small as allowed."""
    n_sets, n = member.shape
    member = member.copy()
    owner = np.full(n, -1, np.int32)
    size = np.zeros(n_sets, np.int64)
    for s in range(n_sets):
        for v in range(n):
            size[s] += member[s, v]
    for s in range(n_sets):
        merged = False
        for v in range(n):
            t = owner[v]
            if not member[s, v] or t < 0 or t == s:
                continue
            if size[s] > k:
                member[s, v] = False
                size[s] -= 1
            elif size[t] > k:
                member[t, v] = False
                size[t] -= 1
                owner[v] = s
            else:
                for x in range(n):
                    if member[s, x] and (owner[x] < 0 or owner[x] == s):
                        member[t, x] = True
                        owner[x] = t
                        size[t] += 1
                merged = True
                break
        if not merged:
            for v in range(n):
                if member[s, v]:
                    owner[v] = s
    return owner
