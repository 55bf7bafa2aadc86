"""What every group covers: smallest and largest code, or the set of codes, per quasi-identifier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.kernels import kernel


def group_boxes(quasi: Codes, cell: Codes, group: Codes, n_groups: int, wild: Codes) -> tuple[Codes, Codes]:
    """The box of each group; codes equal to ``wild[j]`` do not count, and an empty box has ``lo > hi``."""
    shape = n_groups, quasi.shape[1]
    lo, hi = np.full(shape, np.iinfo(np.int32).max, np.int32), np.full(shape, -1, np.int32)
    _widen_boxes(quasi, cell, group, wild, lo, hi)
    return lo, hi


@kernel
def _widen_boxes(quasi: Codes, cell: Codes, group: Codes, wild: Codes, lo: Codes, hi: Codes) -> None:
    """Make the box of each group cover its cells."""
    for i in range(cell.size):
        g = group[i]
        if g < 0:
            continue
        for j in range(wild.size):
            v = quasi[cell[i], j]
            if v == wild[j]:
                continue
            lo[g, j] = min(lo[g, j], v)
            hi[g, j] = max(hi[g, j], v)


@kernel
def group_sets(quasi: Codes, j: int, cell: Codes, group: Codes, n_groups: int, wild: int) -> NDArray[np.uint64]:
    """The codes of column `j` that occur in each group, as bits; codes are below 64, and `wild` does not count."""
    out = np.zeros(n_groups, np.uint64)
    for i in range(cell.size):
        if group[i] >= 0 and quasi[cell[i], j] != wild:
            out[group[i]] |= np.uint64(1) << np.uint64(quasi[cell[i], j])
    return out
