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

#: Texts that are hashed side by side: a processor computes with several words at once. Word ``j`` of the text in lane
#: ``k`` is at ``j * _LANES + k``.
_LANES = 32

#: Where the eight words of a state begin.
_A, _B, _C, _D, _E, _F, _G, _H = (j * _LANES for j in range(8))


@helper
def _turned(x: Any, by: int) -> Any:
    # Numba computes with 64 bits; what is beyond 32 is cut off.
    return np.uint32((x >> np.uint32(by)) | (x << np.uint32(32 - by)))


@helper
def _round(
    v: Words, a: int, b: int, c: int, d: int, e: int, f: int, g: int, h: int, w: Words, at: int, constant: Any
) -> None:
    """One of the 64 rounds. The eight letters say where each is in `v`, so that nothing is moved."""
    for k in range(_LANES):
        x = v[e + k]
        y = v[a + k]
        s1 = _turned(x, 6) ^ _turned(x, 11) ^ _turned(x, 25)
        t1 = np.uint32(v[h + k] + s1 + np.uint32((x & v[f + k]) ^ (~x & v[g + k])) + constant + w[at + k])
        s0 = _turned(y, 2) ^ _turned(y, 13) ^ _turned(y, 22)
        t2 = np.uint32(s0 + ((y & v[b + k]) ^ (y & v[c + k]) ^ (v[b + k] & v[c + k])))
        v[d + k] = np.uint32(v[d + k] + t1)
        v[h + k] = np.uint32(t1 + t2)


@helper
def _schedule(w: Words) -> None:
    """The words of all rounds, from the 16 of a block; by itself, because LLVM makes faster code of it then."""
    for i in range(16 * _LANES, 64 * _LANES):
        x, y = w[i - 15 * _LANES], w[i - 2 * _LANES]
        s0 = _turned(x, 7) ^ _turned(x, 18) ^ (x >> np.uint32(3))
        s1 = _turned(y, 17) ^ _turned(y, 19) ^ (y >> np.uint32(10))
        w[i] = np.uint32(w[i - 16 * _LANES] + s0 + w[i - 7 * _LANES] + s1)


@helper
def _compress(state: Words, v: Words, w: Words) -> None:
    """Take one block of every lane, the first 16 words of `w`, into the states; `v` is for notes."""
    _schedule(w)
    for i in range(8 * _LANES):
        v[i] = state[i]
    for i in range(0, 64, 8):
        _round(v, _A, _B, _C, _D, _E, _F, _G, _H, w, i * _LANES, _K[i])
        _round(v, _H, _A, _B, _C, _D, _E, _F, _G, w, (i + 1) * _LANES, _K[i + 1])
        _round(v, _G, _H, _A, _B, _C, _D, _E, _F, w, (i + 2) * _LANES, _K[i + 2])
        _round(v, _F, _G, _H, _A, _B, _C, _D, _E, w, (i + 3) * _LANES, _K[i + 3])
        _round(v, _E, _F, _G, _H, _A, _B, _C, _D, w, (i + 4) * _LANES, _K[i + 4])
        _round(v, _D, _E, _F, _G, _H, _A, _B, _C, w, (i + 5) * _LANES, _K[i + 5])
        _round(v, _C, _D, _E, _F, _G, _H, _A, _B, w, (i + 6) * _LANES, _K[i + 6])
        _round(v, _B, _C, _D, _E, _F, _G, _H, _A, w, (i + 7) * _LANES, _K[i + 7])
    for i in range(8 * _LANES):
        state[i] += v[i]


@helper
def _n_blocks(size: int) -> int:
    """How many blocks a text takes with the mark that ends it and its length."""
    return (size + 9 + _BLOCK - 1) // _BLOCK


@helper
def _load(w: Words, k: int, block: int, text: Bytes, start: int, size: int) -> None:
    """Put a block of a text into lane `k`, where all words are zero; one block came before all texts."""
    begin = block * _BLOCK
    for p in range(begin, min(size, begin + _BLOCK)):
        w[((p - begin) >> 2) * _LANES + k] |= np.uint32(text[start + p]) << np.uint32(24 - 8 * (p & 3))
    if begin <= size < begin + _BLOCK:
        w[((size - begin) >> 2) * _LANES + k] |= np.uint32(0x80) << np.uint32(24 - 8 * (size & 3))
    if block == _n_blocks(size) - 1:
        bits = np.uint64(size + _BLOCK) * np.uint64(8)
        w[14 * _LANES + k] = np.uint32(bits >> np.uint64(32))
        w[15 * _LANES + k] = np.uint32(bits & np.uint64(0xFFFFFFFF))


@helper
def _spread(words: Words, state: Words) -> None:
    """The same words in every lane."""
    for j in range(words.size):
        for k in range(_LANES):
            state[j * _LANES + k] = words[j]


@kernel
def keyed_state(block: Words) -> Words:
    """The state of SHA-256 after the one block of a key."""
    state, v, w = np.empty(8 * _LANES, np.uint32), np.empty(8 * _LANES, np.uint32), np.empty(64 * _LANES, np.uint32)
    _spread(_START, state)
    _spread(block, w)
    _compress(state, v, w)
    return state[::_LANES].copy()


@kernel
def hmac_words(
    inner: Words, outer: Words, text: Bytes, ends: Counts, first: int, after: int, out: NDArray[np.uint32]
) -> None:
    """HMAC-SHA256 of texts `first` to `after`, eight words each; text ``i`` ends at ``ends[i]``."""
    state, v, w = np.empty(8 * _LANES, np.uint32), np.empty(8 * _LANES, np.uint32), np.empty(64 * _LANES, np.uint32)
    inside = np.zeros(8 * _LANES, np.uint32)
    for begin in range(first, after, _LANES):
        many = min(_LANES, after - begin)
        most = 0
        for i in range(begin, begin + many):
            most = max(most, _n_blocks(ends[i] - (ends[i - 1] if i else 0)))
        _spread(inner, state)
        for block in range(most):
            w[: 16 * _LANES] = np.uint32(0)
            for k in range(many):
                i = begin + k
                start = ends[i - 1] if i else 0
                _load(w, k, block, text, start, ends[i] - start)
            _compress(state, v, w)
            for k in range(many):  # a text that ended before is hashed on to no purpose
                i = begin + k
                if block == _n_blocks(ends[i] - (ends[i - 1] if i else 0)) - 1:
                    for j in range(8):
                        inside[j * _LANES + k] = state[j * _LANES + k]
        w[: 8 * _LANES] = inside
        w[8 * _LANES : 9 * _LANES] = np.uint32(0x80000000)
        w[9 * _LANES : 15 * _LANES] = np.uint32(0)
        w[15 * _LANES : 16 * _LANES] = np.uint32((_BLOCK + 32) * 8)
        _spread(outer, state)
        _compress(state, v, w)
        for k in range(many):
            for j in range(8):
                out[begin + k, j] = state[j * _LANES + k]
