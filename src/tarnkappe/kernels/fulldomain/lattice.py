"""Class tables of full-domain generalisation: which tuples look the same at a node, rolled up from a finer node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel

#: Spreads consecutive keys over a hash table (2^64 divided by the golden ratio).
_SPREAD = np.uint64(11400714819323198485)


@kernel
def roll_up(
    tuple_of: Codes, size: Counts, rises: Counts, rows: Codes, exact: bool, parts: Counts, all_rows: Codes, slots: Codes
) -> tuple[Codes, Codes, Counts]:
    """Pool the classes that look the same at a node.

    Class ``i`` holds tuple ``tuple_of[i]`` and its like. Its key at the node is the sum of ``rises[row, tuple]`` over
    `rows`: row 0 has the keys of the raw tuples, the others say how a key changes when one column goes up to one level.
    If keys are not `exact` (too many combinations for 64 bits), tuples with equal keys are compared in ``parts[row,
    tuple]`` for `all_rows`. `slots` is scratch space, a power of two larger than the number of classes and filled with
    -1; it is handed back that way.

    Returns the new class of every class and, for the new classes, one tuple and the size.
    """
    n = tuple_of.size
    key = np.zeros(n, np.int64)
    if n == rises.shape[1]:  # the raw tuples themselves, in order
        for r in rows:
            key += rises[r]
    else:
        for r in rows:
            rise = rises[r]
            for i in range(n):
                key[i] += rise[tuple_of[i]]
    into = np.empty(n, np.int32)
    new_key = np.empty(n, np.int64)
    new_tuple = np.empty(n, np.int32)
    new_size = np.empty(n, np.int64)
    used = np.empty(n, np.int32)
    mask = slots.size - 1
    shift = np.uint64(64)
    width = slots.size
    while width > 1:
        shift -= np.uint64(1)
        width >>= 1
    classes = 0
    for i in range(n):
        k = key[i]
        at = np.int64((np.uint64(k) * _SPREAD) >> shift)
        while True:
            c = slots[at]
            if c < 0:
                c = classes
                classes += 1
                slots[at] = c
                used[c] = at
                new_key[c] = k
                new_tuple[c] = tuple_of[i]
                new_size[c] = size[i]
                break
            if new_key[c] == k and (exact or _same(parts, all_rows, tuple_of[i], new_tuple[c])):
                new_size[c] += size[i]
                break
            at = (at + 1) & mask
        into[i] = c
    for c in range(classes):
        slots[used[c]] = -1
    return into, new_tuple[:classes].copy(), new_size[:classes].copy()


@helper
def _same(parts: Counts, rows: Codes, a: int, b: int) -> bool:
    """Whether two tuples look the same in every column."""
    same = True
    for r in rows:
        same &= parts[r, a] == parts[r, b]
    return same


@kernel
def first_below(levels: NDArray[np.int16], node: NDArray[np.int16]) -> int:
    """The first row of levels that are all at most those of the node, -1 if there is none."""
    for i in range(levels.shape[0]):
        j = 0
        while j < node.size and levels[i, j] <= node[j]:
            j += 1
        if j == node.size:
            return i
    return -1


@kernel
def small_classes(size: Counts, least: int) -> tuple[Any, int]:
    """Which classes have at least that many records (or none at all), and how many records the others have."""
    ok = np.empty(size.size, np.bool_)
    records = 0
    for c in range(size.size):
        ok[c] = size[c] >= least or size[c] == 0
        if not ok[c]:
            records += size[c]
    return ok, records


@kernel
def suppressed_costs(
    ok: NDArray[np.bool_],
    tuple_of: Codes,
    size: Counts,
    quasi: Codes,
    costs: NDArray[np.float64],
    rows: Codes,
    charges: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Per column, what suppressing the classes that are not `ok` adds: their charges minus what they cost published."""
    more = np.empty_like(charges)
    for j in range(rows.size):
        more[j] = charges[j] - costs[rows[j]]
    out = np.zeros(rows.size, np.float64)
    for c in range(size.size):
        if not ok[c]:
            t = tuple_of[c]
            for j in range(rows.size):
                out[j] += size[c] * more[j, quasi[t, j]]
    return out


@kernel
def suppressed_gaps(
    lost: Counts,
    class_size: Counts,
    into: Codes,
    size: Counts,
    quasi: Codes,
    gaps: NDArray[np.float64],
    first_row: Codes,
) -> NDArray[np.float64]:
    """Per column and level, what suppression adds at least to the least that tuples could cost.

    Of class ``c`` at least ``lost[c]`` records are suppressed; ``gaps[row, leaf]`` is what suppressing one costs more
    than the cheaper fate. Rows of column ``j`` start at ``first_row[j]``, the last entry is the number of rows. Where
    only some records of a class are lost, they may be those with the smallest gap.
    """
    n_columns = first_row.size - 1
    records = np.zeros((n_columns, gaps.shape[1]), np.int64)  # of classes that are lost as a whole, by leaf
    partial = np.full(lost.size, -1, np.int32)
    n_partial = 0
    for c in range(lost.size):
        if 0 < lost[c] < class_size[c]:
            partial[c] = n_partial
            n_partial += 1
    smallest = np.full((n_partial, gaps.shape[0]), np.inf)
    for t in range(into.size):
        c = into[t]
        if lost[c] > 0:
            p = partial[c]
            for j in range(n_columns):
                leaf = quasi[t, j]
                if p < 0:
                    records[j, leaf] += size[t]
                else:
                    for row in range(first_row[j], first_row[j + 1]):
                        smallest[p, row] = min(smallest[p, row], gaps[row, leaf])
    out = np.zeros(gaps.shape[0], np.float64)
    for j in range(n_columns):
        for row in range(first_row[j], first_row[j + 1]):
            for leaf in range(gaps.shape[1]):
                out[row] += records[j, leaf] * gaps[row, leaf]
    for c in range(lost.size):
        if partial[c] >= 0:
            for row in range(out.size):
                out[row] += lost[c] * smallest[partial[c], row]
    return out
