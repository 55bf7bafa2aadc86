"""How far coded records are from each other."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import kernel


@kernel
def nearest_distances(points: Codes, records: Codes, scale: Floats, begin: int, end: int, out: Floats) -> None:
    """How far the nearest of some records is from each of the points ``begin .. end``, summed over columns.

    Where the scale of a column is above 0, codes are on a scale, and their difference is multiplied with it; else they
    are names, which are 1 apart unless they are the same.
    """
    for i in range(begin, end):
        best = np.inf
        for r in range(records.shape[0]):
            apart = 0.0
            for j in range(records.shape[1]):
                if points[i, j] != records[r, j]:
                    apart += abs(points[i, j] - records[r, j]) * scale[j] if scale[j] > 0 else 1.0
                    if apart >= best:
                        break
            best = min(best, apart)
        out[i] = best
