"""Groups of cells that are divided ever further, and what each way to divide them would make of them.

A group is a run ``order[start[g]:stop[g]]`` of cells. ``rows[cell, j]`` is the *leaf* of a cell in column ``j``; the
leaves of all columns are numbered through. All cells of a group have the same value in each column, and a value is a
set of leaves. How it may be divided is said by the mode of its leaves:

`CLOSED`
    not at all;
`TOGETHER`
    into parts, ``slot[leaf]`` being the part of a leaf: one candidate, with the number ``home[leaf]``;
`SINGLY`
    one of those parts on the one side, the others on the other: a candidate per part, with the number of the part;
`ANYWHERE`
    leaves up to some leaf on the one side, the others on the other: a candidate per leaf, with its number.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel

CLOSED, TOGETHER, SINGLY, ANYWHERE = 0, 1, 2, 3

#: The smallest part where there is none.
NO_PART = np.iinfo(np.int64).max


@kernel
def part_groups(
    groups: Counts,
    rows: Codes,
    j: int,
    slot: Codes,
    count: Counts,
    order: Codes,
    start: Counts,
    stop: Counts,
) -> tuple[Counts, Counts, Counts, Counts]:
    """Sort the cells of each group by their slot in column `j`: group, begin, end and records of every piece.

    Pieces stand in the order of the groups, those of a group in ascending order of slots. Only the order of cells
    within groups changes, so the groups are the same as before.
    """
    total = 0
    longest = 0
    for g in groups:
        total += stop[g] - start[g]
        longest = max(longest, stop[g] - start[g])
    owner = np.empty(total, np.int64)
    begin = np.empty(total, np.int64)
    end = np.empty(total, np.int64)
    size = np.empty(total, np.int64)
    cells = np.empty(longest, np.int32)
    seen = np.zeros(slot.size, np.int64)
    heads = np.zeros(slot.size, np.int64)
    touched = np.empty(min(longest, slot.size), np.int32)
    n = 0
    for g in groups:
        found = 0
        for i in range(start[g], stop[g]):
            cells[i - start[g]] = order[i]
            s = slot[rows[order[i], j]]
            if seen[s] == 0:
                touched[found] = s
                found += 1
            seen[s] += 1
        touched[:found].sort()
        at = start[g]
        for t in range(found):
            heads[touched[t]] = at
            owner[n + t] = g
            begin[n + t] = at
            at += seen[touched[t]]
            end[n + t] = at
            size[n + t] = 0
            seen[touched[t]] = n + t  # from now on the number of the piece
        for i in range(stop[g] - start[g]):
            s = slot[rows[cells[i], j]]
            order[heads[s]] = cells[i]
            heads[s] += 1
            size[seen[s]] += count[cells[i]]
        for t in range(found):
            seen[touched[t]] = 0
        n += found
    return owner[:n].copy(), begin[:n].copy(), end[:n].copy(), size[:n].copy()


@kernel
def weigh_groups(
    groups: Counts,
    columns: Counts,
    sign: int,
    rows: Codes,
    count: Counts,
    order: Codes,
    start: Counts,
    stop: Counts,
    mode: NDArray[np.int8],
    slot: Codes,
    home: Codes,
    min_size: int,
    lost: Counts,
    freed: Floats,
    least: Counts,
) -> None:
    """Add to every candidate of some columns (`sign` 1), or take away (-1), what it does to some groups.

    `lost` counts the records in parts smaller than `min_size`, `freed` is the decrease of the sum of squared sizes, and
    `least` the smallest part of at least `min_size` records, which is never taken back. For candidates ``ANYWHERE`` the
    sums are kept as differences to the leaf before, and `least` is left alone.
    """
    sizes = np.zeros(slot.size, np.int64)
    touched = np.empty(slot.size, np.int32)
    for g in groups:
        for j in columns:
            first = rows[order[start[g]], j]
            how = mode[first]
            if how == CLOSED:
                continue
            found = 0
            size = 0
            for i in range(start[g], stop[g]):
                s = slot[rows[order[i], j]]
                if sizes[s] == 0:
                    touched[found] = s
                    found += 1
                sizes[s] += count[order[i]]
                size += count[order[i]]
            if how == TOGETHER:
                at = home[first]
                freed[at] += sign * float(size) * float(size)
                for t in range(found):
                    part = sizes[touched[t]]
                    freed[at] -= sign * float(part) * float(part)
                    if part < min_size:
                        lost[at] += sign * part
                    else:
                        least[at] = min(least[at], part)
            elif found > 1:
                if how == ANYWHERE:
                    touched[:found].sort()
                left = 0
                for t in range(found if how == SINGLY else found - 1):
                    s = touched[t]
                    left = sizes[s] if how == SINGLY else left + sizes[s]
                    right = size - left
                    small = (left if left < min_size else 0) + (right if right < min_size else 0)
                    fewer = 2.0 * float(left) * float(right)
                    lost[s] += sign * small
                    freed[s] += sign * fewer
                    if how == ANYWHERE:
                        lost[touched[t + 1]] -= sign * small
                        freed[touched[t + 1]] -= sign * fewer
                    else:
                        for part in (left, right):
                            if part >= min_size:
                                least[s] = min(least[s], part)
            for t in range(found):
                sizes[touched[t]] = 0


@kernel
def smallest_side(
    groups: Counts,
    rows: Codes,
    j: int,
    last: int,
    count: Counts,
    order: Codes,
    start: Counts,
    stop: Counts,
    min_size: int,
) -> int:
    """The smallest part of at least `min_size` records when groups are cut after the leaf `last` of column `j`."""
    least = NO_PART
    for g in groups:
        left = 0
        right = 0
        for i in range(start[g], stop[g]):
            if rows[order[i], j] <= last:
                left += count[order[i]]
            else:
                right += count[order[i]]
        if left >= min_size:
            least = min(least, left)
        if right >= min_size:
            least = min(least, right)
    return least
