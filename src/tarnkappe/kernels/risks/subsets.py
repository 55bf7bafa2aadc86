"""Groups of records by more and more columns, one column at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel

#: Spreads keys over the places of a table: the golden ratio in 64 bits.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@kernel
def divide(
    group: Codes, codes: Codes, n_codes: int, weight: Counts, place: NDArray[np.int64], out: Codes, size: Counts
) -> int:
    """Divide groups of cells by one more column; returns how many groups there are then.

    `out` gets the new group of every cell and `size` the records of each new group, of which a cell has ``weight``.
    `place` is room for a table of keys: a power of two, at least twice as many places as there are cells.
    """
    mask = np.uint64(place.size - 1)
    for i in range(place.size):
        place[i] = -1
    n_groups = 0
    for i in range(group.size):
        key = np.uint64(group[i]) * np.uint64(n_codes) + np.uint64(codes[i])
        at = ((key * _SPREAD) >> np.uint64(20)) & mask
        while True:
            first = place[at]
            if first < 0:
                place[at] = i
                out[i] = n_groups
                size[n_groups] = weight[i]
                n_groups += 1
                break
            if group[first] == group[i] and codes[first] == codes[i]:
                out[i] = out[first]
                size[out[i]] += weight[i]
                break
            at = (at + np.uint64(1)) & mask
    return n_groups


@kernel
def alone_in(group: Codes, size: Counts, cells: NDArray[np.int64], out: NDArray[np.bool_]) -> None:
    """Which of some cells are a group of one record."""
    for i in range(cells.size):
        out[i] = size[group[cells[i]]] == 1


@kernel
def add_scores(alone: NDArray[np.bool_], known: NDArray[np.bool_], score: float, out: Floats) -> int:
    """Add a score for everybody who is alone and was not before; returns how many they are."""
    found = 0
    for i in range(alone.size):
        if alone[i] and not known[i]:
            out[i] += score
            found += 1
    return found
