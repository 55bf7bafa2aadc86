"""BLAKE2s with a key, of many short texts under one key."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.memory import byte_at, word_at

Words = NDArray[np.uint32]

_START = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], np.uint32
)

#: Texts of so many bytes are in their view.
_SHORT = 12

#: Whether the bytes of a word in memory are in the order that BLAKE2s takes them in.
_LITTLE = sys.byteorder == "little"

#: Bytes of a block.
_BLOCK = 64

#: Texts that are hashed side by side: a processor computes with several words at once. Word ``j`` of the text in lane
#: ``k`` is at ``j * _LANES + k``.
_LANES = 32


@helper
def _turned(x: Any, by: int) -> Any:
    # Numba computes with 64 bits; what is beyond 32 is cut off.
    return np.uint32((x >> np.uint32(by)) | (x << np.uint32(32 - by)))


@helper
def _mix(a: Any, b: Any, c: Any, d: Any, x: Any, y: Any) -> Any:
    """One of the eight steps of a round."""
    a = np.uint32(a + b + x)
    d = _turned(np.uint32(d ^ a), 16)
    c = np.uint32(c + d)
    b = _turned(np.uint32(b ^ c), 12)
    a = np.uint32(a + b + y)
    d = _turned(np.uint32(d ^ a), 8)
    c = np.uint32(c + d)
    b = _turned(np.uint32(b ^ c), 7)
    return a, b, c, d


@helper
def _round(
    v: Any,
    x0: Any,
    x1: Any,
    x2: Any,
    x3: Any,
    x4: Any,
    x5: Any,
    x6: Any,
    x7: Any,
    x8: Any,
    x9: Any,
    x10: Any,
    x11: Any,
    x12: Any,
    x13: Any,
    x14: Any,
    x15: Any,
) -> Any:
    """One of the ten rounds, of which each takes the words of a block in an order of its own."""
    v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15 = v
    v0, v4, v8, v12 = _mix(v0, v4, v8, v12, x0, x1)
    v1, v5, v9, v13 = _mix(v1, v5, v9, v13, x2, x3)
    v2, v6, v10, v14 = _mix(v2, v6, v10, v14, x4, x5)
    v3, v7, v11, v15 = _mix(v3, v7, v11, v15, x6, x7)
    v0, v5, v10, v15 = _mix(v0, v5, v10, v15, x8, x9)
    v1, v6, v11, v12 = _mix(v1, v6, v11, v12, x10, x11)
    v2, v7, v8, v13 = _mix(v2, v7, v8, v13, x12, x13)
    v3, v4, v9, v14 = _mix(v3, v4, v9, v14, x14, x15)
    return v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15  # fmt: skip


@helper
def _compress(state: Words, m: Words, told: Words, ends: Words) -> None:
    """Take one block `m` of every lane into the states: `told` bytes so far, all bits of `ends` set in the last one.

    All rounds of a lane stand in one loop over lanes, without another inside: so they are computed side by side, and
    nothing but states and blocks is in memory.
    """
    n = _LANES
    for k in range(n):
        m0, m1, m2, m3 = m[k], m[n + k], m[2 * n + k], m[3 * n + k]
        m4, m5, m6, m7 = m[4 * n + k], m[5 * n + k], m[6 * n + k], m[7 * n + k]
        m8, m9, m10, m11 = m[8 * n + k], m[9 * n + k], m[10 * n + k], m[11 * n + k]
        m12, m13, m14, m15 = m[12 * n + k], m[13 * n + k], m[14 * n + k], m[15 * n + k]
        v = (
            state[k], state[n + k], state[2 * n + k], state[3 * n + k],
            state[4 * n + k], state[5 * n + k], state[6 * n + k], state[7 * n + k],
            _START[0], _START[1], _START[2], _START[3],
            np.uint32(_START[4] ^ told[k]), _START[5], np.uint32(_START[6] ^ ends[k]), _START[7],
        )  # fmt: skip
        v = _round(v, m0, m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15)
        v = _round(v, m14, m10, m4, m8, m9, m15, m13, m6, m1, m12, m0, m2, m11, m7, m5, m3)
        v = _round(v, m11, m8, m12, m0, m5, m2, m15, m13, m10, m14, m3, m6, m7, m1, m9, m4)
        v = _round(v, m7, m9, m3, m1, m13, m12, m11, m14, m2, m6, m5, m10, m4, m0, m15, m8)
        v = _round(v, m9, m0, m5, m7, m2, m4, m10, m15, m14, m1, m11, m12, m6, m8, m3, m13)
        v = _round(v, m2, m12, m6, m10, m0, m11, m8, m3, m4, m13, m7, m5, m15, m14, m1, m9)
        v = _round(v, m12, m5, m1, m15, m14, m13, m4, m10, m0, m7, m6, m3, m9, m2, m8, m11)
        v = _round(v, m13, m11, m7, m14, m12, m1, m3, m9, m5, m0, m15, m4, m8, m6, m2, m10)
        v = _round(v, m6, m15, m14, m9, m11, m3, m0, m8, m12, m2, m13, m7, m1, m4, m10, m5)
        v = _round(v, m10, m2, m8, m4, m7, m6, m1, m5, m15, m11, m9, m14, m3, m12, m13, m0)
        state[k] ^= np.uint32(v[0] ^ v[8])
        state[n + k] ^= np.uint32(v[1] ^ v[9])
        state[2 * n + k] ^= np.uint32(v[2] ^ v[10])
        state[3 * n + k] ^= np.uint32(v[3] ^ v[11])
        state[4 * n + k] ^= np.uint32(v[4] ^ v[12])
        state[5 * n + k] ^= np.uint32(v[5] ^ v[13])
        state[6 * n + k] ^= np.uint32(v[6] ^ v[14])
        state[7 * n + k] ^= np.uint32(v[7] ^ v[15])


@helper
def _load(m: Words, k: int, address: Any, size: int) -> None:
    """Put bytes into lane `k`, where all words are zero."""
    whole = size >> 2 if _LITTLE else 0
    for j in range(whole):
        m[j * _LANES + k] = word_at(address + 4 * j)
    if whole > 0 and size & 3:  # the last bytes, with some before them that are known already
        m[whole * _LANES + k] = word_at(address + size - 4) >> np.uint32(32 - 8 * (size & 3))
        return
    for at in range(4 * whole, size):
        m[(at >> 2) * _LANES + k] |= np.uint32(byte_at(address + at)) << np.uint32(8 * (at & 3))


@kernel
def keyed_states(key: Bytes) -> Words:
    """The state after the one block of a key, and that of a text without a byte, of which it is the last block."""
    state = np.empty(8 * _LANES, np.uint32)
    m, told, ends = np.zeros(16 * _LANES, np.uint32), np.full(_LANES, _BLOCK, np.uint32), np.zeros(_LANES, np.uint32)
    for k in range(2):
        _load(m, k, np.int64(key.ctypes.data), key.size)
    for j in range(8):
        state[j * _LANES : (j + 1) * _LANES] = _START[j]
    # Thirty-two bytes of hash, the length of the key, and neither a tree nor anything else.
    state[:_LANES] ^= np.uint32(0x01010020 | key.size << 8)
    ends[1] = np.uint32(0xFFFFFFFF)
    _compress(state, m, told, ends)
    out = np.empty((2, 8), np.uint32)
    for j in range(8):
        out[0, j], out[1, j] = state[j * _LANES], state[j * _LANES + 1]
    return out


@kernel
def keyed_hashes(
    states: Words, views: NDArray[np.int32], buffers: Counts, first: int, after: int, out: NDArray[np.uint32]
) -> None:
    """BLAKE2s of texts `first` to `after` under a key, as many words of each as `out` has room for.

    Texts are given as Arrow keeps them: a view has their size and, if they are short, themselves, else where they are
    in which of the `buffers`, of which the addresses are given. A text of up to 64 bytes takes one block.
    """
    state, m = np.empty(8 * _LANES, np.uint32), np.empty(16 * _LANES, np.uint32)
    told, last = np.zeros(_LANES, np.uint32), np.zeros(_LANES, np.uint32)
    address = np.zeros(_LANES, np.int64)
    for begin in range(first, after, _LANES):
        many = min(_LANES, after - begin)
        for j in range(8):
            for k in range(_LANES):
                state[j * _LANES + k] = states[0, j]
        longest = 0
        for k in range(many):
            size, _, buffer, place = views[begin + k]
            inside = np.int64(views.ctypes.data) + 16 * (begin + k) + 4
            address[k] = inside if size <= _SHORT else buffers[buffer] + np.int64(np.uint32(place))
            longest = max(longest, size)
        for block in range(0, max(longest, 1), _BLOCK):
            m[:] = np.uint32(0)
            for k in range(many):
                size = views[begin + k, 0]
                here = min(size, block + _BLOCK)
                if block < here:
                    _load(m, k, address[k] + block, here - block)
                told[k] = np.uint32(_BLOCK + here)
                last[k] = np.uint32(0xFFFFFFFF) if size <= block + _BLOCK else np.uint32(0)
            _compress(state, m, told, last)
            for k in range(many):  # a text that ended before is hashed on to no purpose
                i = begin + k
                size = views[i, 0]
                if block < size <= block + _BLOCK:
                    for j in range(out.shape[1]):
                        out[i, j] = state[j * _LANES + k]
                elif size == 0:
                    for j in range(out.shape[1]):
                        out[i, j] = states[1, j]
