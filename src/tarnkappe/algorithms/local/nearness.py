"""Pieces that are near each other, and what may be done to a group without asking the goal about it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tarnkappe.algorithms.effort import Effort
from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.local.neighbours import MANY_PIECES, Near, Pieces
from tarnkappe.tally import Tally

#: Curves at normal effort, and neighbours on each of them.
_CURVES, _NEIGHBOURS = 4, 12

#: So many pairs of pieces are compared in any table: small ones are compared completely.
_PAIRS = 1 << 18


def n_curves(work: Effort) -> int:
    """On how many curves neighbours are looked for: 4 at normal effort, 8 at best."""
    return max(2, round(_CURVES * math.cbrt(work.times)))


def window(n_pieces: int, n_groups: int) -> int:
    """How far a piece looks in either direction of a curve: 6 places, and further in small tables and large groups.

    What all pieces of a small table may look at besides shrinks with their number, so there is no size at which the
    method or its cost changes. A piece of a large group must look further to see beyond it. Where groups have thousands
    of pieces, there is nothing to see from within them, but all of them are few enough to be looked at.

    >>> [window(n, n // 10) for n in (100, 1_000, 30_000, 1_000_000)]
    [2627, 268, 14, 6]
    >>> [window(1_000_000, n) for n in (500, 5)]
    [131, 134]
    """
    beyond = min(n_pieces // max(n_groups, 1), MANY_PIECES) // 16
    return _NEIGHBOURS // 2 + _PAIRS // max(n_pieces, 1) + beyond


def near_pieces(orders: Sequence[Codes], grouping: Grouping) -> Near:
    """The pieces of a grouping, sorted by cell, along the curves that `orders` says of their cells."""
    n, n_cells = len(grouping.cell), len(orders[0])
    held = np.bincount(grouping.cell, minlength=n_cells)
    begins = np.cumsum(held) - held
    along, place = np.empty((len(orders), n), np.int32), np.empty((len(orders), n), np.int32)
    for t, order in enumerate(orders):
        count = held[order]
        offset = np.arange(n) - np.repeat(np.cumsum(count) - count, count)
        along[t] = np.repeat(begins[order], count) + offset
        place[t, along[t]] = np.arange(n)
    return Near(along, place, window(n, grouping.n_groups))


def seen_from(near: Near, grouping: Grouping) -> Near:
    """The same pieces as they see each other in other groups."""
    return near._replace(window=window(len(grouping.cell), grouping.n_groups))


def different_values(goal: Goal) -> dict[str, int]:
    """How many different values of which column satisfy some criteria of the goal; the largest number first."""
    out: dict[str, int] = {}
    for c in goal.criteria:
        if c.enough_different is not None and c.sensitive_column is not None and not c.others_known:
            out[c.sensitive_column] = max(c.enough_different, out.get(c.sensitive_column, 1))
    return dict(sorted(out.items(), key=lambda item: -item[1]))


def shares(goal: Goal) -> dict[str, int] | None:
    """What keeps the goal, besides its smallest size: of which column no value has more than one in so many records.

    If a criterion is satisfied by enough different values and is monotone, a group in which no value is more frequent
    than that can be divided into groups of different values, so it satisfies the criterion too. None if the goal asks
    for anything else.
    """
    covered = all(
        c.decided_by_size
        or (c.enough_different is not None and c.is_monotone and c.sensitive_column is not None and not c.others_known)
        for c in goal.criteria
    )
    return different_values(goal) if covered else None


def pieces_of(tally: Tally, cell: Codes, quota: Counts, smallest: int, share: dict[str, int]) -> Pieces:
    """Pieces as kernels see them, with the secrets that must not become too frequent."""
    columns = [tally.sensitive_index(name) for name in share]
    secret = np.ascontiguousarray(tally.sensitive[cell][:, columns])
    return Pieces(tally.quasi[cell], quota, secret, np.array(list(share.values()), np.int64), smallest)
