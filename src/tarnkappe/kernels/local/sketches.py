"""Sketches of sets: how alike two sets are, read off a few hash values of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel


@kernel
def least_ranks(rows: Codes, start: Counts, rank: Codes) -> Codes:
    """The lowest rank of each row's codes under a hash function; code ``c`` of column ``j`` is at ``start[j] + c``."""
    out = np.empty(rows.shape[0], np.int32)
    for i in range(rows.shape[0]):
        low = rank[start[0] + rows[i, 0]]
        for j in range(1, rows.shape[1]):
            low = min(low, rank[start[j] + rows[i, j]])
        out[i] = low
    return out


@helper
def _agreement(sketch: Codes, a: int, b: int) -> int:
    """How many hash values two sketches share."""
    same = 0
    for f in range(sketch.shape[1]):
        same += sketch[a, f] == sketch[b, f]
    return same


@kernel
def join_most_alike(starts: Counts, sketch: Codes, size: Counts, needy: NDArray[np.bool_], least: int) -> Codes:
    """Within each run ``starts[p] .. starts[p + 1]``, join sets that are needy or smaller than `least` to another one.

    The smallest goes first, to the set whose sketch has most in common with its own, of equal ones the smallest. The
    sketch of a union is the minimum of both. Sketches, sizes and needs are changed in place; returns the set that each
    has become part of.
    """
    n = size.size
    into = np.arange(n).astype(np.int32)
    for p in range(starts.size - 1):
        alive = starts[p + 1] - starts[p]
        while alive > 1:
            poorest = -1
            for s in range(starts[p], starts[p + 1]):
                if into[s] == s and (needy[s] or size[s] < least) and (poorest < 0 or size[s] < size[poorest]):
                    poorest = s
            if poorest < 0:
                break
            best, most = -1, -1
            for s in range(starts[p], starts[p + 1]):
                if into[s] == s and s != poorest:
                    same = _agreement(sketch, poorest, s)
                    if same > most or (same == most and size[s] < size[best]):
                        best, most = s, same
            into[poorest] = best
            size[best] += size[poorest]
            needy[best] = False
            for f in range(sketch.shape[1]):
                sketch[best, f] = min(sketch[best, f], sketch[poorest, f])
            alive -= 1
        for s in range(starts[p], starts[p + 1]):
            while into[into[s]] != into[s]:
                into[s] = into[into[s]]
    return into
