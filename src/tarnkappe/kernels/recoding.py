"""What happened to the values of one column: counts and steps, over all pieces of a grouping."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


def sum_steps(
    quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, leaf_depth: Codes, node_depth: Codes
) -> tuple[int, float]:
    """All steps up the taxonomy in column `j`, and the sum over records of steps made per step possible.

    `leaf_depth` is per code, `node_depth` per group; a suppressed piece (group -1) is raised to the root.
    """
    depth = np.arange(max(leaf_depth.max(initial=0), node_depth.max(initial=0)) + 1)
    records = np.zeros((len(depth), len(depth)), np.int64)
    _count_crossed(quasi, j, cell, group, quota, leaf_depth.copy(), np.append(node_depth, np.int32(0)), records)
    made = np.maximum(depth[:, None] - depth, 0)
    return int((made * records).sum()), float((made / np.maximum(depth, 1)[:, None] * records).sum())


def count_values(quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, n_codes: int) -> Counts:
    """Published records per code of column `j`."""
    out = np.zeros((n_codes, 1), np.int64)
    alike = np.zeros(group.max(initial=-1) + 2, np.int32)
    alike[-1] = -1
    _count_crossed(quasi, j, cell, group, quota, np.arange(n_codes, dtype=np.int32), alike, out)
    return out.reshape(-1)


def count_labels(
    quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, value: int, label: Codes, n_labels: int
) -> Counts:
    """Published records per label (of their group) among those that have `value` in column `j`; label -1 comes last."""
    out = np.zeros((1, n_labels + 1), np.int64)
    wanted = np.full(max(quasi[:, j].max(initial=0), value) + 1, -1, np.int32)
    wanted[value] = 0
    known = np.append(np.where(label < 0, n_labels, label), -1).astype(np.int32)
    _count_crossed(quasi, j, cell, group, quota, wanted, known, out)
    return out.reshape(-1)


@kernel
def _count_crossed(
    quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, row: Codes, column: Codes, out: Counts
) -> None:
    """Count records by the `row` of their code in column `j` and by the `column` of their group; -1 is left out.

    The last entry of `column` stands for suppressed pieces (group -1).
    """
    for i in range(cell.size):
        r, c = row[quasi[cell[i], j]], column[group[i]]
        if r >= 0 and c >= 0:
            out[r, c] += quota[i]


@kernel
def sum_leaf_node_costs(
    quasi: Codes,
    j: int,
    cell: Codes,
    group: Codes,
    quota: Counts,
    of_leaf: NDArray[np.float64],
    of_group: NDArray[np.float64],
) -> float:
    """The sum over records of ``of_group[group] - of_leaf[value]`` in column `j`; suppressed pieces have group -1.

    A missing wildcard need not be inside its group's label: it then costs nothing.
    """
    total = 0.0
    for i in range(cell.size):
        cost = of_group[group[i]] - of_leaf[quasi[cell[i], j]]
        if cost > 0:
            total += quota[i] * cost
    return total
