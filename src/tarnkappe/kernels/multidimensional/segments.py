"""What codes the records of a segment have, and how deep the gaps between them are.

Segments are those of `tarnkappe.kernels.multidimensional.mondrian`; whoever looks for cuts of a segment begins here.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import ZERO, helper


def scratch(starts: Counts, segments: Counts) -> tuple[Codes, Counts, Counts]:
    """Room for the codes of the longest segment."""
    longest = int((starts[segments + 1] - starts[segments]).max(initial=0))
    return np.empty(longest, np.int32), np.empty(longest, np.int64), np.zeros(2 * longest + 16, np.int64)


@helper
def present_codes(
    rows: Codes,
    quota: Counts,
    begin: int,
    end: int,
    j: int,
    lo: int,
    hi: int,
    wild: int,
    dense: Counts,
    values: Codes,
    counts: Counts,
) -> tuple[int, int]:
    """Fill `values` with the codes that records of a segment have, in ascending order, and `counts` with their records.

    Returns how many there are, and the records whose code is the wildcard. `dense` is room that holds zeros.
    """
    wild_records = 0
    found = 0
    if hi - lo < 2 * (end - begin) + 16:
        for i in range(begin, end):
            v = rows[i, j]
            if v == wild:
                wild_records += quota[i]
            else:
                dense[v - lo] += quota[i]
        for v in range(hi - lo + 1):
            if dense[v] > 0:
                values[found] = v + lo
                counts[found] = dense[v]
                dense[v] = 0
                found += 1
        return found, wild_records
    known = ZERO
    for i in range(begin, end):
        if rows[i, j] == wild:
            wild_records += quota[i]
        elif quota[i] > 0:
            dense[known] = (np.int64(rows[i, j]) << 32) | (i - begin)
            known += 1
    _sort(dense, known)
    for i in range(known):
        v = dense[i] >> 32
        records = quota[begin + (dense[i] & 0xFFFFFFFF)]
        dense[i] = 0
        if found > 0 and values[found - 1] == v:
            counts[found - 1] += records
        else:
            values[found] = v
            counts[found] = records
            found += 1
    return found, wild_records


@helper
def _sort(keys: Counts, n: int) -> None:
    """Sort the first keys, as Shell does: numpy's sort takes longer to compile than all that needs it here."""
    gap = n
    while gap > 1:
        gap = max(gap * 4 // 9, 1)
        for i in range(gap, n):
            key = keys[i]
            at = i
            while at >= gap and keys[at - gap] > key:
                keys[at] = keys[at - gap]
                at -= gap
            keys[at] = key


@helper
def gap_depth(a: int, b: int, depth: Codes, minima: Codes, missing: int) -> int:
    """Depth of the lowest common ancestor of the neighbouring present codes ``a < b``.

    A scale has no sparse table: all its gaps are equally deep, but for the one before the missing value.
    """
    if minima.shape[0] == 0:
        return 0 if b == missing else 1
    first = a + 1
    row = 0
    while (1 << (row + 1)) <= b - a:
        row += 1
    left = minima[row, first]
    right = minima[row, b - (1 << row) + 1]
    return int(min(depth[left], depth[right]))
