"""Records of equal secrets exchanged between groups, where that makes their boxes smaller."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, width

#: What `edges` holds per group and column: the lowest code, the next one and how many pieces have the lowest; then the
#: same from above.
_LOW, _NEXT_LOW, _AT_LOW, _HIGH, _NEXT_HIGH, _AT_HIGH = range(6)


@helper
def _measure(ruler: Ruler, rows: Codes, head: Counts, after: Counts, g: int, edges: Codes) -> float:
    """Find the edges of one group anew; returns its width."""
    total = 0.0
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
                elif v < next_low:
                    next_low = v
                if v > high:
                    high, next_high, at_high = v, high, 1
                elif v == high:
                    at_high += 1
                elif v > next_high:
                    next_high = v
            i = after[i]
        edges[g, j, _LOW], edges[g, j, _NEXT_LOW], edges[g, j, _AT_LOW] = low, next_low, at_low
        edges[g, j, _HIGH], edges[g, j, _NEXT_HIGH], edges[g, j, _AT_HIGH] = high, next_high, at_high
        total += width(ruler, j, edges[g, j, _LOW], edges[g, j, _HIGH])
    return total


@helper
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


@helper
def _unlink(head: Counts, before: Counts, after: Counts, g: int, i: int) -> None:
    if before[i] >= 0:
        after[before[i]] = after[i]
    else:
        head[g] = after[i]
    if after[i] >= 0:
        before[after[i]] = before[i]


@helper
def _link(head: Counts, before: Counts, after: Counts, g: int, i: int) -> None:
    before[i], after[i] = -1, head[g]
    if head[g] >= 0:
        before[head[g]] = i
    head[g] = i


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
    head, before, after = np.full(n_groups, -1, np.int64), np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    size, total = np.zeros(n_groups, np.int64), np.empty(n_groups, np.float64)
    edges = np.empty((n_groups, rows.shape[1], 6), np.int32)
    given = (ruler, rows, value, cell, quota, group, n_pieces, window)
    pieces, swaps = _swap(*given, head, before, after, size, total, edges)
    return int(pieces), int(swaps)


@kernel
def _swap(
    ruler: Ruler,
    rows: Codes,
    value: Codes,
    cell: Codes,
    quota: Counts,
    group: Codes,
    n_pieces: int,
    window: int,
    head: Counts,
    before: Counts,
    after: Counts,
    size: Counts,
    total: Floats,
    edges: Codes,
) -> tuple[int, int]:
    """Do what `swap_pass` does.

    The pieces of a group are a list from `head` on; `head` is -1, `size` is 0 and the rest of the room may be anything.
    """
    capacity, q = rows.shape
    for i in range(n_pieces):
        _link(head, before, after, group[i] + 0, i)  # int64, as all numbers of groups here: helpers are compiled once
        size[group[i]] += quota[i]
    for g in range(size.size):
        total[g] = _measure(ruler, rows, head, after, g, edges)
    swaps, pieces = 0, n_pieces
    for a in range(n_pieces):
        best, most = n_pieces, 1e-12  # nobody; rounding is no gain
        g = group[a] + 0
        for b in range(a + 1, min(a + window + 1, n_pieces)):
            if value[b] != value[a]:
                break
            h = group[b] + 0
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
        if best == n_pieces or (quota[a] != quota[best] and pieces == capacity):
            continue
        b, h = best, group[best] + 0
        if quota[a] != quota[b]:  # the larger piece is divided, its new part goes to the other group
            larger, smaller = (a, b) if quota[a] > quota[b] else (b, a)
            for j in range(q):
                rows[pieces, j] = rows[larger, j]
            value[pieces], cell[pieces], quota[pieces] = value[larger], cell[larger], quota[smaller]
            quota[larger] -= quota[smaller]
            there, here = group[smaller] + 0, group[larger] + 0
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
            total[changed] = _measure(ruler, rows, head, after, changed, edges)
        swaps += 1
    return pieces, swaps
