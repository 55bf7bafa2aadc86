"""Kicks: a few neighbouring groups are thrown together and formed anew; it stays so if the search then ends lower."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.relocating import (
    Partition,
    Scratch,
    apart,
    descend,
    enter,
    look_at,
    save,
    squared_error,
    undo,
)

Seeds = NDArray[np.uint64]


@kernel
def _chance(state: Seeds) -> float:
    """The next number in [0, 1) of the sequence that `state` stands in (SplitMix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return float((z ^ (z >> np.uint64(31))) >> np.uint64(11)) / 9007199254740992.0


@helper
def _gather(p: Partition, w: Scratch, i: int, most: int, chosen: Codes) -> int:
    """Choose the group of a point and those of the points near it, `most` together; how many there are."""
    w.now[2] += 1
    chosen[0] = p.group[i]
    w.seen[chosen[0]] = w.now[2]
    n = 1
    for q in range(p.near.shape[1]):
        g = p.group[p.near[i, q]]
        if n < most and w.seen[g] != w.now[2]:
            w.seen[g] = w.now[2]
            chosen[n] = g
            n += 1
    return n


@helper
def _rebuild(p: Partition, pool: Codes, n_pool: int, chosen: Codes, n: int, state: Seeds, distance: Floats) -> None:
    """Put points into empty groups: a random one and its nearest make each of them, the rest joins the nearest."""
    left = n_pool
    for c in range(n):
        g = chosen[c]
        s = int(_chance(state) * left)
        seed = pool[s]
        left -= 1
        pool[s] = pool[left]
        enter(p, seed, g)
        for s in range(left):
            distance[s] = apart(p.points, seed, p.points, pool[s])
        for _ in range(p.sizes[0] - 1):
            best = 0
            for s in range(1, left):
                if distance[s] < distance[best]:
                    best = s
            enter(p, pool[best], g)
            left -= 1
            pool[best], distance[best] = pool[left], distance[left]
    for s in range(left):
        home, least = chosen[0], np.inf
        for c in range(n):
            g = chosen[c]
            b = p.size[g]
            cost = b / (b + 1) * apart(p.points, pool[s], p.mean, g)
            if b < p.sizes[1] and cost < least:
                home, least = g, cost
        enter(p, pool[s], home)


@helper
def _free_group(p: Partition, begin: int) -> int:
    """The first group without points from a place on, all round; -1 if there is none."""
    for s in range(p.size.size):
        g = begin + s if begin + s < p.size.size else begin + s - p.size.size
        if p.size[g] == 0:
            return g
    return -1


@kernel
def kick(p: Partition, w: Scratch, reach: int, kicks: int, most: int, heat: float, state: Seeds) -> float:
    """Kick 2 to `most` neighbouring groups, so many times; the change of the squared error.

    They are formed anew, as many as there were, one more or one less, and all that changed is searched. If the squared
    error has risen by more than an exponentially distributed number of mean `heat`, everything is undone.
    """
    smallest, largest = p.sizes[0], p.sizes[1]
    chosen = np.empty(most + 1, np.int32)
    pool = np.empty(most * largest, np.int32)
    distance = np.empty(most * largest)
    total = 0.0
    for _ in range(kicks):
        w.now[3] += 1
        w.now[4] = 0
        centre = int(_chance(state) * p.group.size)
        n = _gather(p, w, centre, 2 + int(_chance(state) * (most - 1)), chosen)
        n_pool, change = 0, 0.0
        for c in range(n):
            g = chosen[c]
            save(p, w, g)
            change -= squared_error(p, g)
            for s in range(p.start[g], p.start[g] + p.size[g]):
                pool[n_pool] = p.members[s]
                n_pool += 1
        again = n - 1 + int(_chance(state) * 3.0)
        again = max((n_pool + largest - 1) // largest, min(n_pool // smallest, again))
        if again > n:
            chosen[n] = _free_group(p, chosen[0])
            if chosen[n] < 0:
                again = n
            else:
                save(p, w, chosen[n])
        for c in range(n):
            p.size[chosen[c]] = 0
        _rebuild(p, pool, n_pool, chosen, again, state, distance)
        for c in range(again):
            look_at(p, w, chosen[c])
            change += squared_error(p, chosen[c])
        change += descend(p, w, reach)
        if change > -heat * np.log(1.0 - _chance(state)):
            undo(p, w)
        else:
            total += change
    return total
