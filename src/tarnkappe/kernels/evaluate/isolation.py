"""Who is isolated by a guess: nearest points by brute force, given up as soon as they cannot be near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel

#: Squared distances closer than this, relatively, are the same: their sums are rounded.
_TIE = 1e-9


@kernel
def mark_isolated(
    scales: Floats,
    categories: Codes,
    weight: Counts,
    guess_scales: Floats,
    guess_labels: Codes,
    squares: Floats,
    offset: Counts,
    width: Counts,
    squared_factor: float,
    least: int,
    begin: int,
    end: int,
    isolated: NDArray[np.bool_],
) -> None:
    """Mark the points that one of the guesses ``begin .. end`` isolates.

    Point ``i`` stands for `weight[i]` records and has the coordinates ``scales[i]`` and the codes ``categories[i]``;
    the squared distance of label a from code b in column j is ``squares[offset[j] + a * width[j] + b]``. On a scale,
    a missing value (NaN) is at distance 1 from everything else. A point at distance d is isolated if fewer than `least`
    records are within ``factor * d`` (the factor is at least 1).
    """
    nearest = np.empty(least + 1, np.float64)
    who = np.empty(least + 1, np.int64)
    for g in range(begin, end):
        found, total = 0, 0
        limit = np.inf  # within it there are `least` records, as far as points were looked at
        for i in range(weight.size):
            d = 0.0
            for j in range(guess_labels.shape[1]):
                d += squares[offset[j] + guess_labels[g, j] * width[j] + categories[i, j]]
                if d >= limit:
                    break
            if d >= limit:
                continue
            for j in range(guess_scales.shape[1]):
                a, b = guess_scales[g, j], scales[i, j]
                if np.isnan(a) or np.isnan(b):
                    d += 0.0 if np.isnan(a) and np.isnan(b) else 1.0
                else:
                    d += (a - b) * (a - b)
                if d >= limit:
                    break
            if d >= limit:
                continue
            at = found
            while at > 0 and nearest[at - 1] > d:
                nearest[at], who[at] = nearest[at - 1], who[at - 1]
                at -= 1
            nearest[at], who[at] = d, i
            found += 1
            total += weight[i]
            while total - weight[who[found - 1]] >= least:
                found -= 1
                total -= weight[who[found]]
            if total >= least:
                limit = nearest[found - 1]
        for at in range(found):
            if squared_factor * nearest[at] < limit * (1 - _TIE):
                isolated[who[at]] = True
