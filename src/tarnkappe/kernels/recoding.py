"""What happened to the values of one column: counts and steps, over all pieces of a grouping."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Counts = NDArray[np.int64]


@njit(cache=True, nogil=True)
def sum_steps(
    quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, leaf_depth: Codes, node_depth: Codes
) -> tuple[int, float]:
    """All steps up the taxonomy in column `j`, and the sum over records of steps made per step possible.

    `leaf_depth` is per code, `node_depth` per group; a suppressed piece (group -1) is raised to the root.
    """
    steps = 0
    shares = 0.0
    for i in range(cell.size):
        depth = leaf_depth[quasi[cell[i], j]]
        up_to = node_depth[group[i]] if group[i] >= 0 else 0
        made = max(depth - up_to, 0)
        steps += made * quota[i]
        shares += made / max(depth, 1) * quota[i]
    return steps, shares


@njit(cache=True, nogil=True)
def count_values(quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, n_codes: int) -> Counts:
    """Published records per code of column `j`."""
    out = np.zeros(n_codes, np.int64)
    for i in range(cell.size):
        if group[i] >= 0:
            out[quasi[cell[i], j]] += quota[i]
    return out


@njit(cache=True, nogil=True)
def count_labels(
    quasi: Codes, j: int, cell: Codes, group: Codes, quota: Counts, value: int, label: Codes, n_labels: int
) -> Counts:
    """Published records per label (of their group) among those that have `value` in column `j`; label -1 comes last."""
    out = np.zeros(n_labels + 1, np.int64)
    for i in range(cell.size):
        if group[i] >= 0 and quasi[cell[i], j] == value:
            out[label[group[i]]] += quota[i]
    return out


@njit(cache=True, nogil=True)
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
        total += quota[i] * max(of_group[group[i]] - of_leaf[quasi[cell[i], j]], 0.0)
    return total
