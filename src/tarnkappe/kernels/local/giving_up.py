"""Which cells rare rows give up, and who joins them: a greedy cover."""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel

Ints = NDArray[np.int64]


@kernel
def cover_rare(
    group: NDArray[np.int32],
    starts: Ints,
    members: NDArray[np.int32],
    pattern: NDArray[np.int32],
    weight: NDArray[np.float64],
    size: Ints,
    k: int,
    removal: float,
    budget: int,
) -> tuple[NDArray[np.int32], Ints, NDArray[np.int32], Ints, NDArray[np.float64], bool]:
    """Rows of fewer than `k` records give up cells, always where that costs least per record that is settled.

    ``group[p, i]`` is the group that row ``i`` joins if it gives up the cells of pattern ``p``, which weigh
    ``weight[p]``; groups of all patterns are numbered through, group ``g`` has ``members[starts[g]:starts[g + 1]]`` and
    the pattern ``pattern[g]``. A group takes all rare rows that it could have. If these are fewer than `k` records,
    rows of more than `k` lend it some of theirs, which give up the same cells. Records may be removed instead at the
    price `removal`, `budget` of them at most.

    Returns the pattern of each rare row (-1: none found, or not rare; -2: removed); how many records were lent by which
    row to which group, as three lists; the least that each record of a row must give up; and whether some group that
    might have been cheaper found nobody who lends.
    """
    n_patterns, n_rows = group.shape
    n_groups = len(pattern)
    need, spare, total = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    left = np.zeros(n_rows, np.int64)
    taken = np.full(n_rows, -1, np.int32)
    least = np.zeros(n_rows, np.float64)
    for i in range(n_rows):
        left[i] = max(size[i] - k, 0)
        for p in range(n_patterns):
            g = group[p, i]
            total[g] += size[i]
            spare[g] += left[i]
            if size[i] < k:
                need[g] += size[i]
    heap = [(0.0, np.int64(0)) for _ in range(0)]
    for g in range(n_groups):
        if need[g] > 0:
            heap.append((weight[pattern[g]] * max(k, need[g]) / need[g], np.int64(g)))
    heapq.heapify(heap)
    for i in range(n_rows):
        if size[i] < k:
            least[i] = removal
            for p in range(n_patterns):
                if total[group[p, i]] >= k:
                    least[i] = min(least[i], weight[p])
    lenders = [np.int64(0) for _ in range(0)]
    borrowers = [np.int32(0) for _ in range(0)]
    lent = [np.int64(0) for _ in range(0)]
    short = False
    while len(heap) > 0:
        price, g = heapq.heappop(heap)
        n = need[g]
        if n == 0:
            continue
        p = pattern[g]
        now = weight[p] * max(k, n) / n
        if now > price:
            heapq.heappush(heap, (now, g))
            continue
        if price > removal and budget > 0:
            removed = False
            for i in members[starts[g] : starts[g + 1]]:
                if size[i] < k and taken[i] == -1:
                    if size[i] > budget:
                        short = True
                        continue
                    budget -= size[i]
                    taken[i] = -2
                    removed = True
                    for q in range(n_patterns):
                        need[group[q, i]] -= size[i]
            if removed:
                if need[g] > 0:
                    heapq.heappush(heap, (weight[p] * max(k, need[g]) / need[g], g))
                continue
        if n + spare[g] < k:
            if total[g] >= k:
                short = True
            continue
        lacking = k - n
        for i in members[starts[g] : starts[g + 1]]:
            if size[i] < k and taken[i] == -1:
                taken[i] = p
                for q in range(n_patterns):
                    need[group[q, i]] -= size[i]
            elif lacking > 0 and left[i] > 0:
                amount = min(lacking, left[i])
                lacking -= amount
                left[i] -= amount
                lenders.append(np.int64(i))
                borrowers.append(np.int32(p))
                lent.append(amount)
                for q in range(n_patterns):
                    spare[group[q, i]] -= amount
    return taken, np.array(lenders), np.array(borrowers), np.array(lent), least, short
