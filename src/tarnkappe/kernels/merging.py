"""Groups that are too weak find the group that is cheapest to merge with, or take records from one that can spare some.

The price of a change is how much the loss rises: records of a group times the summed width of its box.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened, width


@kernel
def best_partners(
    ruler: Ruler,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    wanted: Counts,
    partner: Counts,
    price: Floats,
    begin: int,
    end: int,
) -> None:
    """Fill in with which other group the loss rises least, and by how much, for the groups ``wanted[begin:end]``.

    Groups are looked at from the nearest number on: numbered along the table, near numbers are near in the table too,
    and a good first partner lets most of the others be given up after a few columns.
    """
    n, q = lo.shape
    for w in range(begin, end):
        a = wanted[w]
        best, least = -1, np.inf
        for step in range(2, 2 * n):
            b = a + step // 2 if step % 2 == 0 else a - step // 2
            if b < 0 or b >= n:
                continue
            before = size[a] * total[a] + size[b] * total[b]
            records = size[a] + size[b]
            enough = (least + before) / records
            wider = 0.0
            for j in range(q):
                wider += width(ruler, j, min(lo[a, j], lo[b, j]), max(hi[a, j], hi[b, j]))
                if wider >= enough:
                    break
            if wider < enough:
                best, least = b, records * wider - before
        partner[w] = best
        price[w] = least


@kernel
def pair_off(wanted: Counts, partner: Counts, cheapest: Counts, satisfied: NDArray[np.bool_], into: Counts) -> None:
    """Merge groups with their partners, cheapest first: fill in the group that each group becomes part of.

    A group that is too weak is merged once and then looked at again; a satisfied one may take in several.
    """
    n = into.size
    into[:] = np.arange(n)
    merged = np.zeros(n, np.bool_)
    for w in cheapest:
        a, b = wanted[w], partner[w]
        if b < 0 or merged[a] or (merged[b] and not satisfied[b]):
            continue
        into[a] = b
        merged[a] = merged[b] = True


@helper
def _take(
    ruler: Ruler,
    rows: Codes,
    quota: Counts,
    begin: int,
    end: int,
    lo: Codes,
    hi: Codes,
    need: int,
    enough: float,
    order: Counts,
    wide: Floats,
) -> float:
    """The width of a box once it covers the `need` nearest records of the pieces ``begin .. end``, sorted in `order`.

    Gives up with infinity as soon as it is no less than `enough`.
    """
    n = end - begin
    near = 0
    for i in range(n):
        wide[i] = widened(ruler, rows[begin + i], lo, hi, np.inf)
        near += quota[begin + i] if wide[i] < enough else 0
    if near < need:
        return np.inf
    order[:n] = np.argsort(wide[:n])
    new_lo, new_hi = lo.copy(), hi.copy()
    taken = 0
    for i in order[:n]:
        widen(ruler, rows[begin + i], new_lo, new_hi)
        taken += quota[begin + i]
        if taken >= need:
            break
    return box_width(ruler, new_lo, new_hi)


@kernel
def feed_groups(
    ruler: Ruler,
    rows: Codes,
    quota: Counts,
    starts: Counts,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    family: Codes,
    needy: Counts,
    smallest: int,
    price: Floats,
    taken: Counts,
    taker: Codes,
) -> None:
    """Let groups of fewer than `smallest` records take the nearest ones from a group of their family with enough.

    Pieces of group ``g`` are ``starts[g] .. starts[g+1]``. ``price[w]`` is the price of the alternative for
    ``needy[w]``, above which nothing is taken. Of each piece, ``taken[i]`` records move to group ``taker[i]``; a group
    gives records to one other group at most, and boxes are those from before.
    """
    longest = 0
    for g in range(size.size):
        longest = max(longest, starts[g + 1] - starts[g])
    order, wide = np.empty(longest, np.int64), np.empty(longest, np.float64)
    gives = np.zeros(size.size, np.bool_)
    for w in range(needy.size):
        a = needy[w]
        need = smallest - size[a]
        best, least = -1, price[w]
        for b in range(size.size):
            if b == a or family[b] != family[a] or gives[b] or size[b] - need < smallest:
                continue
            # The givers lose nothing, those who move were as wide as their old group.
            before = size[a] * total[a] + need * total[b]
            enough = (least + before) / smallest
            wider = _take(ruler, rows, quota, starts[b], starts[b + 1], lo[a], hi[a], need, enough, order, wide)
            if wider < enough:
                best, least = b, smallest * wider - before
        if best < 0:
            continue
        gives[best] = True
        begin = starts[best]
        _take(ruler, rows, quota, begin, starts[best + 1], lo[a], hi[a], need, np.inf, order, wide)
        for i in order[: starts[best + 1] - begin]:
            moved = min(need, quota[begin + i])
            taken[begin + i] = moved
            taker[begin + i] = a
            need -= moved
            if need == 0:
                break
