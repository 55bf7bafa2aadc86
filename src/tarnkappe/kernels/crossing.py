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
def add_counts(kind: Counts, count: Counts, sign: int, out: Counts) -> None:
    """Add (or take away, by the sign) so many records of each kind."""
    for i in range(kind.size):
        out[kind[i]] += sign * count[i]


@kernel
def count_crossed(quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, way: Codes, out: Counts) -> None:
    """Count records by their code in column `j` and by the `way` of their group; its last entry is for group -1."""
    for i in range(cell.size):
        out[quasi[cell[i], j], way[group[i]]] += quota[i]
