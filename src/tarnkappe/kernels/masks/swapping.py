"""Values that are exchanged between records: along their ranks, between regions, and so that tables stay."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel


@kernel
def swap_in_window(n: int, window: int, lot: Floats) -> Counts:
    """The rank whose value each rank gets: every rank is exchanged with a free one at most `window` above it.

    A rank that finds no partner keeps its value. Partners are drawn among the free ranks of the window.
    """
    partner = np.arange(n)
    taken = np.zeros(n, np.bool_)
    for i in range(n):
        if taken[i]:
            continue
        last = min(i + window, n - 1)
        free = 0
        for j in range(i + 1, last + 1):
            free += not taken[j]
        if free == 0:
            continue
        wanted = int(lot[i] * free)
        for j in range(i + 1, last + 1):
            if taken[j]:
                continue
            if wanted == 0:
                partner[i], partner[j] = j, i
                taken[i] = taken[j] = True
                break
            wanted -= 1
    return partner


@kernel
def swap_at_distance(n: int, distance: Counts) -> Counts:
    """The rank whose value each rank gets: every rank is exchanged with a free one about `distance` above it.

    The nearest free rank to the drawn place is taken; a rank that finds none above it keeps its value.
    """
    partner = np.arange(n)
    above = np.arange(n + 1)  # the next free rank at or above each, found by following the links
    below = np.arange(n + 1)  # the same downwards, one more than the rank, 0 is none
    for i in range(n):
        if _last(above, i) != i:
            continue
        place = min(i + distance[i], n - 1)
        up, down = _last(above, place), _last(below, place + 1) - 1
        j = -1
        if up < n:
            j = up
        if down > i and (j < 0 or place - down < up - place):
            j = down
        if j <= i:
            above[i] = i + 1
            below[i + 1] = i
            continue
        partner[i], partner[j] = j, i
        above[i], above[j] = i + 1, j + 1
        below[i + 1], below[j + 1] = i, j
    return partner


@helper
def _last(link: Counts, i: int) -> int:
    """The end of a chain of links, which gets shorter on the way."""
    while link[i] != i:
        link[i] = link[link[i]]
        i = link[i]
    return i


@kernel
def swap_between(order: Counts, starts: Counts, region: Codes, pairs: Counts, tries: int) -> Counts:
    """The record whose region each record gets: within every class, some pairs of different regions are exchanged.

    The records of class ``c`` are ``order[starts[c]:starts[c + 1]]``, those to be exchanged first in front.
    """
    partner = np.arange(order.size)
    for c in range(starts.size - 1):
        begin, end = starts[c], starts[c + 1]
        left = pairs[c]
        ahead = begin + 1
        for p in range(begin, end):
            if left == 0:
                break
            i = order[p]
            if partner[i] != i:
                continue
            ahead = max(ahead, p + 1)
            tried = 0
            q = ahead
            while q < end and tried < tries:
                j = order[q]
                if partner[j] == j and region[j] != region[i]:
                    partner[i], partner[j] = j, i
                    left -= 1
                    break
                q += 1
                tried += 1
    return partner


@helper
def _found(keys: Counts, key: int) -> int:
    """The place of a key in a sorted list; -1 if it is not there."""
    place = int(np.searchsorted(keys, key))
    return place if place < keys.size and keys[place] == key else -1


@kernel
def swap_within_tables(
    value: Codes,
    block: Counts,
    radix: Counts,
    cells: Counts,
    starts: Counts,
    members: Counts,
    side: Counts,
    side_starts: Counts,
    side_members: Counts,
    lot: Floats,
) -> int:
    """Exchange values of records in groups of 2^t, in place, so that all tables of t columns stay as they are.

    ``block[i, b]`` is the value of record ``i`` in block ``b`` of the other columns. Corners of a cube in the blocks,
    with one value on the even and another on the odd corners, exchange both values: every table of the value with all
    blocks but one has as much of each as before. ``cells`` are the sorted keys of all combinations of blocks, whose
    records are ``members[starts[c]:starts[c + 1]]``; ``side[i, b]`` is the class of records that are like ``i`` in all
    blocks but ``b``. One attempt takes one row of `lot`. Returns how many cubes were exchanged.
    """
    t = block.shape[1]
    corner = np.zeros(1 << t, np.int64)
    moved = 0
    for attempt in range(lot.shape[0]):
        draws = lot[attempt]
        i = int(draws[0] * value.size)
        corner[0] = i
        ok, other = True, -1
        for b in range(t):
            c = side[i, b]
            begin, end = side_starts[b, c], side_starts[b, c + 1]
            j = side_members[b, begin + int(draws[1 + b] * (end - begin))]
            if block[j, b] == block[i, b] or value[j] == value[i] or (b > 0 and value[j] != other):
                ok = False
                break
            other = value[j]
            corner[1 << b] = j
        if not ok:
            continue
        for mask in range(3, 1 << t):
            if mask & (mask - 1) == 0:
                continue
            key, odd = 0, 0
            for b in range(t):
                at = corner[1 << b] if (mask >> b) & 1 else i
                odd += (mask >> b) & 1
                key = key * radix[b] + block[at, b]
            c = _found(cells, key)
            if c < 0:
                ok = False
                break
            wanted = other if odd % 2 else value[i]
            begin, end = starts[c], starts[c + 1]
            size = end - begin
            first = int(draws[1 + t] * size)
            found = -1
            for step in range(min(size, 16)):
                j = members[begin + (first + step) % size]
                if value[j] == wanted:
                    found = j
                    break
            if found < 0:
                ok = False
                break
            corner[mask] = found
        if not ok:
            continue
        mine = value[i]
        for mask in range(1 << t):
            odd = 0
            for b in range(t):
                odd += (mask >> b) & 1
            value[corner[mask]] = mine if odd % 2 else other
        moved += 1
    return moved
