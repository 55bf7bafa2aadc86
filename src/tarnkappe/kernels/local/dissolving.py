"""Groups dissolved where their records are better off elsewhere."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened_box


@helper
def _best_home(
    ruler: Ruler,
    rows: Codes,
    i: int,
    records: int,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    without: int,
    enough: float,
) -> tuple[int, float]:
    """The group, other than `without`, whose loss rises least with some records of row `i`, and by how much.

    -1 if it rises by `enough` or more everywhere.
    """
    best, least = -1, enough
    for g in range(size.size):
        if g == without or size[g] == 0:
            continue
        # (size + records) * new width - size * old width < least, solved for the new width
        limit = (least + size[g] * total[g]) / (size[g] + records)
        wider = widened_box(ruler, rows, i, lo, hi, g, limit)
        if wider < limit:
            best, least = g, (size[g] + records) * wider - size[g] * total[g]
    return best, least


@kernel
def join_nearest(
    ruler: Ruler, rows: Codes, quota: Counts, lo: Codes, hi: Codes, size: Counts, total: Floats, group: Codes
) -> None:
    """Put every row into the group whose loss rises least; boxes, sizes and widths (`total`) of the groups follow."""
    for i in range(rows.shape[0]):
        best, _ = _best_home(ruler, rows, i, quota[i], lo, hi, size, total, -1, np.inf)
        group[i] = best
        size[best] += quota[i]
        widen(ruler, rows[i], lo[best], hi[best])
        total[best] = box_width(ruler, lo[best], hi[best])


@kernel
def dissolve_groups(
    ruler: Ruler,
    rows: Codes,
    quota: Counts,
    group: Codes,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    order: Counts,
) -> None:
    """Dissolve groups, in a given order, where that makes the loss fall.

    The pieces of a group go one by one to the group whose loss rises least. If all that costs more than the group did,
    it is undone. Groups (`group`), boxes, sizes and widths are changed in place; a dissolved group has size 0.
    """
    n, q = rows.shape
    head, after = np.full(size.size, -1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        after[i] = head[group[i]]
        head[group[i]] = i
    home = np.empty(n, np.int64)
    old_lo, old_hi, old_total = np.empty((n, q), np.int32), np.empty((n, q), np.int32), np.empty(n, np.float64)
    for g in order:
        left = size[g] * total[g]
        steps = 0
        i = head[g]
        while i >= 0 and left > 0:
            to, rise = _best_home(ruler, rows, i, quota[i], lo, hi, size, total, g, left)
            left = left - rise if to >= 0 else -1.0
            if left > 0:
                home[steps], old_lo[steps], old_hi[steps], old_total[steps] = to, lo[to], hi[to], total[to]
                size[to] += quota[i]
                widen(ruler, rows[i], lo[to], hi[to])
                total[to] = box_width(ruler, lo[to], hi[to])
                steps += 1
                i = after[i]
        done = i < 0 and steps > 0
        i = head[g]
        members = np.empty(steps, np.int64)
        for s in range(steps):
            members[s] = i
            i = after[i]
        if done:
            size[g] = 0
            head[g] = -1
            for s in range(steps):
                group[members[s]] = home[s]
                after[members[s]] = head[home[s]]
                head[home[s]] = members[s]
        else:
            for s in range(steps - 1, -1, -1):  # backwards: a group may have taken in several
                size[home[s]] -= quota[members[s]]
                lo[home[s]], hi[home[s]], total[home[s]] = old_lo[s], old_hi[s], old_total[s]
