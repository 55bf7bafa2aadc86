"""Which records can form groups of different values with equal records only, and leave the others a chance to."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel


@helper
def _groups_within(count: Counts, begin: int, end: int, l: int) -> int:  # noqa: E741
    """How many groups of at least `l` different values the records of ``count[begin:end]``, largest first, can form.

    The values other than the `j` commonest must fill the ``l - j`` places that these leave in each group:
    ``min over j < l of (records of all but the j commonest) // (l - j)``.
    """
    if end - begin < l:
        return 0
    rest = 0
    for i in range(begin, end):
        rest += count[i]
    most = rest // l
    for j in range(1, l):
        rest -= count[begin + j - 1]
        most = min(most, rest // (l - j))
    return int(most)


#: Of how many shares of the groups that equal records could form one is chosen.
_SHARES = 64


def stay(parts: Counts, starts: Counts, value: Codes, count: Counts, n_values: int, l: int) -> Counts:  # noqa: E741
    """How many records of each cell form groups with equal records only.

    Part ``p`` has the items ``parts[p] .. parts[p+1]``, item ``t`` the cells ``starts[t] .. starts[t+1]``, those with
    most records first. In every part no value has more than one in `l` records. As many groups as possible are formed
    within items, up to a share of all of them in each part, so that this is true of its other records too.
    """
    kept, seen, within = (np.zeros(size, np.int64) for size in (len(count), n_values, len(starts)))
    _stay(parts, starts, value, count, l, kept, seen, within)
    return kept


@kernel
def _stay(
    parts: Counts,
    starts: Counts,
    value: Codes,
    count: Counts,
    l: int,  # noqa: E741
    kept: Counts,
    seen: Counts,
    within: Counts,
) -> None:
    """Fill in what `stay` returns; `seen` and `within` are room for numbers of values and of items."""
    for p in range(parts.size - 1):
        for t in range(parts[p], parts[p + 1]):
            within[t] = _groups_within(count, starts[t], starts[t + 1], l)
        low, high = 0, _SHARES  # the largest share that leaves an eligible rest; none does
        share = high
        while low < high:
            rest = most = 0
            for t in range(parts[p], parts[p + 1]):
                groups = within[t] * share // _SHARES
                for i in range(starts[t], starts[t + 1]):
                    left = max(0, count[i] - groups)
                    seen[value[i]] += left
                    rest += left
                    most = max(most, seen[value[i]])
            for i in range(starts[parts[p]], starts[parts[p + 1]]):
                seen[value[i]] = 0
            if most * l <= rest:
                low = share
            else:
                high = share - 1
            share = (low + high + 1) // 2
        for t in range(parts[p], parts[p + 1]):
            groups = within[t] * low // _SHARES
            for i in range(starts[t], starts[t + 1]):
                kept[i] = min(count[i], groups)
