"""Cut the items of each cluster into chunks that are safe by themselves (VerPart)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel

Bits = NDArray[np.uint64]


@helper
def _people(bits: Bits) -> int:
    """How many bits are set."""
    total = 0
    for word in bits:
        x = word
        while x != 0:
            x &= x - np.uint64(1)
            total += 1
    return total


@helper
def _is_safe(bits: Bits, item: int, chunk: Codes, n_chunk: int, k: int, m: int, sets: Bits, turn: Counts) -> bool:
    """Whether a chunk stays safe with one more item: each set of up to m items with it has no people, or at least k."""
    sets[0] = bits[item]
    depth = 1
    turn[1] = 0
    while depth > 0:
        if depth >= m or turn[depth] >= n_chunk:
            depth -= 1
            continue
        other = chunk[turn[depth]]
        turn[depth] += 1
        for w in range(bits.shape[1]):
            sets[depth, w] = sets[depth - 1, w] & bits[other, w]
        people = _people(sets[depth])
        if 0 < people < k:
            return False
        if people > 0:
            turn[depth + 1] = turn[depth]
            depth += 1
    return True


@kernel
def vertical_parts(
    starts: Counts, codes: Codes, n_codes: int, order: Codes, bounds: Counts, k: int, m: int
) -> tuple[Counts, Codes, Codes]:
    """The items of each cluster and the chunk of each: from 1, or 0 for items whose holders are not told.

    Cluster ``c`` has the items ``item[first[c]:first[c + 1]]``. Items that fewer than k people of the cluster have go
    to chunk 0. The others, most frequent first, join the chunk at hand while it stays safe; the rest form the next.

    People of whom nothing is published had no items. If chunk 0 is empty, and the chunks have too few rows, that rules
    out that k people have items of several chunks. Then the least frequent item goes to chunk 0.
    """
    n_clusters = bounds.size - 1
    first = np.zeros(n_clusters + 1, np.int64)
    item = np.empty(codes.size, np.int32)
    chunk_of = np.empty(codes.size, np.int32)
    number = np.full(n_codes, -1, np.int32)
    sets_turn = np.zeros(m + 2, np.int64)
    for c in range(n_clusters):
        size = bounds[c + 1] - bounds[c]
        at = first[c]
        n = 0
        for i in range(bounds[c], bounds[c + 1]):
            b = order[i]
            for p in range(starts[b], starts[b + 1]):
                if number[codes[p]] < 0:
                    number[codes[p]] = n
                    item[at + n] = codes[p]
                    n += 1
        bits = np.zeros((n, (size + 63) // 64), np.uint64)
        held = np.zeros(n, np.int64)
        for i in range(bounds[c], bounds[c + 1]):
            b, j = order[i], i - bounds[c]
            for p in range(starts[b], starts[b + 1]):
                v = number[codes[p]]
                bits[v, j // 64] |= np.uint64(1) << np.uint64(j % 64)
                held[v] += 1
        for v in range(n):
            number[item[at + v]] = -1
        chunks = chunk_of[at : at + n]
        chunks[:] = 0
        ranked = np.argsort(-held, kind="mergesort")
        left = 0
        while left < n and held[ranked[left]] >= k:
            left += 1
        open_ = left
        chunk = np.empty(n, np.int32)
        sets = np.empty((m + 1, bits.shape[1]), np.uint64)
        now = 0
        while open_ > 0:
            now += 1
            n_chunk = 0
            for r in range(left):
                v = ranked[r]
                if chunks[v] == 0 and _is_safe(bits, v, chunk, n_chunk, k, m, sets, sets_turn):
                    chunks[v] = now
                    chunk[n_chunk] = v
                    n_chunk += 1
                    open_ -= 1
        if left == n:
            rows = 0
            for number_of in range(1, now + 1):
                union = np.zeros(bits.shape[1], np.uint64)
                for v in range(n):
                    if chunks[v] == number_of:
                        union |= bits[v]
                rows += _people(union)
            if rows < size + k * (min(m, now) - 1):
                last = ranked[left - 1]
                gone = chunks[last]
                chunks[last] = 0
                if not np.any(chunks == gone):
                    for v in range(n):
                        if chunks[v] > gone:
                            chunks[v] -= 1
        first[c + 1] = at + n
    return first, item[: first[-1]].copy(), chunk_of[: first[-1]].copy()
