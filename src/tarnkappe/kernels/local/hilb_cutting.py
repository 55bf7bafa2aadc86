"""The cheapest way to cut a line of records into groups of a smallest size."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import ZERO, kernel
from tarnkappe.kernels.widths import Ruler, box_width


def cut_line(ruler: Ruler, lo: Codes, hi: Codes, starts: Counts, cuts: Counts, smallest: int) -> Counts:
    """Where to cut, as the begins of all groups, so that records times summed width of the box is least.

    Item ``t`` of the line holds the records ``starts[t] .. starts[t+1]`` and covers the box ``lo[t], hi[t]``. Cuts may
    fall at the ascending places `cuts`, the first and the last of which are the ends of the line. Groups have at least
    `smallest` records and fewer than twice as many, unless they lie in one item, which may stay as large as it is, or
    no place in reach is allowed.

    ``best[i] = min over p of best[p] + (cuts[i] - cuts[p]) · width(items from p to i)``
    """
    n, q = len(cuts), lo.shape[1]
    first = np.searchsorted(starts[:-1], cuts, side="right") - 1
    best, came, begins = np.full(n, np.inf), np.full(n, -1), np.empty(n, np.int64)
    room = best, came, begins, np.empty(len(lo)), np.empty((1, q), np.int32), np.empty((1, q), np.int32)
    return begins[n - _cut(ruler, lo, hi, starts, cuts, smallest, first, *room) :]


@kernel
def _cut(
    ruler: Ruler,
    lo: Codes,
    hi: Codes,
    starts: Counts,
    cuts: Counts,
    smallest: int,
    first: Counts,
    best: Floats,
    came: Counts,
    begins: Counts,
    width: Floats,
    low: Codes,
    high: Codes,
) -> int:
    """Fill in the last of `begins` with what `cut_line` returns, and say how many they are.

    ``first[i]`` is the item that begins at, or goes on after, a cut. `best` is infinite and `came` is -1 before;
    ``width[d]`` is room for the width of an item and the `d` items before it.
    """
    n, q = cuts.size, lo.shape[1]
    best[0] = 0.0
    last, depth = -1, 0
    inside, cheapest = 0, -1  # cuts of the last item that were looked at, and the best of them
    for i in range(1, n):
        end = first[i] - 1 if cuts[i] == starts[first[i]] else first[i]
        if i == n - 1:
            end = starts.size - 2
        if end != last:
            last, depth = end, 0
            for j in range(q):
                low[0, j], high[0, j] = lo[last, j], hi[last, j]
            width[0] = box_width(ruler, low, high, ZERO)
            while cuts[inside] < starts[last]:
                inside += 1
            cheapest = -1
        while cuts[i] - cuts[inside] >= smallest:
            if best[inside] < (best[cheapest] if cheapest >= 0 else np.inf):
                cheapest = inside
            inside += 1
        if cheapest >= 0:
            best[i] = best[cheapest] + (cuts[i] - cuts[cheapest]) * width[0]
            came[i] = cheapest
        for p in range(i - 1, -1, -1):
            size = cuts[i] - cuts[p]
            if size >= 2 * smallest and came[i] >= 0:
                break
            while last - depth > first[p]:
                depth += 1
                for j in range(q):
                    low[0, j] = min(low[0, j], lo[last - depth, j])
                    high[0, j] = max(high[0, j], hi[last - depth, j])
                width[depth] = box_width(ruler, low, high, ZERO)
            if size >= smallest:
                cost = best[p] + size * width[last - first[p]]
                if cost < best[i]:
                    best[i], came[i] = cost, p
    groups = 0
    i = n - 1
    while i > 0:
        i = came[i]
        groups += 1
        begins[n - groups] = cuts[i]
    return groups
