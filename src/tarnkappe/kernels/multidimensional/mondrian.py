"""Median cuts of many segments at once.

Pieces of cells lie in contiguous *segments* ``starts[s] .. starts[s+1]``. A cut of a segment is an attribute, a code
and a tie share: records below the code go left, those above go right, and of those that have it `ties` go left. A piece
without records (of people in a public table) goes where its code belongs.
Kernels work on a range ``begin .. end`` of segments and write into arrays given to them, so that threads can share.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.histograms import list_bits
from tarnkappe.kernels.multidimensional.segments import gap_depth, present_codes

_TOP = np.iinfo(np.int32).max


@kernel
def segment_boxes(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    wild: Codes,
    lo: Codes,
    hi: Codes,
    size: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill box and size of the segments ``begin .. end``; codes equal to ``wild[j]`` do not widen a box."""
    q = rows.shape[1]
    for s in range(begin, end):
        for j in range(q):
            lo[s, j] = _TOP
            hi[s, j] = -1
        records = 0
        for i in range(starts[s], starts[s + 1]):
            records += quota[i]
            for j in range(q):
                v = rows[i, j]
                if v != wild[j]:
                    lo[s, j] = min(lo[s, j], v)
                    hi[s, j] = max(hi[s, j], v)
        size[s] = records


@kernel
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
    code: Codes,
    left: Counts,
    values: Codes,
    counts: Counts,
    dense: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill in up to two strict median cuts of attribute `j` for ``segments[begin:end]``: code, and records on the left.

    The cuts are ``x <= median`` and ``x < median``, first the one that leaves the tighter halves. Unless subtrees may
    be `torn`, both are moved to the nearest gap between children of the lowest common ancestor. A code of -1 means that
    there is no such cut. `values`, `counts` and `dense` are room for a segment (`scratch`).
    """
    for k in range(begin, end):
        s = segments[k]
        code[k, 0] = code[k, 1] = -1
        found, wild_records = present_codes(
            rows, quota, starts[s], starts[s + 1], j, lo[s, j], hi[s, j], wild, dense, values, counts
        )
        total = 0
        for t in range(found):
            total += counts[t]
        shallowest = 1 << 30
        if not torn:
            for t in range(found - 1):
                shallowest = min(shallowest, gap_depth(values[t], values[t + 1], depth, minima, missing))
        below, upto, under = 0, np.inf, np.inf  # how loose the halves of both cuts are
        for t in range(found - 1):
            below += counts[t]
            if not torn and gap_depth(values[t], values[t + 1], depth, minima, missing) != shallowest:
                continue
            which = 0 if 2 * below >= total else 1
            code[k, which] = values[t + 1]
            left[k, which] = below + wild_records
            loose = below * (positions[values[t]] - positions[values[0]])
            loose += (total - below) * (positions[values[found - 1]] - positions[values[t + 1]])
            if which == 0:
                upto = loose
                break
            under = loose
        if code[k, 1] >= 0 and under < upto:
            code[k, 0], code[k, 1] = code[k, 1], code[k, 0]
            left[k, 0], left[k, 1] = left[k, 1], left[k, 0]


@kernel
def find_halves(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    segments: Counts,
    j: int,
    lo: Codes,
    hi: Codes,
    wild: int,
    code: Codes,
    ties: Counts,
    left: Counts,
    values: Codes,
    counts: Counts,
    dense: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill in the relaxed cut of attribute `j` for ``segments[begin:end]``: code, tie share, and records on the left.

    It halves the records and divides those at the median. A code of -1 means that there is no such cut. `values`,
    `counts` and `dense` are room for a segment (`scratch`).
    """
    for k in range(begin, end):
        s = segments[k]
        code[k] = -1
        found, wild_records = present_codes(
            rows, quota, starts[s], starts[s + 1], j, lo[s, j], hi[s, j], wild, dense, values, counts
        )
        total = wild_records
        for t in range(found):
            total += counts[t]
        half = total // 2 - wild_records
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


@helper
def _is_left(v: int, code: int, wild: int) -> bool:
    """Whether a code lies to the left of a cut; wildcards do."""
    return v == wild or v < code


@helper
def _left_share(v: int, code: int, wild: int, records: int, ties_left: int) -> int:
    """How many records of a piece go to the left of a cut."""
    if _is_left(v, code, wild):
        return records
    return 0 if v > code else min(records, ties_left)


@kernel
def count_halves(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    segments: Counts,
    attribute: Counts,
    code: Codes,
    ties: Counts,
    wild: Codes,
    pieces: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill ``pieces[2k], pieces[2k+1]`` with the number of pieces left and right of the cut of ``segments[k]``.

    A piece on the cut is divided where the tie share ends inside it, and then counts on both sides.
    """
    for k in range(begin, end):
        s, j = segments[k], attribute[k]
        ties_left = ties[k]
        lefts = 0
        rights = 0
        for i in range(starts[s], starts[s + 1]):
            v = rows[i, j]
            go_left = _left_share(v, code[k], wild[j], quota[i], ties_left)
            if v == code[k]:
                ties_left -= go_left
            lefts += go_left > 0 or (quota[i] == 0 and _is_left(v, code[k], wild[j]))
            rights += go_left < quota[i] or (quota[i] == 0 and not _is_left(v, code[k], wild[j]))
        pieces[2 * k] = lefts
        pieces[2 * k + 1] = rights


@kernel
def count_secrets(
    rows: Codes,
    quota: Counts,
    cell: Codes,
    after: Codes,
    starts: Counts,
    segments: Counts,
    attribute: Counts,
    code: Codes,
    ties: Counts,
    wild: Codes,
    secret: Codes,
    count: Counts,
    seen: Counts,
    occurs: NDArray[np.uint64],
    sizes: Counts,
    found: Codes,
    of_code: Counts,
    at: int,
    begin: int,
    end: int,
) -> int:
    """Count the secrets left and right of each cut; half ``2k`` has ``sizes[2k]`` of them, ascending in `found`.

    Piece ``i`` stands for the cells from ``cell[i]`` to ``after[cell[i]]``, which have `count` records each and are not
    divided if there are several; ``secret[c]`` is that of cell ``c``. Secrets stand from place `at` on, one half after
    the other, with their records in `of_code`; where they end is returned. `seen` and `occurs` are room for two halves,
    in which all is zero.
    """
    n_codes, n_words = seen.size // 2, occurs.size // 2
    for k in range(begin, end):
        s, j = segments[k], attribute[k]
        ties_left = ties[k]
        for i in range(starts[s], starts[s + 1]):
            v = rows[i, j]
            left = _left_share(v, code[k], wild[j], quota[i], ties_left)
            if v == code[k]:
                ties_left -= left
            first, last = cell[i], after[cell[i]]
            for c in range(first, last):
                records = count[c] if last > first + 1 else quota[i]
                here = min(left, records)  # of several cells all records go left, or none
                if here > 0:
                    _count_secret(np.int64(secret[c]), here, seen, occurs, ZERO, ZERO)
                if here < records:
                    _count_secret(np.int64(secret[c]), records - here, seen, occurs, n_codes, n_words)
        for side in range(2):
            since = at
            at = list_bits(occurs, side * n_words, (side + 1) * n_words, found, at)
            for x in range(since, at):
                c = side * n_codes + found[x]
                of_code[x] = seen[c]
                seen[c] = 0
            sizes[2 * k + side] = at - since
    return at


@helper
def _count_secret(
    secret: Any, records: Any, seen: Counts, occurs: NDArray[np.uint64], first_code: Any, first_word: Any
) -> None:
    """Add some records with a secret, and mark it."""
    seen[first_code + secret] += records
    occurs[first_word + (secret >> 6)] |= np.uint64(1) << np.uint64(secret & 63)


@kernel
def write_halves(
    rows: Codes,
    quota: Counts,
    cell: Codes,
    starts: Counts,
    segments: Counts,
    attribute: Counts,
    code: Codes,
    ties: Counts,
    wild: Codes,
    bounds: Counts,
    new_rows: Codes,
    new_quota: Counts,
    new_cell: Codes,
    begin: int,
    end: int,
) -> None:
    """Apply the cuts: the pieces of each half, in their order, from ``bounds[2k]`` and ``bounds[2k+1]`` on.

    An empty `new_rows` skips the codes, for callers who only count.
    """
    q = new_rows.shape[1] if new_rows.shape[0] > 0 else 0
    for k in range(begin, end):
        s, j = segments[k], attribute[k]
        ties_left = ties[k]
        left = bounds[2 * k]
        right = bounds[2 * k + 1]
        for i in range(starts[s], starts[s + 1]):
            v = rows[i, j]
            go_left = _left_share(v, code[k], wild[j], quota[i], ties_left)
            if v == code[k]:
                ties_left -= go_left
            nobody = quota[i] == 0
            if go_left > 0 or (nobody and _is_left(v, code[k], wild[j])):
                for c in range(q):
                    new_rows[left, c] = rows[i, c]
                new_quota[left] = go_left
                new_cell[left] = cell[i]
                left += 1
            if go_left < quota[i] or (nobody and not _is_left(v, code[k], wild[j])):
                for c in range(q):
                    new_rows[right, c] = rows[i, c]
                new_quota[right] = quota[i] - go_left
                new_cell[right] = cell[i]
                right += 1
