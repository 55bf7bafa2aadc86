"""Groups divided in two around two records that are far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.widths import Ruler, widen, widened

#: How often the search for the furthest record is repeated from the one it found.
_HOPS = 3

_TOP = np.iinfo(np.int32).max


#: Room for the boxes of both sides, and for one more.
_BOXES = 3


@helper
def _begin(ruler: Ruler, rows: Codes, i: int, lo: Codes, hi: Codes, box: int) -> None:
    """Make a box cover row `i` and nothing else."""
    for j in range(rows.shape[1]):
        lo[box, j], hi[box, j] = _TOP, -1
    widen(ruler, rows, i, lo, hi, box)


@helper
def _furthest(ruler: Ruler, rows: Codes, begin: int, end: int, seed: int, lo: Codes, hi: Codes) -> int:
    """The row that spans the widest box together with row `seed`."""
    _begin(ruler, rows, seed, lo, hi, ZERO + 2)
    best, most = seed, 0.0
    for i in range(begin, end):
        distance = widened(ruler, rows, i, lo, hi, ZERO + 2, np.inf)
        if distance > most:
            best, most = i, distance
    return best


def divide_segments(
    ruler: Ruler, rows: Codes, quota: Counts, starts: Counts, side: NDArray[np.int8], begin: int, end: int
) -> None:
    """Put every row of the segments ``begin .. end`` on one of two sides: where the loss rises less.

    The sides start from two far-apart rows; the others follow in the order in which they stand. A segment whose rows
    are all alike stays on side 0.
    """
    lo, hi = (np.empty((_BOXES, rows.shape[1]), np.int32) for _ in range(2))
    _divide(ruler, rows, quota, starts, side, begin, end, lo, hi)


@kernel
def _divide(
    ruler: Ruler,
    rows: Codes,
    quota: Counts,
    starts: Counts,
    side: NDArray[np.int8],
    begin: int,
    end: int,
    lo: Codes,
    hi: Codes,
) -> None:
    """Do what `divide_segments` does, with room for three boxes."""
    for s in range(begin, end):
        first, last = starts[s], starts[s + 1]
        left, right = first, first
        for _ in range(_HOPS):
            left, right = right, _furthest(ruler, rows, first, last, right, lo, hi)
        if left == right:
            for i in range(first, last):
                side[i] = 0
            continue
        _begin(ruler, rows, left, lo, hi, ZERO)
        _begin(ruler, rows, right, lo, hi, ZERO + 1)
        side[left], side[right] = 0, 1
        left_size, left_total, right_size, right_total = quota[left], 0.0, quota[right], 0.0
        for i in range(first, last):
            if i in (left, right):
                continue
            wider_left = widened(ruler, rows, i, lo, hi, ZERO, np.inf)
            wider_right = widened(ruler, rows, i, lo, hi, ZERO + 1, np.inf)
            rise_left = (left_size + quota[i]) * wider_left - left_size * left_total
            rise_right = (right_size + quota[i]) * wider_right - right_size * right_total
            to = ZERO + (rise_right < rise_left)
            side[i] = to
            if to == 0:
                left_size, left_total = left_size + quota[i], wider_left
            else:
                right_size, right_total = right_size + quota[i], wider_right
            widen(ruler, rows, i, lo, hi, to)
