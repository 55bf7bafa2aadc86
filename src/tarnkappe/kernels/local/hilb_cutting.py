"""The cheapest way to cut a line of records into groups of a smallest size."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.widths import Ruler, box_width


@kernel
def cut_line(ruler: Ruler, lo: Codes, hi: Codes, starts: Counts, cuts: Counts, smallest: int) -> Counts:
    """Where to cut, as the begins of all groups, so that records times summed width of the box is least.

    Item ``t`` of the line holds the records ``starts[t] .. starts[t+1]`` and covers the box ``lo[t], hi[t]``. Cuts may
    fall at the ascending places `cuts`, the first and the last of which are the ends of the line. Groups have at least
    `smallest` records and fewer than twice as many, unless they lie in one item, which may stay as large as it is, or
    no place in reach is allowed.

    ``best[i] = min over p of best[p] + (cuts[i] - cuts[p]) · width(items from p to i)``
    """
    n, q = cuts.size, lo.shape[1]
    best = np.full(n, np.inf)
    came = np.full(n, -1, np.int64)
    best[0] = 0.0
    first = np.empty(n, np.int64)  # the item that begins at, or goes on after, a cut
    item = 0
    for i in range(n):
        while item + 1 < starts.size - 1 and starts[item + 1] <= cuts[i]:
            item += 1
        first[i] = item
    last, depth = -1, 0
    width = np.empty(16, np.float64)  # of the last item and the `d` items before it
    low, high = np.empty(q, np.int32), np.empty(q, np.int32)
    inside, cheapest = 0, -1  # cuts of the last item that were looked at, and the best of them
    for i in range(1, n):
        end = first[i] - 1 if cuts[i] == starts[first[i]] else first[i]
        if i == n - 1:
            end = starts.size - 2
        if end != last:
            last, depth = end, 0
            for j in range(q):
                low[j], high[j] = lo[last, j], hi[last, j]
            width[0] = box_width(ruler, low, high)
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
                if depth == width.size:
                    longer = np.empty(2 * depth, np.float64)
                    for d in range(depth):
                        longer[d] = width[d]
                    width = longer
                for j in range(q):
                    low[j] = min(low[j], lo[last - depth, j])
                    high[j] = max(high[j], hi[last - depth, j])
                width[depth] = box_width(ruler, low, high)
            if size >= smallest:
                cost = best[p] + size * width[last - first[p]]
                if cost < best[i]:
                    best[i], came[i] = cost, p
    n_groups = 0
    i = n - 1
    while i > 0:
        i = came[i]
        n_groups += 1
    begins = np.empty(n_groups, np.int64)
    i = n - 1
    while i > 0:
        i = came[i]
        n_groups -= 1
        begins[n_groups] = cuts[i]
    return begins
