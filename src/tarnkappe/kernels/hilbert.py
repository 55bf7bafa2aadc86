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


#: Columns that the state of the compact curve holds in one integer.
MAX_COLUMNS = 62


@njit(cache=True, nogil=True)
def compact_hilbert_keys(grid: NDArray[np.uint32], bits: NDArray[np.int64], stretch: bool) -> NDArray[np.uint64]:
    """The compact index of every row on the Hilbert curve, as one or more words, the most significant first.

    Column ``j`` holds coordinates below ``2**bits[j]``. The columns lie in a common grid as wide as the widest of them:
    stretched over it, so that the bits of a narrow column decide first, or in its lower corner as they are. Bits that a
    column does not have in the common grid are left out of the index, which has ``sum(bits)`` bits and sorts rows as
    the full curve does (Hamilton, Rau-Chaplin). At most `MAX_COLUMNS` columns.
    """
    n, q = grid.shape
    widest = bits.max()
    total = bits.sum()
    words = max(1, (total + 63) // 64)
    keys = np.zeros((n, words), np.uint64)
    every = (1 << q) - 1
    for r in range(n):
        entry, direction = 0, 0
        written = words * 64 - total  # the last bit of the index is the last of the last word
        for level in range(widest - 1, -1, -1):
            corner, free = 0, 0
            for j in range(q):
                own = level - (widest - bits[j]) if stretch else level
                if 0 <= own < bits[j]:
                    free |= 1 << j
                    corner |= ((grid[r, j] >> own) & 1) << j
            # Into the frame of this sub-cube, where the curve enters at 0 and leaves along the last axis.
            turn = (direction + 1) % q
            corner ^= entry
            corner = ((corner >> turn) | (corner << (q - turn))) & every
            free = ((free >> turn) | (free << (q - turn))) & every
            step = corner  # the inverse of the Gray code says which sub-cube of the walk this is
            shift = 1
            while shift < q:
                step ^= step >> shift
                shift *= 2
            for j in range(q - 1, -1, -1):
                if (free >> j) & 1:
                    keys[r, written // 64] |= np.uint64((step >> j) & 1) << np.uint64(63 - written % 64)
                    written += 1
            # Where the curve enters this sub-cube, and along which axis it leaves it.
            if step > 0:
                before = (step - 1) & ~1
                enters = before ^ (before >> 1)
                enters = ((enters << turn) | (enters >> (q - turn))) & every
                entry ^= enters
            ones = step - 1 if step % 2 == 0 else step
            axis = 0
            if step > 0:
                while (ones >> axis) & 1:
                    axis += 1
            direction = (direction + axis % q + 1) % q
    return keys
