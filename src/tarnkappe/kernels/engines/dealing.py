"""Dealing out places in groups to records of one cell, by lot."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def shuffle_within(values: Codes, starts: Counts, draws: NDArray[np.float64]) -> None:
    """Shuffle each run ``values[starts[i]:starts[i+1]]`` in place; `draws` has a number in [0, 1) for every value."""
    for run in range(starts.size - 1):
        begin = starts[run]
        for i in range(starts[run + 1] - 1, begin, -1):
            j = begin + np.int64(draws[i - starts[0]] * (i - begin + 1))
            values[i], values[j] = values[j], values[i]


@kernel
def deal(cell: Codes, next_place: Counts, places: Codes) -> Codes:
    """Give every record the next place of its cell; `next_place` moves on."""
    out = np.empty(cell.size, np.int32)
    for i in range(cell.size):
        at = next_place[cell[i]]
        out[i] = places[at]
        next_place[cell[i]] = at + 1
    return out


@kernel
def runs_in_order(values: Codes, starts: Counts, order: Counts) -> Codes:
    """The runs ``values[starts[i]:starts[i+1]]`` in another order, one after the other."""
    out = np.empty(starts[-1], np.int32)
    at = 0
    for run in order:
        for i in range(starts[run], starts[run + 1]):
            out[at] = values[i]
            at += 1
    return out
