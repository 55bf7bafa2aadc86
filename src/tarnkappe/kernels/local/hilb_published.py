"""Groups of records with different values, step by step as algorithm 1 of the thesis on Hilb forms them."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.local.hilb_forming import Pieces, Queues, _close, _finished, _larger, _nothing_yet, _Out
from tarnkappe.kernels.widths import Ruler


def form_groups_as_published(ruler: Ruler, rows: Codes, queues: Queues, l: int) -> Pieces:  # noqa: E741
    """Groups of at least `l` different values, one after another.

    *Greedy step*: the `l` nearest heads of the queues; if the rest is not eligible then (no value may have more than
    one in `l` of the remaining records), the next nearest is added, and so on up to all of them. *Fall-back step*, if
    that fails: the heads of the `l` commonest values, and the next commonest until the rest is eligible.

    The commonest value must have at most ``n // l`` records. Consecutive groups with equal boxes are one.
    O(groups · values · log values).
    """
    pieces, out = _nothing_yet(queues, rows.shape[1], l)
    return _finished(_form_one_by_one(ruler.wild, rows, queues, l, queues.records.copy(), pieces, out), out)


@helper
def _enough(order: Counts, total: Counts, n_values: int, records: int, l: int) -> int:  # noqa: E741
    """How many values of an order, `l` at least, a group takes so that the rest stays eligible; 0 if no number does."""
    top, n_top = 0, 0
    for i in range(n_values):
        if total[order[i]] > top:
            top, n_top = total[order[i]], 0
        if total[order[i]] == top:
            n_top += 1
    for n in range(1, n_values + 1):
        if total[order[n - 1]] == top:
            n_top -= 1
        if n >= l and (top if n_top > 0 else top - 1) * l <= records - n:
            return n
    return 0


@kernel
def _form_one_by_one(
    wild: Codes,
    rows: Codes,
    queues: Queues,
    l: int,  # noqa: E741
    left: Counts,
    pieces: Counts,
    out: _Out,
) -> Counts:
    """Add the groups of `form_groups_as_published` to the pieces; `left` is used up."""
    m = queues.starts.size - 1
    head, total, records = np.empty(m, np.int64), np.zeros(m, np.int64), 0
    for v in range(m):
        head[v] = queues.starts[v]
        for run in range(queues.starts[v], queues.starts[v + 1]):
            total[v] += left[run]
        records += total[v]
    runs = np.empty(m, np.int64)
    while records > 0:
        values = np.flatnonzero(total)
        places = np.array([queues.place[head[v]] for v in values])
        by_place = values[np.argsort(places)]
        order = by_place
        n = _enough(order, total, len(values), records, l)
        if n == 0:
            order = by_place[np.argsort(-total[by_place], kind="mergesort")]
            n = _enough(order, total, len(values), records, l)
        if n == 0:
            n = len(values)
        for i in range(n):
            runs[i] = head[order[i]]
        if out.used[0] + n > pieces.shape[0]:
            pieces = _larger(pieces)
        _close(wild, rows, queues.cell, pieces, out, order, runs, n, 1)
        records -= n
        for i in range(n):
            v = order[i]
            left[head[v]] -= 1
            total[v] -= 1
            if left[head[v]] == 0:
                head[v] += 1
    return pieces
