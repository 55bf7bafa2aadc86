"""Groups of records with different values, taken from queues that are ordered along a line.

Every value has a queue of *runs*: the cells with this value in the order of the line, each with a number of equal
records. A group takes at most one record of each value. As long as no run ends and no value runs out of time, the next
group looks the same, so groups are made many at a time: the number of steps follows the cells, not the records.

Groups are *eligible* to be taken if the rest can still be divided: no value may then have more records than the
``n // l`` groups that are left. A value with just as many is *due*: it must have a record in every further group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tarnkappe.kernels.widths import Ruler, widen, widened

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]
Pieces = tuple[Codes, Codes, Counts, int]

_NEVER = np.iinfo(np.int64).max


class Queues(NamedTuple):
    """The runs of value ``v`` are ``starts[v] .. starts[v+1]``, in the order of the line.

    Each has its `cell`, its `place` on the line (all different) and its number of records.
    """

    starts: Counts
    cell: Codes
    place: Codes
    records: Counts


class _Out(NamedTuple):
    """The pieces so far, and the latest of every value; `used` holds the number of pieces and of groups."""

    cell: Codes
    group: Codes
    quota: Counts
    latest: Counts
    low: Codes
    high: Codes
    used: Counts


@njit(cache=True, nogil=True)
def _groups_within(count: Counts, begin: int, end: int, l: int) -> int:  # noqa: E741
    """How many groups of at least `l` different values the records of ``count[begin:end]``, largest first, can form.

    The values other than the `j` commonest must fill the ``l - j`` places that these leave in each group:
    ``min over j < l of (records of all but the j commonest) // (l - j)``.
    """
    if end - begin < l:
        return 0
    rest = 0
    for i in range(begin, end):
        rest += count[i]
    most = rest // l
    for j in range(1, l):
        rest -= count[begin + j - 1]
        most = min(most, rest // (l - j))
    return int(most)


#: Of how many shares of the groups that equal records could form one is chosen.
_SHARES = 64


@njit(cache=True, nogil=True)
def stay(parts: Counts, starts: Counts, value: Codes, count: Counts, n_values: int, l: int) -> Counts:  # noqa: E741
    """How many records of each cell form groups with equal records only.

    Part ``p`` has the items ``parts[p] .. parts[p+1]``, item ``t`` the cells ``starts[t] .. starts[t+1]``, those with
    most records first. In every part no value has more than one in `l` records. As many groups as possible are formed
    within items, up to a share of all of them in each part, so that this is true of its other records too.
    """
    kept = np.zeros(count.size, np.int64)
    seen = np.zeros(n_values, np.int64)
    within = np.empty(starts.size, np.int64)
    for p in range(parts.size - 1):
        for t in range(parts[p], parts[p + 1]):
            within[t] = _groups_within(count, starts[t], starts[t + 1], l)
        low, high = 0, _SHARES  # the largest share that leaves an eligible rest; none does
        share = high
        while low < high:
            rest = most = 0
            for t in range(parts[p], parts[p + 1]):
                groups = within[t] * share // _SHARES
                for i in range(starts[t], starts[t + 1]):
                    left = max(0, count[i] - groups)
                    seen[value[i]] += left
                    rest += left
                    most = max(most, seen[value[i]])
            for i in range(starts[parts[p]], starts[parts[p + 1]]):
                seen[value[i]] = 0
            if most * l <= rest:
                low = share
            else:
                high = share - 1
            share = (low + high + 1) // 2
        for t in range(parts[p], parts[p + 1]):
            groups = within[t] * low // _SHARES
            for i in range(starts[t], starts[t + 1]):
                kept[i] = min(count[i], groups)
    return kept


@njit(cache=True, nogil=True)
def _room_for(out: _Out, more: int) -> _Out:
    """The same with room for some more pieces."""
    have, n = out.cell.size, out.used[0]
    if n + more <= have:
        return out
    cell, group, quota = np.empty(2 * have, np.int32), np.empty(2 * have, np.int32), np.empty(2 * have, np.int64)
    for i in range(n):
        cell[i], group[i], quota[i] = out.cell[i], out.group[i], out.quota[i]
    return _Out(cell, group, quota, out.latest, out.low, out.high, out.used)


@njit(cache=True, nogil=True)
def _nothing_yet(n_runs: int, n_values: int, q: int, largest: int) -> _Out:
    room = n_runs + n_runs // 2 + 2 * largest
    low, high = np.full(q, -2, np.int32), np.full(q, -2, np.int32)  # no group has this box
    latest, used = np.full(n_values, -1, np.int64), np.zeros(2, np.int64)
    return _Out(np.empty(room, np.int32), np.empty(room, np.int32), np.empty(room, np.int64), latest, low, high, used)


@njit(cache=True, nogil=True)
def _close(
    ruler: Ruler, rows: Codes, queues: Queues, out: _Out, values: Counts, runs: Counts, n: int, times: int
) -> _Out:
    """Write down a group of `n` runs, `times` times; it becomes one with the group before if both look the same."""
    out = _room_for(out, n)
    changed = False
    for j in range(rows.shape[1]):
        low, high = np.iinfo(np.int32).max, -1
        for i in range(n):
            v = rows[runs[i], j]
            if v != ruler.wild[j]:
                low, high = min(low, v), max(high, v)
        changed |= low != out.low[j] or high != out.high[j]
        out.low[j], out.high[j] = low, high
    out.used[1] += changed
    group = out.used[1] - 1
    for i in range(n):
        cell, latest = queues.cell[runs[i]], out.latest[values[i]]
        if latest >= 0 and out.group[latest] == group and out.cell[latest] == cell:
            out.quota[latest] += times
        else:
            at = out.used[0]
            out.cell[at], out.group[at], out.quota[at] = cell, group, times
            out.latest[values[i]] = at
            out.used[0] += 1
    return out


@njit(cache=True, nogil=True)
def _finished(out: _Out) -> Pieces:
    n = out.used[0]
    return out.cell[:n].copy(), out.group[:n].copy(), out.quota[:n].copy(), out.used[1]


@njit(cache=True, nogil=True)
def _push(heap: Counts, size: int, key: Counts, value: int) -> None:
    """Add a value to the heap of `size` values whose smallest key is on top."""
    i = size
    while i > 0:
        above = (i - 1) // 2
        if key[heap[above]] <= key[value]:
            break
        heap[i] = heap[above]
        i = above
    heap[i] = value


@njit(cache=True, nogil=True)
def _pop(heap: Counts, size: int, key: Counts) -> int:
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


@njit(cache=True, nogil=True)
def form_groups(ruler: Ruler, rows: Codes, queues: Queues, l: int) -> Pieces:  # noqa: E741
    """Groups of `l` to ``2l - 1`` different values: the nearest heads of the queues, and the values that are due.

    The commonest value must have at most ``n // l`` records. Consecutive groups with equal boxes are one.
    Returns the pieces (cell, group, quota) and the number of groups. O(runs · (log values + l)).
    """
    m = queues.starts.size - 1
    left = queues.records.copy()
    head = queues.starts[:-1].copy()
    total = np.zeros(m, np.int64)
    key = np.zeros(m, np.int64)
    heap = np.empty(m, np.int64)
    waiting = records = 0
    for v in range(m):
        for run in range(queues.starts[v], queues.starts[v + 1]):
            total[v] += left[run]
        records += total[v]
        if total[v]:
            key[v] = queues.place[head[v]]
            _push(heap, waiting, key, v)
            waiting += 1
    groups = records // l
    spare = records - groups * l
    member, fixed = np.zeros(m, np.bool_), np.zeros(m, np.bool_)
    inside, runs = np.empty(m, np.int64), np.empty(m, np.int64)
    n = 0
    until = 0  # so many groups can be taken before a value outside could become due
    out = _nothing_yet(queues.cell.size, m, rows.shape[1], 2 * l)
    while groups > 0:
        while n < l and waiting > 0:
            v = _pop(heap, waiting, key)
            waiting -= 1
            if not member[v]:
                member[v] = True
                inside[n] = v
                n += 1
        if until == 0:
            n_fixed = 0
            for v in range(m):
                if total[v] == groups:
                    n_fixed += 1
                    fixed[v] = True
                    if not member[v]:  # its place in the heap is skipped when it comes up
                        member[v] = True
                        inside[n] = v
                        n += 1
            while n > max(l, n_fixed):  # the farthest that are not due make room
                far = -1
                for i in range(n):
                    if not fixed[inside[i]] and (far < 0 or key[inside[i]] > key[inside[far]]):
                        far = i
                v = inside[far]
                member[v] = False
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
        out = _close(ruler, rows, queues, out, inside, runs, n, times)
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
                    member[v] = False
                    key[v] = queues.place[head[v]]
                    _push(heap, waiting, key, v)
                    waiting += 1
                    until = min(until, groups - total[v])
                    continue
            if total[v] > 0:
                inside[kept] = v
                kept += 1
        n = kept
    return _finished(out)


@njit(cache=True, nogil=True)
def form_groups_ahead(ruler: Ruler, rows: Codes, queues: Queues, l: int, ahead: int) -> Pieces:  # noqa: E741
    """Groups like those of `form_groups`, but chosen from the next `ahead` cells of the line instead of the nearest.

    A group begins with the first record of the line, takes the values that are due, and then always the record that
    widens its box least; of equally good ones the first on the line. If fewer than `l` values are among the next
    cells, more of them are looked at; a value that is due and not among them offers its first record.

    O(groups · ahead · d) and more: a box only grows, so a record that was too far away from a smaller box need not be
    measured again.
    """
    m, n_runs = queues.starts.size - 1, queues.cell.size
    left = queues.records.copy()
    value = np.empty(n_runs, np.int64)
    along = np.empty(n_runs + 1, np.int64)  # the runs in the order of the line
    after = np.arange(1, n_runs + 2)  # the next place of the line that has records
    head = queues.starts[:-1].copy()
    total = np.zeros(m, np.int64)
    records = 0
    for v in range(m):
        for run in range(queues.starts[v], queues.starts[v + 1]):
            value[run] = v
            along[queues.place[run]] = run
            total[v] += left[run]
        records += total[v]
    groups = records // l
    spare = records - groups * l
    inside, runs = np.empty(m, np.int64), np.empty(m, np.int64)
    taken = np.zeros(m, np.bool_)
    offered = np.zeros(m, np.int64)  # the latest group that a value was offered to
    offers = np.empty(n_runs + m, np.int64)
    bound = np.empty(offers.size, np.float64)  # taking the record makes the box at least so wide
    low, high = np.empty(rows.shape[1], np.int32), np.empty(rows.shape[1], np.int32)
    first = step = 0
    out = _nothing_yet(n_runs, m, rows.shape[1], 2 * l)
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
            low[j], high[j] = np.iinfo(np.int32).max, -1
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
                    bound[i] = widened(ruler, rows[run], low, high, np.nextafter(least, np.inf))
                    if bound[i] < least or (bound[i] == least and queues.place[run] < queues.place[best]):
                        best, least = run, bound[i]
            v = value[best]
            due -= total[v] == groups
            taken[v] = True
            runs[n], inside[n] = best, v
            n += 1
            widen(ruler, rows[best], low, high)
        times = groups
        for i in range(n):
            times = min(times, left[runs[i]])
        for v in range(m):
            if not taken[v]:
                times = min(times, groups - total[v])
        if n > l:
            times = min(times, spare // (n - l))
        out = _close(ruler, rows, queues, out, inside, runs, n, times)
        groups -= times
        spare -= times * (n - l)
        for i in range(n):
            left[runs[i]] -= times
            total[inside[i]] -= times
            taken[inside[i]] = False
    return _finished(out)
