"""HMAC-SHA256 of many short texts under one key, and texts made of the words it gives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import helper, kernel

Words = NDArray[np.uint32]

_K = np.array(
    [
        0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
        0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
        0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
        0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
        0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
        0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
        0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
        0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
    ],
    np.uint32,
)  # fmt: skip

_START = np.array(
    [0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19], np.uint32
)

#: Bytes of a block of SHA-256.
_BLOCK = 64


@helper
def _turned(x: Any, by: int) -> Any:
    # Numba computes with 64 bits; what is beyond 32 is cut off.
    return np.uint32((x >> np.uint32(by)) | (x << np.uint32(32 - by)))


@helper
def _compress(state: Words, w: Words) -> None:
    """Take one block, the first 16 words of `w`, into the state."""
    for i in range(16, 64):
        x, y = w[i - 15], w[i - 2]
        s0 = _turned(x, 7) ^ _turned(x, 18) ^ (x >> np.uint32(3))
        s1 = _turned(y, 17) ^ _turned(y, 19) ^ (y >> np.uint32(10))
        w[i] = np.uint32(w[i - 16] + s0 + w[i - 7] + s1)
    a, b, c, d = state[0], state[1], state[2], state[3]
    e, f, g, h = state[4], state[5], state[6], state[7]
    for i in range(64):
        s1 = _turned(e, 6) ^ _turned(e, 11) ^ _turned(e, 25)
        t1 = np.uint32(h + s1 + np.uint32((e & f) ^ (~e & g)) + _K[i] + w[i])
        s0 = _turned(a, 2) ^ _turned(a, 13) ^ _turned(a, 22)
        t2 = np.uint32(s0 + ((a & b) ^ (a & c) ^ (b & c)))
        h, g, f, e = g, f, e, np.uint32(d + t1)
        d, c, b, a = c, b, a, np.uint32(t1 + t2)
    state[0] += a
    state[1] += b
    state[2] += c
    state[3] += d
    state[4] += e
    state[5] += f
    state[6] += g
    state[7] += h


@helper
def _byte(text: Bytes, start: int, size: int, i: int) -> Any:
    """Byte `i` of a text with the mark that ends it and the zeros that fill its last block."""
    if i < size:
        return np.uint32(text[start + i])
    return np.uint32(0x80) if i == size else np.uint32(0)


@helper
def _digest(state: Words, w: Words, text: Bytes, start: int, end: int) -> None:
    """Take a text into a state that has seen one block already, and end."""
    size = end - start
    blocks = (size + 9 + _BLOCK - 1) // _BLOCK
    for block in range(blocks):
        for i in range(16):
            at = block * _BLOCK + 4 * i
            w[i] = (
                (_byte(text, start, size, at) << np.uint32(24))
                | (_byte(text, start, size, at + 1) << np.uint32(16))
                | (_byte(text, start, size, at + 2) << np.uint32(8))
                | _byte(text, start, size, at + 3)
            )
        if block == blocks - 1:
            bits = np.uint64(size + _BLOCK) * np.uint64(8)
            w[14] = np.uint32(bits >> np.uint64(32))
            w[15] = np.uint32(bits & np.uint64(0xFFFFFFFF))
        _compress(state, w)


@kernel
def keyed_state(block: Words) -> Words:
    """The state of SHA-256 after the one block of a key."""
    state, w = _START.copy(), np.zeros(64, np.uint32)
    w[:16] = block
    _compress(state, w)
    return state


@kernel
def hmac_words(
    inner: Words, outer: Words, text: Bytes, ends: Counts, first: int, after: int, out: NDArray[np.uint32]
) -> None:
    """HMAC-SHA256 of texts `first` to `after`, eight words each; text ``i`` ends at ``ends[i]``."""
    state, w = np.zeros(8, np.uint32), np.zeros(64, np.uint32)
    for i in range(first, after):
        state[:] = inner
        _digest(state, w, text, ends[i - 1] if i else 0, ends[i])
        w[:8] = state
        w[8] = np.uint32(0x80000000)
        for j in range(9, 15):
            w[j] = np.uint32(0)
        w[15] = np.uint32((_BLOCK + 32) * 8)
        out[i] = outer
        _compress(out[i], w)
