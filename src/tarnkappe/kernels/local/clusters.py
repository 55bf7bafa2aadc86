"""Clusters grown one after another around far-apart seeds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.widths import Ruler, box_width, reach, widen


@helper
def _add_reach(change: Floats, codes: NDArray[np.uint32], score: Floats, n: int) -> None:
    """Bring the first `n` scores up to date after the reach of one column has changed."""
    for i in range(n):
        score[i] += change[codes[i]]


@helper
def _nearest(score: Floats, value: Codes, closed: NDArray[np.bool_], n: int) -> int:
    """The row of the lowest score whose value is not closed; the lowest of all if every value is."""
    best, low = -1, np.inf
    any_best, any_low = 0, np.inf
    for i in range(n):
        if score[i] < any_low:
            any_best, any_low = i, score[i]
        if score[i] < low and not closed[value[i]]:
            best, low = i, score[i]
    return best if best >= 0 else any_best


@kernel
def grow_clusters(
    ruler: Ruler,
    rows: Codes,
    count: Counts,
    value: Codes,
    cap: Counts,
    size: int,
    absorb: bool,
    limit: int,
) -> tuple[Codes, Codes, Counts, int]:
    """Clusters of `size` records: a seed far from the last one, then always the record that widens the box least.

    Of the sensitive value ``value[i]`` a cluster takes at most ``cap[value]`` records while others are to be had. If it
    is to `absorb` stragglers, it also takes the records inside its final box if they are fewer than `size`. The first
    seed is row 0; at most `limit` clusters are made. Returns pieces (row, cluster, records) and the number of
    clusters; fewer than `size` records may be left over.

    The score of a row is the width that the box would have with it. It is kept up to date column by column: a record
    rarely changes the box in more than one or two.
    """
    n, q = rows.shape
    live = np.empty((q, n), np.uint32)  # live rows stand together, column by column, so that scans are dense
    for j in range(q):
        for i in range(n):
            live[j, i] = rows[i, j]
    at, own = np.arange(n).astype(np.int32), value.copy()
    left = count.copy()
    remaining = left.sum()
    # A piece uses up its row, completes its cluster, or closes a value.
    capacity = n + min(remaining // size, limit) * (1 + min(size, cap.size)) + 1
    piece, group, quota = np.empty(capacity, np.int32), np.empty(capacity, np.int32), np.empty(capacity, np.int64)
    table, change = np.zeros(ruler.start[q], np.float64), np.empty(ruler.start[q], np.float64)
    score, from_seed = np.empty(n, np.float64), np.zeros(n, np.float64)
    held, closed = np.zeros(cap.size, np.int64), np.zeros(cap.size, np.bool_)
    lo, hi = np.empty((1, q), np.int32), np.empty((1, q), np.int32)
    old_lo, old_hi = np.empty((1, q), np.int32), np.empty((1, q), np.int32)
    made = pieces = 0
    best = 0
    while remaining >= size and made < limit:
        if made > 0:
            best = int(np.argmax(from_seed[:n]))
        held[:] = 0
        closed[:] = False
        score[:n] = 0.0
        table[:] = 0.0
        lo[:] = np.iinfo(np.int32).max
        hi[:] = -1
        old_lo[:] = -2  # unlike any interval: all columns must be measured
        members = 0
        while True:
            v = own[best]
            take = min(left[at[best]], size - members)
            if not closed[v]:
                take = min(take, cap[v] - held[v])
            held[v] += take
            closed[v] = held[v] >= cap[v]
            members += take
            remaining -= take
            left[at[best]] -= take
            piece[pieces], group[pieces], quota[pieces] = at[best], made, take
            pieces += 1
            widen(ruler, rows, at[best], lo, hi, ZERO)
            if left[at[best]] == 0:
                n -= 1
                at[best], own[best], score[best], from_seed[best] = at[n], own[n], score[n], from_seed[n]
                for j in range(q):
                    live[j, best] = live[j, n]
            for j in range(q):
                if lo[0, j] != old_lo[0, j] or hi[0, j] != old_hi[0, j]:
                    begins, ends = ruler.start[j], ruler.start[j + 1]
                    change[begins:ends] = -table[begins:ends]
                    reach(ruler, j, lo[0, j], hi[0, j], table)
                    change[begins:ends] += table[begins:ends]
                    _add_reach(change[begins:ends], live[j], score, n)
                    old_lo[0, j], old_hi[0, j] = lo[0, j], hi[0, j]
            if members == take:
                from_seed[:n] = score[:n]
            if members == size:
                break
            best = _nearest(score, own, closed, n)
        if absorb:
            inside = box_width(ruler, lo, hi, ZERO) + 1e-9
            stragglers = 0
            for i in range(n):
                stragglers += left[at[i]] if score[i] <= inside else 0
            for i in range(n - 1 if stragglers < size else -1, -1, -1):
                if score[i] <= inside:
                    remaining -= left[at[i]]
                    piece[pieces], group[pieces], quota[pieces] = at[i], made, left[at[i]]
                    pieces += 1
                    left[at[i]] = 0
                    n -= 1
                    at[i], own[i], score[i], from_seed[i] = at[n], own[n], score[n], from_seed[n]
                    for j in range(q):
                        live[j, i] = live[j, n]
        made += 1
    return piece[:pieces].copy(), group[:pieces].copy(), quota[:pieces].copy(), made
