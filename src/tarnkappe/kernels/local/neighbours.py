"""What local recoding moves: pieces in groups with boxes, and which of them are near each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel

#: Groups of so many pieces on average are so few that a piece looks at all of them.
MANY_PIECES = 2048


class Near(NamedTuple):
    """The pieces in the order of each of some curves (`along`), and where each piece stands on it (`place`).

    The neighbours of a piece are the `window` pieces before it and after it on every curve. Lists of them would take
    far more room.
    """

    along: Codes
    place: Codes
    window: int


class Pieces(NamedTuple):
    """What is grouped: codes, records and secrets of every piece.

    A move must leave at least `smallest` records in a group, and at most one in ``share[s]`` of them may have the same
    secret ``s``.
    """

    rows: Codes
    quota: Counts
    secret: Codes
    share: Counts
    smallest: int


class Groups(NamedTuple):
    """The group of every piece, and the box, records and width of every group; one without records is free."""

    group: Counts
    lo: Codes
    hi: Codes
    size: Counts
    total: Floats


@helper
def _are_few(near: Near, n_groups: int) -> bool:
    """Whether looking at all groups is cheaper than at the neighbours of a piece, which hardly see beyond their own."""
    pieces: int = near.along.shape[1]
    return n_groups * MANY_PIECES <= pieces


@helper
def _near_groups(near: Near, group: Counts, i: int, seen: Counts, stamp: int, out: Counts, n: int) -> int:
    """Add the groups of the neighbours of piece `i` to the first `n` of `out`; returns how many there are now.

    A group is added if its entry in `seen` is not `stamp`, which is then set; -1 is no group.
    """
    pieces = near.along.shape[1]
    for t in range(near.along.shape[0]):
        at = near.place[t, i]
        for p in range(max(0, at - near.window), min(pieces, at + near.window + 1)):
            g = group[near.along[t, p]]
            if g >= 0 and seen[g] != stamp:
                seen[g] = stamp
                out[n] = g
                n += 1
    return n


@kernel
def groups_around(
    near: Near, group: Counts, starts: Counts, members: Codes, wanted: Counts, ends: Counts, n_groups: int
) -> Counts:
    """The groups near each wanted one, one list after the other; `ends` is filled in with where each list ends.

    The pieces of group ``g`` are ``members[starts[g]:starts[g + 1]]``. A group without neighbours has all others,
    and so has any if they are few.
    """
    seen = np.full(n_groups, -1, np.int64)
    found = np.empty(n_groups, np.int64)
    out = np.empty(max(16, 8 * wanted.size), np.int64)
    done = 0
    for w in range(wanted.size):
        g = wanted[w]
        n = ZERO
        seen[g] = w
        if not _are_few(near, n_groups):
            for m in range(starts[g], starts[g + 1]):
                n = _near_groups(near, group, members[m] + ZERO, seen, w, found, n)
        if n == 0:
            for h in range(n_groups):
                if h != g:
                    found[n] = h
                    n += 1
        if done + n > out.size:
            longer = np.empty(2 * (done + n), np.int64)
            longer[:done] = out[:done]
            out = longer
        out[done : done + n] = found[:n]
        done += n
        ends[w] = done
    return out[:done].copy()


@helper
def _linked(group: Counts, head: Counts, after: Counts) -> None:
    """Link the pieces of every group, in their order: `head` is the first one and `after` the next; -1 is none."""
    for g in range(head.size):
        head[g] = -1
    for i in range(group.size - 1, -1, -1):
        after[i] = -1
        if group[i] >= 0:
            after[i] = head[group[i]]
            head[group[i]] = i


@helper
def _admits(pieces: Pieces, groups: Groups, head: Counts, after: Counts, g: int, i: int) -> bool:
    """Whether no secret of piece `i` would have more than its share of the records of group `g` if it joined."""
    records = groups.size[g] + pieces.quota[i]
    for s in range(pieces.share.size):
        same = pieces.quota[i]
        if same * pieces.share[s] > records:
            return False
        p = head[g]
        while p >= 0:
            if pieces.secret[p, s] == pieces.secret[i, s]:
                same += pieces.quota[p]
            p = after[p]
        if same * pieces.share[s] > records:
            return False
    return True
