"""Dealing out places in groups to records of one cell, by lot."""

from __future__ import annotations

from typing import Any

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
def runs_in_order(values: Codes, starts: Counts, order: Counts, out: Codes) -> None:
    """Put the runs ``values[starts[i]:starts[i+1]]`` of these places, one after the other, into `out`."""
    at = 0
    for run in order:
        for i in range(starts[run], starts[run + 1]):
            out[at] = values[i]
            at += 1


@kernel
def shuffle_block(values: Codes, first: int, after: int, draws: NDArray[np.float64]) -> None:
    """One part of shuffling all values, whose parts come from the last one to the first: that of these places."""
    for i in range(after - 1, first - 1, -1):
        j = np.int64(draws[i - first] * (i + 1))
        values[i], values[j] = values[j], values[i]


@kernel
def occurrences(codes: Codes, n_codes: int) -> Counts:
    """How often each code occurs."""
    out = np.zeros(n_codes, np.int64)
    for i in range(codes.size):
        out[codes[i]] += 1
    return out


@kernel
def gathered(values: NDArray[Any], at: Codes) -> NDArray[Any]:
    """The values at these places."""
    out = np.empty(at.size, values.dtype)
    for i in range(at.size):
        out[i] = values[at[i]]
    return out
