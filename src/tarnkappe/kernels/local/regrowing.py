"""Near groups thrown together and grown anew, where that makes the loss fall."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.local.neighbours import Groups, Near, Pieces, _linked, _near_groups
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened, width

_TOP = np.iinfo(np.int32).max

#: There is room for twice as many pieces on the first bench.
_PIECES = 64


class _Bench(NamedTuple):
    """Room for one attempt: the pieces thrown together, and the groups grown of them.

    Pieces that are still to be had stand first. `codes` and `widths` have a row per column: the width that the box
    would have there with the piece.
    """

    piece: Counts
    codes: Codes
    widths: Floats
    score: Floats
    from_seed: Floats
    member: Counts
    part: Counts
    lo: Codes
    hi: Codes
    size: Counts
    total: Floats


@helper
def _fits(pieces: Pieces, bench: _Bench, p: int, first: int, end: int, part: int, records: int) -> bool:
    """Whether no secret of piece `p` would have more than its share of `records` in a group.

    The group's pieces are those of ``bench.member[first:end]`` whose part is `part`.
    """
    for s in range(pieces.share.size):
        same = pieces.quota[p]
        for m in range(first, end):
            o = bench.member[m]
            if bench.part[m] == part and pieces.secret[o, s] == pieces.secret[p, s]:
                same += pieces.quota[o]
        if same * pieces.share[s] > records:
            return False
    return True


@helper
def _grow(ruler: Ruler, pieces: Pieces, bench: _Bench, n: int, seed: int, enough: float) -> int:
    """Grow groups of the first `n` pieces of the bench and return how many; 0 if they cost `enough` or more.

    A group begins with the piece farthest from where the last one began, and always takes the piece that widens its
    box least. What is left over joins the groups where the cost rises least.
    """
    q = pieces.rows.shape[1]
    made, done, cost = ZERO, ZERO, 0.0
    left = 0
    for i in range(n):
        left += pieces.quota[bench.piece[i]]
    for i in range(n):
        bench.from_seed[i] = 0.0
        for j in range(q):
            a, b = bench.codes[j, i], bench.codes[j, seed]
            if a != ruler.wild[j] and b != ruler.wild[j]:
                bench.from_seed[i] += width(ruler, j, min(a, b), max(a, b))
    while left >= pieces.smallest:
        best, most = 0, -1.0
        for i in range(n):
            if bench.from_seed[i] > most:
                best, most = i, bench.from_seed[i]
        first, records = done, ZERO
        p = bench.piece[best]
        if not _fits(pieces, bench, p, first, done, made, max(pieces.smallest, pieces.quota[p])):
            return 0
        for i in range(n):
            bench.score[i] = 0.0
        for j in range(q):
            bench.lo[made, j], bench.hi[made, j] = _TOP, -1
            for i in range(n):
                bench.widths[j, i] = 0.0
        while True:
            p = bench.piece[best]
            bench.member[done], bench.part[done] = p, made
            done += 1
            records += pieces.quota[p]
            n -= 1
            bench.piece[best], bench.score[best], bench.from_seed[best] = (
                bench.piece[n],
                bench.score[n],
                bench.from_seed[n],
            )
            for j in range(q):
                v = bench.codes[j, best]
                bench.codes[j, best], bench.widths[j, best] = bench.codes[j, n], bench.widths[j, n]
                low, high = bench.lo[made, j], bench.hi[made, j]
                if v != ruler.wild[j] and (v < low or v > high):
                    low, high = min(low, v), max(high, v)
                    bench.lo[made, j], bench.hi[made, j] = low, high
                    inside = width(ruler, j, low, high)
                    for i in range(n):
                        v = bench.codes[j, i]
                        if low <= v <= high or v == ruler.wild[j]:
                            wider = inside
                        else:
                            wider = width(ruler, j, min(low, v), max(high, v))
                        bench.score[i] += wider - bench.widths[j, i]
                        bench.widths[j, i] = wider
            if done == first + 1:
                for i in range(n):
                    bench.from_seed[i] = bench.score[i]
            if records >= pieces.smallest:
                break
            best, least = -1, np.inf
            for i in range(n):
                if bench.score[i] < least:
                    p = bench.piece[i]
                    wanted = max(pieces.smallest, records + pieces.quota[p])
                    if _fits(pieces, bench, p, first, done, made, wanted):
                        best, least = i, bench.score[i]
            if best < 0:
                return 0
        left -= records
        bench.size[made], bench.total[made] = records, box_width(ruler, bench.lo, bench.hi, made)
        cost += records * bench.total[made]
        made += 1
        if cost >= enough:
            return 0
    for i in range(n):
        p = bench.piece[i]
        best, least = ZERO - 1, enough - cost
        for c in range(made):
            records = bench.size[c] + pieces.quota[p]
            limit = (least + bench.size[c] * bench.total[c]) / records
            wider = widened(ruler, pieces.rows, p, bench.lo, bench.hi, c, limit)
            if wider < limit and _fits(pieces, bench, p, ZERO, done, c, records):
                best, least = c, records * wider - bench.size[c] * bench.total[c]
        if best < 0:
            return 0
        bench.member[done], bench.part[done] = p, best
        done += 1
        cost += least
        bench.size[best] += pieces.quota[p]
        widen(ruler, pieces.rows, p, bench.lo, bench.hi, best)
        bench.total[best] = box_width(ruler, bench.lo, bench.hi, best)
    return made


@helper
def _nearest(ruler: Ruler, groups: Groups, g: int, found: Counts, n: int, chosen: Counts, price: Floats) -> int:
    """Fill in `chosen` with group `g` and those of the first `n` found that are cheapest to merge with; how many."""
    chosen[0], price[0] = g, 0.0
    held = 1
    for f in range(n):
        h = found[f]
        worst = price[held - 1] if held == chosen.size else np.inf
        before = groups.size[g] * groups.total[g] + groups.size[h] * groups.total[h]
        records = groups.size[g] + groups.size[h]
        enough = (worst + before) / records
        wider = 0.0
        for j in range(groups.lo.shape[1]):
            low, high = min(groups.lo[g, j], groups.lo[h, j]), max(groups.hi[g, j], groups.hi[h, j])
            wider += width(ruler, j, low, high)
            if wider >= enough:
                break
        if wider >= enough:
            continue
        held = min(held + 1, chosen.size)
        at = held - 1
        while at > 1 and price[at - 1] > records * wider - before:
            chosen[at], price[at] = chosen[at - 1], price[at - 1]
            at -= 1
        chosen[at], price[at] = h, records * wider - before
    return held


def _room(room: int, q: int) -> _Bench:
    """A bench for so many pieces of `q` columns."""
    piece, member, part, size = (np.empty(room, np.int64) for _ in range(4))
    score, from_seed, total = (np.empty(room) for _ in range(3))
    codes, widths = np.empty((q, room), np.int32), np.empty((q, room))
    lo, hi = (np.empty((room, q), np.int32) for _ in range(2))
    return _Bench(piece, codes, widths, score, from_seed, member, part, lo, hi, size, total)


class _Lists(NamedTuple):
    """The pieces of every group as a list, how many they are, and room for the groups that are found near one.

    `free` are the groups without pieces, of which ``now[_FREE]`` are left.
    """

    head: Counts
    after: Counts
    held: Counts
    free: Counts
    seen: Counts
    found: Counts
    chosen: Counts
    price: Floats


#: Where a search stands: the next place in the order, the free groups, the pairs of pieces that may still be compared,
#: how often the loss fell, and how many pieces there must be room for before it can go on.
_AT, _FREE, _BUDGET, _BETTER, _NEEDED = range(5)


def regrow(
    ruler: Ruler,
    near: Near,
    pieces: Pieces,
    groups: Groups,
    order: Counts,
    together: int,
    most: int,
    first: Counts,
    budget: int,
) -> int:
    """Throw every group of `order` together with those near it and grow groups anew, where that makes the loss fall.

    At most so many groups come `together`, those that are cheapest to merge with first: two, and more of them as long
    as they have at most `most` pieces. The first group grows from the piece farthest from number ``first[g]`` of them.
    It ends when it has compared `budget` pairs of pieces. There must be room for as many groups as the records can
    form. Returns how often the loss fell.
    """
    n, q = pieces.rows.shape
    n_groups = len(groups.size)
    held = np.bincount(groups.group, minlength=n_groups)
    free = np.empty(n_groups, np.int64)
    empty = np.flatnonzero(groups.size == 0)[::-1]
    free[: len(empty)] = empty
    lists = _Lists(
        np.empty(n_groups, np.int64),
        np.empty(n, np.int64),
        held,
        free,
        np.full(n_groups, -1),
        np.empty(n_groups, np.int64),
        np.empty(together, np.int64),
        np.empty(together),
    )
    now = np.array([0, len(empty), budget, 0, _PIECES])
    while now[_AT] < len(order):  # again where there was not enough room
        _regrow(ruler, near, pieces, groups, order, most, first, lists, _room(2 * int(now[_NEEDED]), q), now)
    return int(now[_BETTER])


@kernel
def _regrow(
    ruler: Ruler,
    near: Near,
    pieces: Pieces,
    groups: Groups,
    order: Counts,
    most: int,
    first: Counts,
    lists: _Lists,
    bench: _Bench,
    now: Counts,
) -> None:
    """Do what `regrow` does, from where the search stands up to its end or to where it needs a larger bench."""
    head, after, held, free, seen, found, chosen, price = lists
    q = pieces.rows.shape[1]
    if now[_AT] == 0:
        _linked(groups.group, head, after)
    n_free, budget = now[_FREE], now[_BUDGET]
    stop = order.size
    for at in range(now[_AT], order.size):
        g = order[at]
        if groups.size[g] == 0:
            continue
        seen[g] = at
        n_found = ZERO
        i = head[g]
        while i >= 0:
            n_found = _near_groups(near, groups.group, i, seen, at, found, n_found)
            i = after[i]
        n_chosen = _nearest(ruler, groups, g, found, n_found, chosen, price)
        m = 0
        for c in range(n_chosen):
            if c > 1 and m + held[chosen[c]] > most:
                n_chosen = c
                break
            m += held[chosen[c]]
        if m > bench.piece.size and m * m <= budget and n_chosen > 1:
            now[_NEEDED], stop = m, at
            seen[g] = -1
            for f in range(n_found):  # which are to be found once more
                seen[found[f]] = -1
            break
        budget -= m * m
        if budget < 0:
            break
        if n_chosen < 2:
            continue
        m, before = ZERO, 0.0
        for c in range(n_chosen):
            h = chosen[c]
            before += groups.size[h] * groups.total[h]
            i = head[h]
            while i >= 0:
                bench.piece[m] = i
                for j in range(q):
                    bench.codes[j, m] = pieces.rows[i, j]
                m += 1
                i = after[i]
        made = _grow(ruler, pieces, bench, m, first[g] % m, before * (1 - 1e-9))
        if made == 0:
            continue
        now[_BETTER] += 1
        for c in range(n_chosen):
            h = chosen[c]
            groups.size[h], head[h], held[h] = 0, -1, 0
            free[n_free] = h
            n_free += 1
        for c in range(made):
            n_free -= 1
            h = free[n_free]
            groups.size[h], groups.total[h] = bench.size[c], bench.total[c]
            for j in range(q):
                groups.lo[h, j], groups.hi[h, j] = bench.lo[c, j], bench.hi[c, j]
            bench.size[c] = h  # from here on, the number of the group
        for i in range(m):
            p, h = bench.member[i], bench.size[bench.part[i]]
            groups.group[p] = h
            after[p] = head[h]
            head[h] = p
            held[h] += 1
    now[_AT], now[_FREE], now[_BUDGET] = stop, n_free, budget
