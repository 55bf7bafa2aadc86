"""Where rows of codes lie on a space-filling curve."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True, nogil=True)
def hilbert_keys(grid: NDArray[np.uint32], bits: int) -> NDArray[np.uint64]:
    """The index of every row of coordinates below ``2**bits`` on the Hilbert curve; columns times bits fit into 63.

    Neighbours on the curve are neighbours in space (Skilling's transform: rotate, then Gray code, then interleave).
    """
    n, q = grid.shape
    keys = np.zeros(n, np.uint64)
    x = np.empty(q, np.int64)
    for r in range(n):
        for j in range(q):
            x[j] = grid[r, j]
        bit = 1 << (bits - 1)
        while bit > 1:
            below = bit - 1
            for j in range(q):
                if x[j] & bit:
                    x[0] ^= below
                else:
                    swap = (x[0] ^ x[j]) & below
                    x[0] ^= swap
                    x[j] ^= swap
            bit >>= 1
        for j in range(1, q):
            x[j] ^= x[j - 1]
        flip = 0
        bit = 1 << (bits - 1)
        while bit > 1:
            if x[q - 1] & bit:
                flip ^= bit - 1
            bit >>= 1
        key = np.uint64(0)
        for b in range(bits - 1, -1, -1):
            for j in range(q):
                key = (key << np.uint64(1)) | np.uint64(((x[j] ^ flip) >> b) & 1)
        keys[r] = key
    return keys
