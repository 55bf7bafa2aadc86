"""Median cuts of many segments at once.

Pieces of cells lie in contiguous *segments* ``starts[s] .. starts[s+1]``. A cut of a segment is an attribute, a code and
a tie share: records below the code go left, those above go right, and of those that have it `ties` go left.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@njit(cache=True, nogil=True)
def segment_boxes(rows: Codes, quota: Counts, starts: Counts, wild: Codes) -> tuple[Codes, Codes, Counts]:
    """Box and size of every segment; codes equal to ``wild[j]`` do not widen a box."""
    q = rows.shape[1]
    n = starts.size - 1
    lo = np.full((n, q), np.iinfo(np.int32).max, np.int32)
    hi = np.full((n, q), np.int32(-1), np.int32)
    size = np.zeros(n, np.int64)
    for s in range(n):
        for i in range(starts[s], starts[s + 1]):
            size[s] += quota[i]
            for j in range(q):
                v = rows[i, j]
                if v != wild[j]:
                    lo[s, j] = min(lo[s, j], v)
                    hi[s, j] = max(hi[s, j], v)
    return lo, hi, size


@njit(cache=True, nogil=True)
def _gap_depth(a: int, b: int, depth: Codes, minima: Codes, missing: int) -> int:
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


@njit(cache=True, nogil=True)
def _present(
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
    """Fill `values` with the distinct codes of a segment in ascending order and `counts` with their records.

    Returns how many there are, and the records whose code is the wildcard.
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
    keys = np.empty(end - begin, np.int64)
    known = 0
    for i in range(begin, end):
        if rows[i, j] == wild:
            wild_records += quota[i]
        else:
            keys[known] = (np.int64(rows[i, j]) << 32) | (i - begin)
            known += 1
    keys = keys[:known]
    keys.sort()
    for key in keys:
        v = key >> 32
        records = quota[begin + (key & 0xFFFFFFFF)]
        if found > 0 and values[found - 1] == v:
            counts[found - 1] += records
        else:
            values[found] = v
            counts[found] = records
            found += 1
    return found, wild_records


@njit(cache=True, nogil=True)
def _scratch(starts: Counts, segments: Counts) -> tuple[Codes, Counts, Counts]:
    """Room for the codes of the longest segment."""
    longest = 0
    for s in segments:
        longest = max(longest, starts[s + 1] - starts[s])
    return np.empty(longest, np.int32), np.empty(longest, np.int64), np.zeros(2 * longest + 16, np.int64)


@njit(cache=True, nogil=True)
def find_cuts(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    segments: Counts,
    j: int,
    lo: Codes,
    hi: Codes,
    positions: NDArray[np.float64],
    depth: Codes,
    minima: Codes,
    missing: int,
    wild: int,
    torn: bool,
) -> tuple[Codes, Counts]:
    """Up to two strict median cuts of attribute `j` for each of `segments`: code, and records on the left.

    The cuts are ``x <= median`` and ``x < median``, first the one that leaves the tighter halves. Unless subtrees may be
    `torn`, both are moved to the nearest gap between children of the lowest common ancestor. A code of -1 means that
    there is no such cut.
    """
    n = segments.size
    code = np.full((n, 2), np.int32(-1), np.int32)
    left = np.zeros((n, 2), np.int64)
    values, counts, dense = _scratch(starts, segments)
    tightness = np.empty(2, np.float64)
    for k in range(n):
        s = segments[k]
        found, wild_records = _present(
            rows, quota, starts[s], starts[s + 1], j, lo[s, j], hi[s, j], wild, dense, values, counts
        )
        total = counts[:found].sum()
        shallowest = 1 << 30
        if not torn:
            for t in range(found - 1):
                shallowest = min(shallowest, _gap_depth(values[t], values[t + 1], depth, minima, missing))
        tightness[:] = np.inf
        below = 0
        for t in range(found - 1):
            below += counts[t]
            if not torn and _gap_depth(values[t], values[t + 1], depth, minima, missing) != shallowest:
                continue
            which = 0 if 2 * below >= total else 1
            code[k, which] = values[t + 1]
            left[k, which] = below + wild_records
            tightness[which] = below * (positions[values[t]] - positions[values[0]])
            tightness[which] += (total - below) * (positions[values[found - 1]] - positions[values[t + 1]])
            if which == 0:
                break
        if code[k, 1] >= 0 and tightness[1] < tightness[0]:
            code[k, 0], code[k, 1] = code[k, 1], code[k, 0]
            left[k, 0], left[k, 1] = left[k, 1], left[k, 0]
    return code, left


@njit(cache=True, nogil=True)
def find_halves(
    rows: Codes, quota: Counts, starts: Counts, segments: Counts, j: int, lo: Codes, hi: Codes, wild: int
) -> tuple[Codes, Counts, Counts]:
    """The relaxed cut of attribute `j` for each of `segments`: code, records with that code on the left, all on the left.

    It halves the records and divides those at the median. A code of -1 means that there is no such cut.
    """
    n = segments.size
    code = np.full(n, np.int32(-1), np.int32)
    ties = np.zeros(n, np.int64)
    left = np.zeros(n, np.int64)
    values, counts, dense = _scratch(starts, segments)
    for k in range(n):
        s = segments[k]
        found, wild_records = _present(
            rows, quota, starts[s], starts[s + 1], j, lo[s, j], hi[s, j], wild, dense, values, counts
        )
        half = (counts[:found].sum() + wild_records) // 2 - wild_records
        if half < 0:
            continue
        below = 0
        for t in range(found):
            if below + counts[t] > half:
                code[k] = values[t]
                ties[k] = half - below
                left[k] = half + wild_records
                break
            below += counts[t]
    return code, ties, left


@njit(cache=True, nogil=True)
def divide(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    segments: Counts,
    attribute: Counts,
    code: Codes,
    ties: Counts,
    wild: Codes,
) -> tuple[Counts, Counts, Counts]:
    """Apply a cut to each of `segments`: pieces in the order left, right per segment.

    Returns for every new piece the old one it comes from and its records, and the starts of the ``2n`` halves. A piece
    on the cut is divided where the tie share ends inside it.
    """
    n = segments.size
    capacity = n
    for s in segments:
        capacity += starts[s + 1] - starts[s]
    source = np.empty(capacity, np.int64)
    records = np.empty(capacity, np.int64)
    bounds = np.zeros(2 * n + 1, np.int64)
    at = 0
    for k in range(n):
        s, j = segments[k], attribute[k]
        for side in range(2):
            ties_left = ties[k]
            for i in range(starts[s], starts[s + 1]):
                v = rows[i, j]
                if v == wild[j] or v < code[k]:
                    go_left = quota[i]
                elif v > code[k]:
                    go_left = 0
                else:
                    go_left = min(quota[i], ties_left)
                    ties_left -= go_left
                share = go_left if side == 0 else quota[i] - go_left
                if share > 0:
                    source[at] = i
                    records[at] = share
                    at += 1
            bounds[2 * k + side + 1] = at
    return source[:at].copy(), records[:at].copy(), bounds


@njit(cache=True, nogil=True)
def take_rows(rows: Codes, at: Counts) -> Codes:
    """Rows of a matrix by position."""
    out = np.empty((at.size, rows.shape[1]), np.int32)
    for i in range(at.size):
        for j in range(rows.shape[1]):
            out[i, j] = rows[at[i], j]
    return out
