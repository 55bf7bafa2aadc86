"""Groups without frequent values, dissolved where their records are better off in others of the kind."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened_box


@helper
def _best_home(
    ruler: Ruler,
    rows: Codes,
    value: Codes,
    quota: Counts,
    head: Counts,
    after: Counts,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    i: int,
    own: int,
    l: int,  # noqa: E741
    enough: float,
) -> tuple[int, float]:
    """The group other than `own` whose loss rises least with piece `i`, and by how much; -1 if by `enough` or more.

    Only groups count in which the piece's value then makes up at most one in `l` records.
    """
    best, least = -1, enough
    records = quota[i]
    for g in range(size.size):
        if g == own or size[g] == 0 or records * l > size[g] + records:
            continue
        # (size + records) * new width - size * old width < least, solved for the new width
        limit = (least + size[g] * total[g]) / (size[g] + records)
        wider = widened_box(ruler, rows, i, lo, hi, g, limit)
        if wider >= limit:
            continue
        same = records
        p = head[g]
        while p >= 0:
            if value[p] == value[i]:
                same += quota[p]
            p = after[p]
        if same * l <= size[g] + records:
            best, least = g, (size[g] + records) * wider - size[g] * total[g]
    return best, least


def dissolve_eligible(
    ruler: Ruler,
    rows: Codes,
    value: Codes,
    quota: Counts,
    group: Codes,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    order: Counts,
    l: int,  # noqa: E741
) -> None:
    """Dissolve groups, in a given order, where that makes the loss fall; no value may exceed one in `l` records.

    The pieces of a group go one by one to the group whose loss rises least. If all that costs more than the group did,
    it is undone. Groups (`group`), boxes, sizes and widths are changed in place; a dissolved group has size 0.
    """
    head, after = np.full(len(size), -1, np.int64), np.empty(len(rows), np.int64)
    members, home = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    old = np.empty_like(rows), np.empty_like(rows), np.empty(len(rows), np.float64)
    _dissolve(ruler, rows, value, quota, group, lo, hi, size, total, order, l, head, after, members, home, *old)


@kernel
def _dissolve(
    ruler: Ruler,
    rows: Codes,
    value: Codes,
    quota: Counts,
    group: Codes,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    order: Counts,
    l: int,  # noqa: E741
    head: Counts,
    after: Counts,
    members: Counts,
    home: Counts,
    old_lo: Codes,
    old_hi: Codes,
    old_total: Floats,
) -> None:
    """Do what `dissolve_eligible` does.

    The pieces of a group are a list from `head` on, which is -1 before; the rest of the room may be anything.
    """
    n, q = rows.shape
    for i in range(n):
        after[i] = head[group[i]]
        head[group[i]] = i
    for g in order:
        n_members = steps = 0
        i = head[g]
        while i >= 0:
            members[n_members] = i
            n_members += 1
            i = after[i]
        left = size[g] * total[g]
        while steps < n_members:
            i = members[steps]
            to, rise = _best_home(ruler, rows, value, quota, head, after, lo, hi, size, total, i, g, l, left)
            if to < 0:
                break
            left -= rise
            home[steps], old_total[steps] = to, total[to]
            for j in range(q):
                old_lo[steps, j], old_hi[steps, j] = lo[to, j], hi[to, j]
            size[to] += quota[i]
            widen(ruler, rows[i], lo[to], hi[to])
            total[to] = box_width(ruler, lo[to], hi[to])
            after[i] = head[to]
            head[to] = i
            steps += 1
        if steps == n_members:
            size[g], head[g] = 0, -1
            for s in range(steps):
                group[members[s]] = home[s]
            continue
        for s in range(steps - 1, -1, -1):  # backwards: a group may have taken in several
            i, to = members[s], home[s]
            head[to] = after[i]
            size[to] -= quota[i]
            total[to] = old_total[s]
            for j in range(q):
                lo[to, j], hi[to, j] = old_lo[s, j], old_hi[s, j]
        head[g] = -1
        for s in range(n_members):
            i = members[s]
            after[i] = head[g]
            head[g] = i
