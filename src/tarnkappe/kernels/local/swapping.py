"""Records of equal secrets exchanged between groups, where that makes their boxes smaller."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, width

#: What `edges` holds per group and column: the lowest code and how many pieces have it, the next one and how many; then
#: the same from above.
_LOW, _AT_LOW, _NEXT_LOW, _AT_NEXT_LOW, _HIGH, _AT_HIGH, _NEXT_HIGH, _AT_NEXT_HIGH = range(8)
_EDGES = 8

_TOP = np.iinfo(np.int32).max


@helper
def _enter(edges: Codes, g: int, j: int, v: int) -> None:
    """Make room for one more piece of code `v` in the edges of a column."""
    e = edges[g, j]
    if v < e[_LOW]:
        e[_NEXT_LOW], e[_AT_NEXT_LOW], e[_LOW], e[_AT_LOW] = e[_LOW], e[_AT_LOW], v, 1
    elif v == e[_LOW]:
        e[_AT_LOW] += 1
    elif v < e[_NEXT_LOW]:
        e[_NEXT_LOW], e[_AT_NEXT_LOW] = v, 1
    elif v == e[_NEXT_LOW]:
        e[_AT_NEXT_LOW] += 1
    if v > e[_HIGH]:
        e[_NEXT_HIGH], e[_AT_NEXT_HIGH], e[_HIGH], e[_AT_HIGH] = e[_HIGH], e[_AT_HIGH], v, 1
    elif v == e[_HIGH]:
        e[_AT_HIGH] += 1
    elif v > e[_NEXT_HIGH]:
        e[_NEXT_HIGH], e[_AT_NEXT_HIGH] = v, 1
    elif v == e[_NEXT_HIGH]:
        e[_AT_NEXT_HIGH] += 1


@helper
def _leave(edges: Codes, g: int, j: int, v: int) -> bool:
    """Take a piece of code `v` out of the edges of a column; whether they must be found anew."""
    e = edges[g, j]
    gone = False
    if v == e[_LOW]:
        e[_AT_LOW] -= 1
        gone = e[_AT_LOW] == 0
    elif v == e[_NEXT_LOW]:
        e[_AT_NEXT_LOW] -= 1
        gone = e[_AT_NEXT_LOW] == 0
    if v == e[_HIGH]:
        e[_AT_HIGH] -= 1
        gone |= e[_AT_HIGH] == 0
    elif v == e[_NEXT_HIGH]:
        e[_AT_NEXT_HIGH] -= 1
        gone |= e[_AT_NEXT_HIGH] == 0
    return gone


@helper
def _find(ruler: Ruler, rows: Codes, head: Counts, after: Counts, g: int, j: int, edges: Codes) -> None:
    """Find the edges of one column of a group anew."""
    e = edges[g, j]
    e[_LOW] = e[_NEXT_LOW] = _TOP
    e[_HIGH] = e[_NEXT_HIGH] = -1
    e[_AT_LOW] = e[_AT_NEXT_LOW] = e[_AT_HIGH] = e[_AT_NEXT_HIGH] = 0
    i = head[g]
    while i >= 0:
        if rows[i, j] != ruler.wild[j]:
            _enter(edges, g, j, rows[i, j])
        i = after[i]


@helper
def _exchange(
    ruler: Ruler, rows: Codes, head: Counts, after: Counts, edges: Codes, g: int, out: int, whole: bool, into: int
) -> float:
    """The width of group `g` and its edges after piece `into` has come and piece `out`, if it was `whole`, has gone.

    The pieces of the group are already those it has now.
    """
    total = 0.0
    for j in range(rows.shape[1]):
        found = False
        if whole and rows[out, j] != rows[into, j] and rows[out, j] != ruler.wild[j]:
            found = _leave(edges, g, j, rows[out, j])
        if found:
            _find(ruler, rows, head, after, g, j, edges)
        elif rows[into, j] != ruler.wild[j] and not (whole and rows[out, j] == rows[into, j]):
            _enter(edges, g, j, rows[into, j])
        total += width(ruler, j, edges[g, j, _LOW], edges[g, j, _HIGH])
    return total


@helper
def _slack(ruler: Ruler, rows: Codes, edges: Codes, total: float, g: int, out: int) -> float:
    """How much narrower group `g` would be without piece `out`."""
    narrower = 0.0
    for j in range(rows.shape[1]):
        low, high, v = edges[g, j, _LOW], edges[g, j, _HIGH], rows[out, j]
        if v != ruler.wild[j]:
            if v == low and edges[g, j, _AT_LOW] == 1:
                low = edges[g, j, _NEXT_LOW]
            if v == high and edges[g, j, _AT_HIGH] == 1:
                high = edges[g, j, _NEXT_HIGH]
        narrower += width(ruler, j, low, high)
    return total - narrower


@helper
def _exchanged(
    ruler: Ruler, rows: Codes, edges: Codes, g: int, out: int, whole: bool, into: int, enough: float
) -> float:
    """The width that group `g` would have with piece `into` and without piece `out`, if that leaves as a whole."""
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
    edges = np.empty((n_groups, rows.shape[1], _EDGES), np.int32)
    given = (ruler, rows, value, cell, quota, group, n_pieces, window)
    slack, measured, changes = np.empty(len(rows)), np.full(len(rows), -1, np.int64), np.zeros(n_groups, np.int64)
    pieces, swaps = _swap(*given, head, before, after, size, total, edges, slack, measured, changes)
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
    slack: Floats,
    measured: Counts,
    changes: Counts,
) -> tuple[int, int]:
    """Do what `swap_pass` does.

    The pieces of a group are a list from `head` on; `head` is -1, `size` is 0 and the rest of the room may be anything.
    `slack` is what a piece that leaves could gain at most in its group, `measured` after how many `changes` of it that
    was found: -1 and 0 in the beginning.
    """
    capacity, q = rows.shape
    for i in range(n_pieces):
        _link(head, before, after, group[i] + 0, i)  # int64, as all numbers of groups here: helpers are compiled once
        size[group[i]] += quota[i]
    for g in range(size.size):
        total[g] = 0.0
        for j in range(q):
            _find(ruler, rows, head, after, g, j, edges)
            total[g] += width(ruler, j, edges[g, j, _LOW], edges[g, j, _HIGH])
    swaps, pieces = 0, n_pieces
    for a in range(n_pieces):
        best, most = n_pieces, 1e-12  # nobody; rounding is no gain
        g = group[a] + 0
        if measured[a] != changes[g]:
            slack[a], measured[a] = size[g] * _slack(ruler, rows, edges, total[g], g, a), changes[g]
        for b in range(a + 1, min(a + window + 1, n_pieces)):
            if value[b] != value[a]:
                break
            h = group[b] + 0
            if g == h:
                continue
            if measured[b] != changes[h]:
                slack[b], measured[b] = size[h] * _slack(ruler, rows, edges, total[h], h, b), changes[h]
            if slack[a] + slack[b] <= most:
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
        divided = quota[a] != quota[b]  # for the constants True and False helpers would be compiled twice
        if divided:  # the larger piece, whose new part goes to the other group
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
            total[there] = _exchange(ruler, rows, head, after, edges, there, smaller, divided, larger)
            total[here] = _exchange(ruler, rows, head, after, edges, here, larger, not divided, smaller)
            pieces += 1
        else:
            _unlink(head, before, after, g, a)
            _unlink(head, before, after, h, b)
            group[a], group[b] = h, g
            _link(head, before, after, h, a)
            _link(head, before, after, g, b)
            total[g] = _exchange(ruler, rows, head, after, edges, g, a, not divided, b)
            total[h] = _exchange(ruler, rows, head, after, edges, h, b, not divided, a)
        measured[a] = measured[b] = -1
        changes[g] += 1
        changes[h] += 1
        swaps += 1
    return pieces, swaps
