"""Where rows of codes lie on a space-filling curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel


def hilbert_keys(grid: NDArray[np.uint32], bits: int) -> NDArray[np.uint64]:
    """The index of every row of coordinates below ``2**bits`` on the Hilbert curve; columns times bits fit into 63.

    Neighbours on the curve are neighbours in space (Skilling's transform: rotate, then Gray code, then interleave).
    """
    keys = np.empty(len(grid), np.uint64)
    _walk(grid, bits, np.empty(grid.shape[1], np.int64), keys)
    return keys


@kernel
def _walk(grid: NDArray[np.uint32], bits: int, x: NDArray[np.int64], keys: NDArray[np.uint64]) -> None:
    """Fill in the keys of `hilbert_keys`; `x` is room for a row."""
    n, q = grid.shape
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


#: Columns that the state of the compact curve holds in one integer.
MAX_COLUMNS = 62


def compact_hilbert_keys(grid: NDArray[np.uint32], bits: NDArray[np.int64], stretch: bool) -> NDArray[np.uint64]:
    """The compact index of every row on the Hilbert curve, as one or more words, the most significant first.

    Column ``j`` holds coordinates below ``2**bits[j]``. The columns lie in a common grid as wide as the widest of them:
    stretched over it, so that the bits of a narrow column decide first, or in its lower corner as they are. Bits that a
    column does not have in the common grid are left out of the index, which has ``sum(bits)`` bits and sorts rows as
    the full curve does (Hamilton, Rau-Chaplin). At most `MAX_COLUMNS` columns.
    """
    total = int(bits.sum())
    keys = np.zeros((len(grid), max(1, -(-total // 64))), np.uint64)
    _walk_compactly(grid, bits, stretch, int(bits.max()), total, keys)
    return keys


@kernel
def _walk_compactly(
    grid: NDArray[np.uint32],
    bits: NDArray[np.int64],
    stretch: bool,
    widest: int,
    total: int,
    keys: NDArray[np.uint64],
) -> None:
    """Fill in the keys of `compact_hilbert_keys`, which are 0; `widest` and `total` are of the bits."""
    n, q = grid.shape
    every = (1 << q) - 1
    for r in range(n):
        entry, direction = 0, 0
        written = keys.shape[1] * 64 - total  # the last bit of the index is the last of the last word
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
