"""Groups divided in two around two records that are far apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened

#: How often the search for the furthest record is repeated from the one it found.
_HOPS = 3

_TOP = np.iinfo(np.int32).max


@helper
def _furthest(ruler: Ruler, rows: Codes, begin: int, end: int, seed: int) -> int:
    """The row that spans the widest box together with row `seed`."""
    lo, hi = np.empty(rows.shape[1], np.int32), np.empty(rows.shape[1], np.int32)
    for j in range(lo.size):
        lo[j], hi[j] = _TOP, -1
    widen(ruler, rows[seed], lo, hi)
    best, most = seed, 0.0
    for i in range(begin, end):
        distance = widened(ruler, rows[i], lo, hi, np.inf)
        if distance > most:
            best, most = i, distance
    return best


@kernel
def divide_segments(
    ruler: Ruler, rows: Codes, quota: Counts, starts: Counts, side: NDArray[np.int8], begin: int, end: int
) -> None:
    """Put every row of the segments ``begin .. end`` on one of two sides: where the loss rises less.

    The sides start from two far-apart rows; the others follow in the order in which they stand. A segment whose rows
    are all alike stays on side 0.
    """
    q = rows.shape[1]
    lo, hi = np.empty((2, q), np.int32), np.empty((2, q), np.int32)
    size, total = np.empty(2, np.int64), np.empty(2, np.float64)
    seed = np.empty(2, np.int64)
    for s in range(begin, end):
        first, last = starts[s], starts[s + 1]
        seed[0] = seed[1] = first
        for _ in range(_HOPS):
            seed[0] = seed[1]
            seed[1] = _furthest(ruler, rows, first, last, seed[0])
        if seed[0] == seed[1]:
            side[first:last] = 0
            continue
        lo[:] = _TOP
        hi[:] = -1
        total[:] = 0.0
        for one in range(2):
            widen(ruler, rows[seed[one]], lo[one], hi[one])
            size[one] = quota[seed[one]]
            side[seed[one]] = one
        for i in range(first, last):
            if i in (seed[0], seed[1]):
                continue
            best, least = 0, np.inf
            for one in range(2):
                wider = widened(ruler, rows[i], lo[one], hi[one], np.inf)
                rise = (size[one] + quota[i]) * wider - size[one] * total[one]
                if rise < least:
                    best, least = one, rise
            side[i] = best
            size[best] += quota[i]
            widen(ruler, rows[i], lo[best], hi[best])
            total[best] = box_width(ruler, lo[best], hi[best])
