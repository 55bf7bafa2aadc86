"""Sorting and counting of packed integer keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

_RADIX_BITS = 11


@njit(cache=True, nogil=True)
def radix_argsort(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int32]:
    """The stable order of `keys`, looking only at their lowest `bits` bits; O(n) per eleven bits."""
    n = keys.size
    order = np.arange(n, dtype=np.int32)
    buffer = np.empty(n, np.int32)
    size = 1 << _RADIX_BITS
    mask = np.uint64(size - 1)
    shift = 0
    while shift < bits:
        heads = np.zeros(size + 1, np.int64)
        step = np.uint64(shift)
        for i in range(n):
            heads[((keys[i] >> step) & mask) + 1] += 1
        for d in range(size):
            heads[d + 1] += heads[d]
        for i in range(n):
            at = order[i]
            digit = (keys[at] >> step) & mask
            buffer[heads[digit]] = at
            heads[digit] += 1
        order, buffer = buffer, order
        shift += _RADIX_BITS
    return order


@njit(cache=True, nogil=True)
def dense_ranks(keys: NDArray[np.uint64], order: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number equal keys 0, 1, … in sorted order: rank per key, and one representative position per rank."""
    n = keys.size
    rank = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    groups = 0
    for i in range(n):
        at = order[i]
        if i == 0 or keys[at] != keys[order[i - 1]]:
            first[groups] = at
            groups += 1
        rank[at] = groups - 1
    return rank, first[:groups].copy()


@njit(cache=True, nogil=True)
def pack(keys: NDArray[np.uint64], codes: Any, bits: int) -> None:
    """Append one column of codes below ``2**bits`` to the keys, in place."""
    shift = np.uint64(bits)
    for i in range(keys.size):
        keys[i] = (keys[i] << shift) | np.uint64(codes[i])


@njit(cache=True, nogil=True)
def unpack(keys: NDArray[np.uint64], bits: NDArray[np.int64], out: NDArray[np.int32]) -> None:
    """Read the last columns off packed keys, and take them away: one row of codes per key."""
    for i in range(keys.size):
        key = keys[i]
        for j in range(bits.size - 1, -1, -1):
            shift = np.uint64(bits[j])
            rest = key >> shift
            out[i, j] = key - (rest << shift)
            key = rest
        keys[i] = key
