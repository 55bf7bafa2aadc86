"""Groups dissolved where their records are better off in groups nearby."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.local.neighbours import Groups, Near, Pieces, _admits, _are_few, _linked, _near_groups
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened


@helper
def _best_home(
    ruler: Ruler,
    near: Near,
    pieces: Pieces,
    groups: Groups,
    head: Counts,
    after: Counts,
    i: int,
    own: int,
    enough: float,
    seen: Counts,
    stamp: int,
    found: Counts,
) -> tuple[int, float, int]:
    """The group near piece `i`, other than `own`, whose loss rises least with it, by how much, and how many there are.

    -1 if it rises by `enough` or more everywhere, or no group admits it. A piece without neighbours looks everywhere,
    and so does any if groups are few.
    """
    if own >= 0:
        seen[own] = stamp
    n = ZERO
    if not _are_few(near, groups.size.size):
        n = _near_groups(near, groups.group, i, seen, stamp, found, n)
    if n == 0:
        for g in range(groups.size.size):
            if g != own:
                found[n] = g
                n += 1
    best, least = -1, enough
    records = pieces.quota[i]
    for f in range(n):
        g = found[f]
        if groups.size[g] == 0:
            continue
        # (size + records) * new width - size * old width < least, solved for the new width
        limit = (least + groups.size[g] * groups.total[g]) / (groups.size[g] + records)
        wider = widened(ruler, pieces.rows, i, groups.lo, groups.hi, g, limit)
        if wider < limit and _admits(pieces, groups, head, after, g, i):
            best, least = g, (groups.size[g] + records) * wider - groups.size[g] * groups.total[g]
    return best, least, n


@helper
def _join(ruler: Ruler, pieces: Pieces, groups: Groups, head: Counts, after: Counts, g: int, i: int) -> None:
    """Put piece `i` into group `g`; its entry in `groups.group` stays."""
    groups.size[g] += pieces.quota[i]
    widen(ruler, pieces.rows, i, groups.lo, groups.hi, g)
    groups.total[g] = box_width(ruler, groups.lo, groups.hi, g)
    after[i] = head[g]
    head[g] = i


@kernel
def join_nearest(ruler: Ruler, near: Near, pieces: Pieces, groups: Groups) -> None:
    """Put every piece of group -1 into the group nearby whose loss rises least; `groups` follow."""
    n, n_groups = groups.group.size, groups.size.size
    head, after = np.empty(n_groups, np.int64), np.empty(n, np.int64)
    _linked(groups.group, head, after)
    seen, found = np.full(n_groups, -1, np.int64), np.empty(n_groups, np.int64)
    for i in range(n):
        if groups.group[i] < 0:
            to, _, _ = _best_home(ruler, near, pieces, groups, head, after, i, ZERO - 1, np.inf, seen, i, found)
            _join(ruler, pieces, groups, head, after, to, i)
            groups.group[i] = to


def dissolve_groups(ruler: Ruler, near: Near, pieces: Pieces, groups: Groups, order: Counts, budget: int) -> None:
    """Dissolve groups, in a given order, where that makes the loss fall and the others admit their records.

    The pieces of a group go one by one to the group nearby whose loss rises least. If all that costs more than the
    group did, it is undone. A dissolved group has no records. No further group is dissolved when pieces have looked at
    `budget` groups.
    """
    n, n_groups = len(pieces.rows), len(groups.size)
    head, seen, found = np.empty(n_groups, np.int64), np.full(n_groups, -1), np.empty(n_groups, np.int64)
    after, members, home = (np.empty(n, np.int64) for _ in range(3))
    old = np.empty_like(pieces.rows), np.empty_like(pieces.rows), np.empty(n)
    _dissolve(ruler, near, pieces, groups, order, budget, head, after, seen, found, members, home, *old)


@kernel
def _dissolve(
    ruler: Ruler,
    near: Near,
    pieces: Pieces,
    groups: Groups,
    order: Counts,
    budget: int,
    head: Counts,
    after: Counts,
    seen: Counts,
    found: Counts,
    members: Counts,
    home: Counts,
    old_lo: Codes,
    old_hi: Codes,
    old_total: Floats,
) -> None:
    """Do what `dissolve_groups` does; `seen` is -1 before, the rest of the room anything."""
    q = pieces.rows.shape[1]
    _linked(groups.group, head, after)
    stamp = 0
    for g in order:
        if budget < 0:
            break
        n_members = steps = 0
        i = head[g]
        while i >= 0:
            members[n_members] = i
            n_members += 1
            i = after[i]
        left = groups.size[g] * groups.total[g]
        while steps < n_members:
            i = members[steps]
            stamp += 1
            to, rise, looks = _best_home(ruler, near, pieces, groups, head, after, i, g, left, seen, stamp, found)
            budget -= looks
            if to < 0:
                break
            left -= rise
            home[steps], old_total[steps] = to, groups.total[to]
            for j in range(q):
                old_lo[steps, j], old_hi[steps, j] = groups.lo[to, j], groups.hi[to, j]
            _join(ruler, pieces, groups, head, after, to, i)
            steps += 1
        if steps == n_members:
            groups.size[g], head[g] = 0, -1
            for s in range(steps):
                groups.group[members[s]] = home[s]
            continue
        for s in range(steps - 1, -1, -1):  # backwards: a group may have taken in several
            i, to = members[s], home[s]
            head[to] = after[i]
            groups.size[to] -= pieces.quota[i]
            groups.total[to] = old_total[s]
            for j in range(q):
                groups.lo[to, j], groups.hi[to, j] = old_lo[s, j], old_hi[s, j]
        head[g] = -1
        for s in range(n_members):
            i = members[s]
            after[i] = head[g]
            head[g] = i
