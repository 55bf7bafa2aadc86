"""Groups that are too weak find the group that is cheapest to merge with, or take records from one that can spare some.

The price of a change is how much the loss rises: records of a group times the summed width of its box.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, helper, kernel
from tarnkappe.kernels.local.neighbours import Near, _are_few, _near_groups
from tarnkappe.kernels.widths import Ruler, box_width, widen, widened, width


@kernel
def best_partners(
    ruler: Ruler,
    near: Near,
    group: Counts,
    starts: Counts,
    members: Codes,
    lo: Codes,
    hi: Codes,
    size: Counts,
    total: Floats,
    wanted: Counts,
    partner: Counts,
    price: Floats,
    seen: Counts,
    found: Counts,
    begin: int,
    end: int,
) -> None:
    """Fill in with which group nearby the loss rises least, and by how much, for the groups ``wanted[begin:end]``.

    The pieces of group ``g`` are ``members[starts[g]:starts[g + 1]]``. A group without neighbours looks at all others,
    and so does any if they are few. `seen` is -1 for every group before, and `found` room for as many.
    """
    n, q = lo.shape
    for w in range(begin, end):
        a = wanted[w]
        best, least = -1, np.inf
        seen[a] = w
        n_found = ZERO
        for m in range(starts[a], starts[a] if _are_few(near, n) else starts[a + 1]):
            n_found = _near_groups(near, group, members[m] + ZERO, seen, w, found, n_found)
        everywhere = n_found == 0
        for f in range(n if everywhere else n_found):
            b = f if everywhere else found[f]
            if a == b:
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


@helper
def _take(
    ruler: Ruler,
    rows: Codes,
    quota: Counts,
    begin: int,
    end: int,
    lo: Codes,
    hi: Codes,
    g: int,
    need: int,
    enough: float,
    order: Counts,
    wide: Floats,
) -> float:
    """The width of box `g` once it covers the `need` nearest records of the pieces ``begin .. end``, as in `order`.

    Gives up with infinity as soon as it is no less than `enough`.
    """
    n = end - begin
    near = 0
    for i in range(n):
        wide[i] = widened(ruler, rows, begin + i, lo, hi, g, np.inf)
        near += quota[begin + i] if wide[i] < enough else 0
    if near < need:
        return np.inf
    order[:n] = np.argsort(wide[:n])
    new_lo, new_hi = lo[g : g + 1].copy(), hi[g : g + 1].copy()
    taken = 0
    for i in order[:n]:
        widen(ruler, rows, begin + i, new_lo, new_hi, ZERO)
        taken += quota[begin + i]
        if taken >= need:
            break
    return box_width(ruler, new_lo, new_hi, ZERO)


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
    needy: Counts,
    givers: Counts,
    givers_end: Counts,
    smallest: int,
    price: Floats,
    taken: Counts,
    taker: Codes,
) -> None:
    """Let groups of fewer than `smallest` records take the nearest ones from one of some groups that has enough.

    Pieces of group ``g`` are ``starts[g] .. starts[g+1]``; the groups that ``needy[w]`` may take from stand in `givers`
    from the end of the ones before to ``givers_end[w]``. ``price[w]`` is the price of the alternative for
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
        for x in range(givers_end[w - 1] if w > 0 else 0, givers_end[w]):
            b = givers[x]
            if b == a or gives[b] or size[b] - need < smallest:
                continue
            # The givers lose nothing, those who move were as wide as their old group.
            before = size[a] * total[a] + need * total[b]
            enough = (least + before) / smallest
            wider = _take(ruler, rows, quota, starts[b], starts[b + 1], lo, hi, a, need, enough, order, wide)
            if wider < enough:
                best, least = b, smallest * wider - before
        if best < 0:
            continue
        gives[best] = True
        begin = starts[best]
        _take(ruler, rows, quota, begin, starts[best + 1], lo, hi, a, need, np.inf, order, wide)
        for i in order[: starts[best + 1] - begin]:
            moved = min(need, quota[begin + i])
            taken[begin + i] = moved
            taker[begin + i] = a
            need -= moved
            if need == 0:
                break
