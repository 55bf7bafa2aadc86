"""Every cut of many segments, and how much each tells about a target.

Segments and cuts are those of `tarnkappe.kernels.multidimensional.mondrian`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.multidimensional.segments import gap_depth, present_codes


@helper
def _information(counts: Floats) -> float:
    """Records times the entropy of their classes in bits."""
    total = 0.0
    inside = 0.0
    for c in counts:
        if c > 0:
            total += c
            inside += c * np.log2(c)
    return total * np.log2(total) - inside if total > 0 else 0.0


@helper
def _deviation(sums: Floats) -> float:
    """The sum of squared deviations from the mean; `sums` are those of 1, y and y²."""
    return sums[2] - sums[1] * sums[1] / sums[0] if sums[0] > 0 else 0.0


@kernel
def find_gains(
    rows: Codes,
    quota: Counts,
    starts: Counts,
    segments: Counts,
    j: int,
    lo: Codes,
    hi: Codes,
    depth: Codes,
    minima: Codes,
    missing: int,
    wild: int,
    target: Codes,
    moments: Floats,
    bounds: Counts,
    code: Codes,
    left: Counts,
    gain: Floats,
    torn: NDArray[np.bool_],
    values: Codes,
    counts: Counts,
    dense: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill in all cuts of attribute `j` for ``segments[begin:end]``, those of ``segments[k]`` from ``bounds[k]`` on.

    A cut has a code (records below it go left), its records on the left, and what it gains. ``target[i]`` is the value
    of the target in row ``i``. The gain is how much the information that its label needs falls, in bits times
    records. If `moments` has columns, they are 1, y and y² of every value of a numeric target, and the gain is how
    much the sum of squared deviations falls. `torn` says whether the cut goes through a subtree. Places that are not
    needed have the code -1. `values`, `counts` and `dense` are room for a segment (`scratch`).
    """
    classes = moments.shape[1] == 0
    width = moments.shape[0] if classes else moments.shape[1]
    below, above = np.empty(width, np.float64), np.empty(width, np.float64)
    for k in range(begin, end):
        s = segments[k]
        code[bounds[k] : bounds[k + 1]] = -1
        found, wild_records = present_codes(
            rows, quota, starts[s], starts[s + 1], j, lo[s, j], hi[s, j], wild, dense, values, counts
        )
        if found < 2:
            continue
        table = np.zeros((found, width), np.float64)
        below[:] = 0.0
        above[:] = 0.0
        for i in range(starts[s], starts[s + 1]):
            known = rows[i, j] != wild
            row = table[np.searchsorted(values[:found], rows[i, j])] if known else below
            if classes:
                row[target[i]] += quota[i]
            else:
                for f in range(width):
                    row[f] += quota[i] * moments[target[i], f]
        for t in range(found):
            above += table[t]
        whole = _information(below + above) if classes else _deviation(below + above)
        shallowest = 1 << 30
        for t in range(found - 1):
            shallowest = min(shallowest, gap_depth(values[t], values[t + 1], depth, minima, missing))
        records = wild_records
        for t in range(found - 1):
            records += counts[t]
            below += table[t]
            above -= table[t]
            at = bounds[k] + t
            code[at] = values[t + 1]
            left[at] = records
            torn[at] = gap_depth(values[t], values[t + 1], depth, minima, missing) != shallowest
            if classes:
                gain[at] = whole - _information(below) - _information(above)
            else:
                gain[at] = whole - _deviation(below) - _deviation(above)
