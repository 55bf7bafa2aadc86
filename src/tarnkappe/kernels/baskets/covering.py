"""Choose what to coarsen so that every rare set of items is touched."""

from __future__ import annotations

import heapq

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel

#: What costs nothing is taken to cost this, so that there is always a best buy.
_LEAST = 1e-9


@helper
def _owners(of: Codes, n: int) -> tuple[Counts, Codes]:
    """Where each number from 0 to n - 1 stands in a list: the places, number by number."""
    begin = np.zeros(n + 1, np.int64)
    for i in range(of.size):
        begin[of[i] + 1] += 1
    begin = np.cumsum(begin)
    at = begin[:-1].copy()
    places = np.empty(of.size, np.int32)
    for i in range(of.size):
        places[at[of[i]]] = i
        at[of[i]] += 1
    return begin, places


@kernel
def cheapest_cover(sets: Codes, first: Codes, last: Codes, cost: Floats, n_items: int) -> Flags:
    """Which steps to take: step ``s`` coarsens the items ``first[s] .. last[s]`` at a cost, and touches their sets.

    Always the step that touches most sets per cost is taken, until no set is left that has none of its items
    coarsened (the greedy choice for weighted hitting sets).
    """
    n_steps, size = first.size, sets.shape[1]
    begin, places = _owners(sets.ravel(), n_items)
    length = 0
    for s in range(n_steps):
        length += last[s] - first[s] + 1
    reached = np.empty(length, np.int32)
    by = np.empty(length, np.int32)
    length = 0
    for s in range(n_steps):
        for v in range(first[s], last[s] + 1):
            reached[length], by[length] = v, s
            length += 1
    step_begin, step_places = _owners(reached, n_items)
    touches = np.zeros(n_steps, np.int64)
    for i in range(length):
        touches[by[i]] += begin[reached[i] + 1] - begin[reached[i]]
    open_ = np.ones(sets.shape[0], np.bool_)
    taken = np.zeros(n_steps, np.bool_)
    heap = [(0.0, 0)]
    heap.pop()
    for s in range(n_steps):
        if touches[s] > 0:
            heap.append((-touches[s] / (cost[s] + _LEAST), s))
    heapq.heapify(heap)
    while len(heap) > 0:
        worth, s = heapq.heappop(heap)
        if touches[s] == 0:
            continue
        now = -touches[s] / (cost[s] + _LEAST)
        if now > worth:  # less worth than when it was put there
            heapq.heappush(heap, (now, s))
            continue
        taken[s] = True
        for v in range(first[s], last[s] + 1):
            for i in range(begin[v], begin[v + 1]):
                e = places[i] // size
                if not open_[e]:
                    continue
                open_[e] = False
                for d in range(size):
                    u = sets[e, d]
                    for j in range(step_begin[u], step_begin[u + 1]):
                        touches[by[step_places[j]]] -= 1
    return taken
