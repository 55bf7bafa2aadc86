"""Which cells of a row to give up so that no unsafe combination of its values remains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel


@kernel
def hit_combinations(
    unsafe: NDArray[np.bool_], columns: NDArray[np.int32], weight: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Per row, a set of columns that meets all its unsafe combinations: a greedy hitting set of low weight.

    ``unsafe[c, i]`` says whether row ``i`` has an unsafe combination in the columns ``columns[c]`` (filled up with -1;
    short combinations come first). A combination that holds a shorter unsafe one need not be looked at. In turn the
    column is given up that meets most of what is left per weight; ties go to the first.
    """
    n_combinations, n_rows = unsafe.shape
    given_up = np.zeros((n_rows, len(weight)), np.bool_)
    minimal = np.empty(n_combinations, np.int64)
    inside = np.zeros(len(weight), np.bool_)
    hits = np.zeros(len(weight), np.int64)
    for i in range(n_rows):
        left = 0
        for c in range(n_combinations):
            if not unsafe[c, i]:
                continue
            for j in columns[c]:
                if j >= 0:
                    inside[j] = True
            implied = False
            for d in minimal[:left]:
                within = True
                for j in columns[d]:
                    if j >= 0 and not inside[j]:
                        within = False
                if within:
                    implied = True
                    break
            for j in columns[c]:
                if j >= 0:
                    inside[j] = False
            if not implied:
                minimal[left] = c
                left += 1
        while left > 0:
            hits[:] = 0
            for d in minimal[:left]:
                for j in columns[d]:
                    if j >= 0:
                        hits[j] += 1
            best = 0
            for j in range(1, len(weight)):
                if hits[j] * weight[best] > hits[best] * weight[j]:
                    best = j
            given_up[i, best] = True
            kept = 0
            for d in minimal[:left]:
                hit = False
                for j in columns[d]:
                    if j == best:
                        hit = True
                if not hit:
                    minimal[kept] = d
                    kept += 1
            left = kept
    return given_up
