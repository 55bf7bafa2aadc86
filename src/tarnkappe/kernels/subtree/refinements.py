"""Groups of rows under a recoding, and what happens to them when one more refinement is made.

Rows are quasi-identifier codes. The codes of all columns lie one after another: ``part[offset[j] + code]`` says to
which part of column ``j`` a code belongs. A refinement cuts one column at some codes, its *starts*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel

#: States of a group: satisfies the goal; violates it, but some part of it may not; no part of it ever satisfies it.
OK, VIOLATING, DEAD = 0, 1, 2


@kernel
def group_rows(rows: Codes, part: Codes, offset: Counts) -> tuple[Codes, Codes]:
    """Number the rows that have the same parts, in order of appearance: group per row, first row per group."""
    n, q = rows.shape
    capacity = 16
    while capacity < 2 * n:
        capacity *= 2
    mask = np.uint64(capacity - 1)
    table = np.full(capacity, -1, np.int32)
    parts = np.empty((n, q), np.int32)
    group = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    found = 0
    for i in range(n):
        key = np.uint64(0)
        for j in range(q):
            parts[i, j] = part[offset[j] + rows[i, j]]
            key = (key ^ np.uint64(parts[i, j])) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
        at = key & mask
        while True:
            g = table[at]
            if g < 0:
                table[at] = found
                first[found] = i
                group[i] = found
                found += 1
                break
            same = True
            for j in range(q):
                if parts[first[g], j] != parts[i, j]:
                    same = False
                    break
            if same:
                group[i] = g
                break
            at = (at + np.uint64(1)) & mask
    return group, first[:found].copy()


@kernel
def split_groups(
    rows: Codes,
    size: Counts,
    group: Codes,
    n_groups: int,
    column: Codes,
    begin: Counts,
    end: Counts,
    starts: Codes,
) -> tuple[Codes, Codes, Counts, Counts]:
    """What each of several refinements makes of the groups.

    Refinement ``a`` cuts ``column[a]`` at ``starts[begin[a]:end[a]]`` (no starts: the groups as they are). The results
    are numbered through over all refinements: the result of every refinement and row, then per result a row that is in
    it and its records, and where the results of each refinement begin.
    """
    n, m = len(rows), len(column)
    widest = 1
    for a in range(m):
        widest = max(widest, end[a] - begin[a] + 1)
    number = np.empty(n_groups * widest, np.int32)
    stamp = np.full(n_groups * widest, -1, np.int32)
    slot = np.empty((m, n), np.int32)
    first = np.empty(m * n, np.int32)
    records = np.zeros(m * n, np.int64)
    bounds = np.zeros(m + 1, np.int64)
    found = 0
    for a in range(m):
        width = end[a] - begin[a] + 1
        for i in range(n):
            code = rows[i, column[a]]
            low, high = begin[a], end[a]
            while low < high:
                middle = (low + high) // 2
                if starts[middle] <= code:
                    low = middle + 1
                else:
                    high = middle
            at = group[i] * width + low - begin[a]
            if stamp[at] != a:
                stamp[at] = a
                number[at] = found
                first[found] = i
                found += 1
            slot[a, i] = number[at]
            records[number[at]] += size[i]
        bounds[a + 1] = found
    return slot, first[:found].copy(), records[:found].copy(), bounds


@kernel
def bound_splits(
    slot: Codes, state: NDArray[np.int8], size: Counts, floor: Floats, price: float
) -> tuple[Floats, Counts]:
    """Per refinement, the least cost of every recoding that begins with it, and the records it must suppress.

    Row ``i`` costs at least ``floor[i]`` if published, and `price` per record if suppressed. Of a violating group at
    least its smallest row is suppressed in the end, of a dead one all.
    """
    m, n = slot.shape
    bound = np.zeros(m, np.float64)
    lost = np.zeros(m, np.int64)
    least = np.zeros(len(state), np.int64)
    for a in range(m):
        total = 0.0
        dead = 0
        forced = 0
        for i in range(n):
            s = slot[a, i]
            if state[s] == DEAD:
                dead += size[i]
                continue
            total += floor[i]
            if state[s] == VIOLATING and (least[s] == 0 or size[i] < least[s]):
                forced += size[i] - least[s]
                least[s] = size[i]
        bound[a] = total + price * dead
        lost[a] = dead + forced
    return bound, lost
