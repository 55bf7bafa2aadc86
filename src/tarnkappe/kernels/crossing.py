"""Count the records of cells by their values."""

from __future__ import annotations

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def count_codes(quasi: Codes, j: int, count: Counts, out: Counts) -> None:
    """Count records by their code in column `j`."""
    for i in range(count.size):
        out[quasi[i, j]] += count[i]


@kernel
def balanced(
    starts: Counts,
    order: Codes,
    kind: Codes,
    count: Counts,
    other_starts: Counts,
    other_order: Codes,
    other_kind: Codes,
    other_count: Counts,
    first: int,
    after: int,
    balance: Counts,
) -> bool:
    """Whether these groups have as many records of every kind in one table as in another.

    Group ``g`` has the rows ``order[starts[g]:starts[g + 1]]``. `balance`, a number per kind, is 0 before.
    """
    for g in range(first, after):
        for at in range(starts[g], starts[g + 1]):
            balance[kind[order[at]]] += count[order[at]]
        for at in range(other_starts[g], other_starts[g + 1]):
            balance[other_kind[other_order[at]]] -= other_count[other_order[at]]
        for at in range(starts[g], starts[g + 1]):
            if balance[kind[order[at]]] != 0:
                return False
        for at in range(other_starts[g], other_starts[g + 1]):
            if balance[other_kind[other_order[at]]] != 0:
                return False
    return True


@kernel
def count_crossed(quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, way: Codes, out: Counts) -> None:
    """Count records by their code in column `j` and by the `way` of their group; its last entry is for group -1."""
    for i in range(cell.size):
        out[quasi[cell[i], j], way[group[i]]] += quota[i]
