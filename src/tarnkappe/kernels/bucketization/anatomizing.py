"""Forming groups of records that all have different values."""

from __future__ import annotations

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def deal_different(left: Counts, next_record: Counts, pool: Codes, size: int, dealt: Codes) -> int:
    """Deal a record of each of the `size` commonest values to a group, again and again; the number of groups.

    `left` says how many records of each value are left, the commonest first; it goes down and stays in order. The
    records of value ``v`` stand in `pool` from ``next_record[v]`` on, which goes up. What is dealt goes to `dealt`,
    group by group.
    """
    n_groups = 0
    n_values = left.size
    if size > n_values:
        return 0
    while left[size - 1] > 0:
        # Of the values that are as common as the last one needed, the last are taken: so `left` stays in order.
        boundary = left[size - 1]
        begin, end = 0, size - 1
        while begin < end:  # the first that is no commoner than the boundary
            middle = (begin + end) // 2
            if left[middle] > boundary:
                begin = middle + 1
            else:
                end = middle
        first = begin
        begin, end = size, n_values
        while begin < end:  # the first that is rarer
            middle = (begin + end) // 2
            if left[middle] >= boundary:
                begin = middle + 1
            else:
                end = middle
        skipped = begin - size  # as common as the boundary, but not needed
        at = n_groups * size
        for i in range(size):
            value = i if i < first else i + skipped
            dealt[at + i] = pool[next_record[value]]
            next_record[value] += 1
            left[value] -= 1
        n_groups += 1
    return n_groups


@kernel
def join_groups(dealt: Codes, group: Counts, cell: Codes, size: int) -> None:
    """Put a record into each of these groups, which are in ascending order, behind the `size` records it has.

    Groups stand one after the other in `dealt`, which has room for the new records at its end.
    """
    end = dealt.size - group.size
    for i in range(group.size - 1, -1, -1):
        begin = (group[i] + 1) * size
        for j in range(end - 1, begin - 1, -1):
            dealt[j + i + 1] = dealt[j]
        dealt[begin + i] = cell[i]
        end = begin
