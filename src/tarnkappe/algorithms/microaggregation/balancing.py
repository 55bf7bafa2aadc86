"""Which groups publish the lower of two values and which the upper, so that the mean of a column moves least."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Floats

#: So many groups are balanced exactly; the sums of all choices of half of them must fit into memory.
MOST_BALANCED = 40


def balanced(lower: Floats, upper: Floats) -> NDArray[np.bool_]:
    """Who takes the upper shift, so that all shifts add up as near to 0 as possible: exact, by meeting in the middle.

    The groups are divided in two halves of which all :math:`2^{g/2}` sums are listed; to every sum of one half the best
    one of the other is looked up. O(g · 2^(g/2)). Of equally good choices that with the fewest upper shifts of late
    groups is taken.

    >>> balanced(np.array([-3.0, -1.0, -1.0]), np.array([3.0, 2.0, 2.0])).tolist()
    [False, True, True]
    """
    n = len(lower)
    assert n <= MOST_BALANCED, "too many groups to balance exactly"
    step = upper - lower
    first, second = _sums(step[: n // 2]), _sums(step[n // 2 :])
    order = np.argsort(second, kind="stable")
    ranked = second[order]
    wanted = -(float(lower.sum()) + first)
    at = np.clip(np.searchsorted(ranked, wanted), 1, len(ranked) - 1) if len(ranked) > 1 else np.ones(len(first), int)
    best = np.zeros(len(first), np.int64)
    gap = np.full(len(first), np.inf)
    for place in (at - 1, np.minimum(at, len(ranked) - 1)):
        off = np.abs(ranked[place] - wanted)
        closer = off < gap
        best[closer], gap[closer] = place[closer], off[closer]
    i = int(np.argmin(gap))
    return np.concatenate([_bits(i, n // 2), _bits(int(order[best[i]]), n - n // 2)])


def _sums(step: Floats) -> Floats:
    """The sums of all subsets; bit ``j`` of a place says whether ``step[j]`` is in."""
    out = np.zeros(1)
    for s in step:
        out = np.concatenate([out, out + s])
    return out


def _bits(number: int, n: int) -> NDArray[np.bool_]:
    return (number >> np.arange(n) & 1).astype(np.bool_)
