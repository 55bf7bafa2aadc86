"""Groups of records with different values, taken from queues that are ordered along a line.

Every value has a queue of *runs*: the cells with this value in the order of the line, each with a number of equal
records. A group takes at most one record of each value. As long as no run ends and no value runs out of time, the next
group looks the same, so groups are made many at a time: the number of steps follows the cells, not the records.

Records are *eligible* if no value has more of them than the ``n // l`` groups that they can form; the rest must
stay so. A value with just as many is *due*: it must have a record in every further group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.widths import Ruler, widen, widened

Pieces = tuple[Codes, Codes, Counts, int]

_NEVER = np.iinfo(np.int64).max
_TOP = np.iinfo(np.int32).max  # asked for inside a kernel, it would be compiled


class Queues(NamedTuple):
    """The runs of value ``v`` are ``starts[v] .. starts[v+1]``, in the order of the line.

    Each has its `cell`, its `place` on the line (all different) and its number of records.
    """

    starts: Counts
    cell: Codes
    place: Codes
    records: Counts


class _Out(NamedTuple):
    """The latest piece of every value, and the box of the latest group; `used` is the number of pieces and of groups.

    The pieces themselves are rows of cell, group and quota.
    """

    latest: Counts
    low: Codes
    high: Codes
    used: Counts


def _nothing_yet(queues: Queues, q: int, different: int) -> tuple[Counts, _Out]:
    """Room for pieces, and none in it."""
    room = queues.cell.size + queues.cell.size // 2 + 4 * different
    low, high = np.full(q, -2, np.int32), np.full(q, -2, np.int32)  # no group has this box
    latest, used = np.full(queues.starts.size - 1, -1, np.int64), np.zeros(2, np.int64)
    return np.empty((room, 3), np.int64), _Out(latest, low, high, used)


@helper
def _larger(pieces: Counts) -> Counts:
    """The same pieces with room for as many again."""
    out = np.empty((2 * pieces.shape[0], 3), np.int64)
    for i in range(pieces.shape[0]):
        for c in range(3):
            out[i, c] = pieces[i, c]
    return out


@helper
def _close(
    wild: Codes, rows: Codes, cells: Codes, pieces: Counts, out: _Out, values: Counts, runs: Counts, n: int, times: int
) -> None:
    """Write down a group of `n` runs, `times` times; it becomes one with the group before if both look the same."""
    changed = False
    for j in range(rows.shape[1]):
        low, high = _TOP, -1
        for i in range(n):
            v = rows[runs[i], j]
            if v != wild[j]:
                low = v if v < low else low
                high = v if v > high else high
        changed |= low != out.low[j] or high != out.high[j]
        out.low[j], out.high[j] = low, high
    out.used[1] += changed
    group = out.used[1] - 1
    for i in range(n):
        cell, latest = cells[runs[i]], out.latest[values[i]]
        if latest >= 0 and pieces[latest, 1] == group and pieces[latest, 0] == cell:
            pieces[latest, 2] += times
        else:
            at = out.used[0]
            pieces[at, 0], pieces[at, 1], pieces[at, 2] = cell, group, times
            out.latest[values[i]] = at
            out.used[0] += 1


def _finished(pieces: Counts, out: _Out) -> Pieces:
    cell, group, quota = pieces[: out.used[0]].T
    return cell.astype(np.int32), group.astype(np.int32), quota.copy(), int(out.used[1])


@helper
def _push(heap: Counts, size: np.int64, key: Counts, value: int) -> None:
    """Add a value to the heap of `size` values whose smallest key is on top."""
    i = size
    while i > 0:
        above = (i - 1) // 2
        if key[heap[above]] <= key[value]:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = value


@helper
def _pop(heap: Counts, size: np.int64, key: Counts) -> int:
    """Take the value with the smallest key off a heap of `size` values."""
    top, value = heap[0], heap[size - 1]
    i = 0
    while True:
        below = 2 * i + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and key[heap[below + 1]] < key[heap[below]]:
            below += 1
        if key[value] <= key[heap[below]]:
            break
        heap[i] = heap[below]
        i = below
    heap[i] = value
    return int(top)


def form_groups(ruler: Ruler, rows: Codes, queues: Queues, l: int) -> Pieces:  # noqa: E741
    """Groups of `l` to ``2l - 1`` different values: the nearest heads of the queues, and the values that are due.

    The commonest value must have at most ``n // l`` records. Consecutive groups with equal boxes are one.
    Returns the pieces (cell, group, quota) and the number of groups. O(runs · (log values + l)).
    """
    pieces, out = _nothing_yet(queues, rows.shape[1], l)
    per_value = tuple(np.zeros((8, queues.starts.size - 1), np.int64))
    return _finished(_form(ruler.wild, rows, queues, l, queues.records.copy(), per_value, pieces, out), out)


@kernel
def _form(
    wild: Codes,
    rows: Codes,
    queues: Queues,
    l: int,  # noqa: E741
    left: Counts,
    per_value: tuple[Counts, ...],
    pieces: Counts,
    out: _Out,
) -> Counts:
    """Add the groups of `form_groups` to the pieces; `left` is used up, `per_value` is room for eight numbers each."""
    m = queues.starts.size - 1
    head, total, key, heap, member, fixed, inside, runs = per_value
    records, waiting = 0, np.int64(0)
    for v in range(m):
        head[v] = queues.starts[v]
        for run in range(queues.starts[v], queues.starts[v + 1]):
            total[v] += left[run]
        records += total[v]
        if total[v]:
            key[v] = queues.place[head[v]]
            _push(heap, waiting, key, v)
            waiting += 1
    groups = records // l
    spare = records - groups * l
    n = 0
    until = 0  # so many groups can be taken before a value outside could become due
    while groups > 0:
        while n < l and waiting > 0:
            v = _pop(heap, waiting, key)
            waiting -= 1
            if not member[v]:
                member[v] = 1
                inside[n] = v
                n += 1
        if until == 0:
            n_fixed = 0
            for v in range(m):
                if total[v] == groups:
                    n_fixed += 1
                    fixed[v] = 1
                    if not member[v]:  # its place in the heap is skipped when it comes up
                        member[v] = 1
                        inside[n] = v
                        n += 1
            while n > max(l, n_fixed):  # the farthest that are not due make room
                far = -1
                for i in range(n):
                    if not fixed[inside[i]] and (far < 0 or key[inside[i]] > key[inside[far]]):
                        far = i
                v = inside[far]
                member[v] = 0
                _push(heap, waiting, key, v)
                waiting += 1
                n -= 1
                inside[far] = inside[n]
            until = _NEVER
            for v in range(m):
                if not member[v] and total[v] > 0:
                    until = min(until, groups - total[v])
        times = min(until, groups)
        for i in range(n):
            runs[i] = head[inside[i]]
            times = min(times, left[runs[i]])
        if n > l:
            times = min(times, spare // (n - l))
        if out.used[0] + n > pieces.shape[0]:
            pieces = _larger(pieces)
        _close(wild, rows, queues.cell, pieces, out, inside, runs, n, times)
        groups -= times
        spare -= times * (n - l)
        until -= times
        kept = 0
        for i in range(n):
            v = inside[i]
            left[head[v]] -= times
            total[v] -= times
            if left[head[v]] == 0 and total[v] > 0:
                head[v] += 1
                if not fixed[v]:  # the key of one that is due may still stand in the heap
                    member[v] = 0
                    key[v] = queues.place[head[v]]
                    _push(heap, waiting, key, v)
                    waiting += 1
                    until = min(until, groups - total[v])
                    continue
            if total[v] > 0:
                inside[kept] = v
                kept += 1
        n = kept
    return pieces


def form_groups_ahead(ruler: Ruler, rows: Codes, queues: Queues, l: int, ahead: int) -> Pieces:  # noqa: E741
    """Groups like those of `form_groups`, but chosen from the next `ahead` cells of the line instead of the nearest.

    A group begins with the first record of the line, takes the values that are due, and then always the record that
    widens its box least; of equally good ones the first on the line. If fewer than `l` values are among the next
    cells, more of them are looked at; a value that is due and not among them offers its first record.

    O(groups · ahead · d) and more: a box only grows, so a record that was too far away from a smaller box need not be
    measured again.
    """
    pieces, out = _nothing_yet(queues, rows.shape[1], l)
    n_runs, m, q = queues.cell.size, queues.starts.size - 1, rows.shape[1]
    per_run = tuple(np.empty((4, n_runs + m + 1), np.int64))
    per_value, bound = tuple(np.zeros((6, m), np.int64)), np.empty(n_runs + m)
    low, high = np.empty((1, q), np.int32), np.empty((1, q), np.int32)
    room = per_run, per_value, bound, low, high
    return _finished(_form_ahead(ruler, rows, queues, l, ahead, queues.records.copy(), pieces, out, *room), out)


@kernel
def _form_ahead(
    ruler: Ruler,
    rows: Codes,
    queues: Queues,
    l: int,  # noqa: E741
    ahead: int,
    left: Counts,
    pieces: Counts,
    out: _Out,
    per_run: tuple[Counts, ...],
    per_value: tuple[Counts, ...],
    bound: Floats,
    low: Codes,
    high: Codes,
) -> Counts:
    """Add the groups of `form_groups_ahead` to the pieces; `left` is used up.

    `per_run` and `per_value` are room for four and six numbers each; the latter are 0. Taking an offered record makes
    the box at least as wide as its `bound`.
    """
    m, n_runs = queues.starts.size - 1, queues.cell.size
    value, along, after, offers = per_run  # runs in the order of the line, next place with records
    head, total, inside, runs, taken, offered = per_value
    records = 0
    for v in range(m):
        head[v] = queues.starts[v]
        for run in range(queues.starts[v], queues.starts[v + 1]):
            value[run], after[run] = v, run + 1
            along[queues.place[run]] = run
            total[v] += left[run]
        records += total[v]
    groups = records // l
    spare = records - groups * l
    first = step = 0
    while groups > 0:
        step += 1
        while left[along[first]] == 0:
            first += 1
        due = n_offers = n = kinds = 0
        place = before = first
        while place < n_runs and (n_offers < ahead or kinds < l):
            run = along[place]
            if left[run] == 0:
                after[before] = after[place]
                place = after[place]
                continue
            offers[n_offers], bound[n_offers] = run, 0.0
            n_offers += 1
            if offered[value[run]] != step:
                offered[value[run]] = step
                kinds += 1
            before, place = place, after[place]
        for v in range(m):
            if total[v] == groups:
                due += 1
                if offered[v] != step:
                    while left[head[v]] == 0:
                        head[v] += 1
                    offers[n_offers], bound[n_offers] = head[v], 0.0
                    n_offers += 1
        for j in range(low.size):
            low[0, j], high[0, j] = _TOP, -1
        while n < l or due > 0:
            best, least = -1, np.inf
            if n == 0 and (due < l or total[value[along[first]]] == groups):
                best = along[first]
            else:
                for i in range(n_offers):
                    run = offers[i]
                    v = value[run]
                    if bound[i] > least or taken[v] or (due > 0 and total[v] != groups):
                        continue
                    bound[i] = widened(ruler, rows, run, low, high, ZERO, np.nextafter(least, np.inf))
                    if bound[i] < least or (bound[i] == least and queues.place[run] < queues.place[best]):
                        best, least = run, bound[i]
            v = value[best]
            due -= total[v] == groups
            taken[v] = 1
            runs[n], inside[n] = best, v
            n += 1
            widen(ruler, rows, best, low, high, ZERO)
        times = groups
        for i in range(n):
            times = min(times, left[runs[i]])
        for v in range(m):
            if not taken[v]:
                times = min(times, groups - total[v])
        if n > l:
            times = min(times, spare // (n - l))
        if out.used[0] + n > pieces.shape[0]:
            pieces = _larger(pieces)
        _close(ruler.wild, rows, queues.cell, pieces, out, inside, runs, n, times)
        groups -= times
        spare -= times * (n - l)
        for i in range(n):
            left[runs[i]] -= times
            total[inside[i]] -= times
            taken[inside[i]] = 0
    return pieces
