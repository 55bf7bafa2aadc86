"""Records of equal secrets exchanged between groups, where that makes their boxes smaller."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tarnkappe.kernels.widths import Ruler, width

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

#: What `edges` holds per group and column: the lowest code, the next one and how many pieces have the lowest; then the
#: same from above.
_LOW, _NEXT_LOW, _AT_LOW, _HIGH, _NEXT_HIGH, _AT_HIGH = range(6)


@njit(cache=True, nogil=True)
def _measure(ruler: Ruler, rows: Codes, head: Counts, after: Counts, g: int, edges: Codes) -> None:
    """Find the edges of one group anew."""
    for j in range(rows.shape[1]):
        low = next_low = np.iinfo(np.int32).max
        high = next_high = -1
        at_low = at_high = 0
        i = head[g]
        while i >= 0:
            v = rows[i, j]
            if v != ruler.wild[j]:
                if v < low:
                    low, next_low, at_low = v, low, 1
                elif v == low:
                    at_low += 1
                else:
                    next_low = min(next_low, v)
                if v > high:
                    high, next_high, at_high = v, high, 1
                elif v == high:
                    at_high += 1
                else:
                    next_high = max(next_high, v)
            i = after[i]
        edges[g, j, _LOW], edges[g, j, _NEXT_LOW], edges[g, j, _AT_LOW] = low, next_low, at_low
        edges[g, j, _HIGH], edges[g, j, _NEXT_HIGH], edges[g, j, _AT_HIGH] = high, next_high, at_high


@njit(cache=True, nogil=True)
def _exchanged(
    ruler: Ruler, rows: Codes, edges: Codes, g: int, out: int, whole: bool, into: int, enough: float
) -> float:
    """The width of group `g` once piece `into` is added and piece `out`, if it leaves as a whole, is gone."""
    total = 0.0
    for j in range(rows.shape[1]):
        low, high = edges[g, j, _LOW], edges[g, j, _HIGH]
        v = rows[out, j]
        if whole and v != ruler.wild[j]:
            if v == low and edges[g, j, _AT_LOW] == 1:
                low = edges[g, j, _NEXT_LOW]
            if v == high and edges[g, j, _AT_HIGH] == 1:
                high = edges[g, j, _NEXT_HIGH]
        v = rows[into, j]
        if v != ruler.wild[j]:
            low, high = min(low, v), max(high, v)
        total += width(ruler, j, low, high)
        if total >= enough:
            break
    return total


@njit(cache=True, nogil=True)
def _width_of(ruler: Ruler, edges: Codes, g: int) -> float:
    total = 0.0
    for j in range(edges.shape[1]):
        total += width(ruler, j, edges[g, j, _LOW], edges[g, j, _HIGH])
    return total


@njit(cache=True, nogil=True)
def _unlink(head: Counts, before: Counts, after: Counts, g: int, i: int) -> None:
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[g] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@njit(cache=True, nogil=True)
def _link(head: Counts, before: Counts, after: Counts, g: int, i: int) -> None:
    before[i], after[i] = -1, head[g]
    if head[g] >= 0:
        before[head[g]] = i
    head[g] = i


@njit(cache=True, nogil=True)
def swap_pass(
    ruler: Ruler,
    rows: Codes,
    value: Codes,
    cell: Codes,
    quota: Counts,
    group: Codes,
    n_pieces: int,
    n_groups: int,
    window: int,
) -> tuple[int, int]:
    """Go through all pieces once and exchange records with pieces of the same `value` at most `window` places further.

    The first `n_pieces` entries of the arrays are pieces, sorted by value and, within it, along a curve; the rest is
    room for parts of pieces that are divided. Sizes of groups and their secrets stay as they are. The arrays are
    changed in place; returns the number of pieces now and the number of exchanges.
    """
    capacity, q = rows.shape
    head = np.full(n_groups, -1, np.int64)
    before, after = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    size = np.zeros(n_groups, np.int64)
    for i in range(n_pieces):
        _link(head, before, after, group[i], i)
        size[group[i]] += quota[i]
    edges = np.empty((n_groups, q, 6), np.int32)
    total = np.empty(n_groups, np.float64)
    for g in range(n_groups):
        _measure(ruler, rows, head, after, g, edges)
        total[g] = _width_of(ruler, edges, g)
    swaps, pieces = 0, n_pieces
    for a in range(n_pieces):
        best, most = -1, 1e-12  # rounding is no gain
        g = group[a]
        for b in range(a + 1, min(a + window + 1, n_pieces)):
            if value[b] != value[a]:
                break
            h = group[b]
            if g == h:
                continue
            now = size[g] * total[g] + size[h] * total[h]
            first = _exchanged(ruler, rows, edges, g, a, quota[a] <= quota[b], b, (now - most) / size[g])
            rest = (now - most - size[g] * first) / size[h]
            if rest <= 0:
                continue
            second = _exchanged(ruler, rows, edges, h, b, quota[b] <= quota[a], a, rest)
            gain = now - size[g] * first - size[h] * second
            if gain > most:
                best, most = b, gain
        if best < 0 or (quota[a] != quota[best] and pieces == capacity):
            continue
        b, h = best, group[best]
        if quota[a] != quota[b]:  # the larger piece is divided, its new part goes to the other group
            larger, smaller = (a, b) if quota[a] > quota[b] else (b, a)
            rows[pieces] = rows[larger]
            value[pieces], cell[pieces], quota[pieces] = value[larger], cell[larger], quota[smaller]
            quota[larger] -= quota[smaller]
            there, here = group[smaller], group[larger]
            group[pieces] = there
            _link(head, before, after, there, pieces)
            _unlink(head, before, after, there, smaller)
            group[smaller] = here
            _link(head, before, after, here, smaller)
            pieces += 1
        else:
            _unlink(head, before, after, g, a)
            _unlink(head, before, after, h, b)
            group[a], group[b] = h, g
            _link(head, before, after, h, a)
            _link(head, before, after, g, b)
        for changed in (g, h):
            _measure(ruler, rows, head, after, changed, edges)
            total[changed] = _width_of(ruler, edges, changed)
        swaps += 1
    return pieces, swaps
