"""How much of every column a box covers: the ruler of all local recoding.

A *ruler* holds what is needed of all columns in flat arrays: code ``c`` of column ``j`` stands at ``start[j] + c``.
Boxes are intervals of codes per column; ``lo > hi`` is an empty interval, which any union leaves as it is. Rows and
boxes are named by their numbers: slices of arrays take longer to compile, and to make.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel


class Ruler(NamedTuple):
    """The columns as arrays; entry ``start[j] + c`` speaks about the lowest node that covers codes ``c - 1`` and ``c``.

    `place` is the weighted share of the column's extent that lies below a code, `share` the weighted width of the node,
    `scaled` whether it is a range, `depth` its depth and `minima` the sparse table of shallowest nodes. `plain` columns
    are one range without a missing value; `wild` is the code that does not widen a box.
    """

    start: Counts
    place: Floats
    share: Floats
    scaled: NDArray[np.bool_]
    depth: Codes
    minima: Codes
    plain: NDArray[np.bool_]
    wild: Codes


@helper
def width(ruler: Ruler, j: int, lo: int, hi: int) -> float:
    """The weighted share of column `j` that the codes ``lo .. hi`` cover: 0 for one value or none."""
    if lo >= hi:
        return 0.0
    low = ruler.start[j] + lo
    high = ruler.start[j] + hi
    if ruler.plain[j]:
        return float(ruler.place[high] - ruler.place[low])
    row = 0
    while (2 << row) <= hi - lo:
        row += 1
    left = ruler.minima[row, low + 1]
    right = ruler.minima[row, high - (1 << row) + 1]
    split = right if ruler.depth[right] < ruler.depth[left] else left
    return float(ruler.place[high] - ruler.place[low] if ruler.scaled[split] else ruler.share[split])


@helper
def box_width(ruler: Ruler, lo: Codes, hi: Codes, g: int) -> float:
    """The summed width of box `g`."""
    total = 0.0
    for j in range(lo.shape[1]):
        total += width(ruler, j, lo[g, j], hi[g, j])
    return total


def box_widths(ruler: Ruler, lo: Codes, hi: Codes) -> Floats:
    """The summed width of every box."""
    out = np.empty(len(lo), np.float64)
    _measure(ruler, lo, hi, out)
    return out


@kernel
def _measure(ruler: Ruler, lo: Codes, hi: Codes, out: Floats) -> None:
    """Fill in what `box_widths` returns."""
    for g in range(out.size):
        out[g] = box_width(ruler, lo, hi, g)


@helper
def widen(ruler: Ruler, rows: Codes, i: int, lo: Codes, hi: Codes, g: int) -> None:
    """Make box `g` cover row `i` as well."""
    for j in range(rows.shape[1]):
        v = rows[i, j]
        if v != ruler.wild[j]:
            lo[g, j] = min(lo[g, j], v)
            hi[g, j] = max(hi[g, j], v)


@helper
def widened(ruler: Ruler, rows: Codes, i: int, lo: Codes, hi: Codes, g: int, enough: float) -> float:
    """The summed width of box `g` if it also covers row `i`; some number of at least `enough` if it is no less."""
    total = 0.0
    for j in range(rows.shape[1]):
        v, low, high = rows[i, j], lo[g, j], hi[g, j]
        if v != ruler.wild[j]:
            low, high = min(low, v), max(high, v)
        total += width(ruler, j, low, high)
        if total >= enough:
            break
    return total


@kernel
def reach(ruler: Ruler, j: int, lo: int, hi: int, out: Floats) -> None:
    """Fill in, for every code of column `j`, the width of the interval once it covers that code too."""
    base = ruler.start[j]
    for v in range(ruler.start[j + 1] - base):
        known = v != ruler.wild[j]
        out[base + v] = width(ruler, j, min(lo, v) if known else lo, max(hi, v) if known else hi)
