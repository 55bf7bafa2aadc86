"""Dealing out places in groups to records of one cell, by lot."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, read_only
from tarnkappe.kernels import kernel

#: Runs that are fetched at a time.
_AT_ONCE = 64


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
def runs_in_order(values: Codes, starts: Counts, order: Codes, out: Codes) -> None:
    """Put the runs ``values[starts[i]:starts[i+1]]`` of these places, one after the other, into `out`.

    Runs lie far apart in memory. So where some of them begin and end is looked up before they are copied, and their
    values are fetched before they are needed: many at a time take hardly longer than one.
    """
    at = 0
    begin, end = np.empty(_AT_ONCE, np.int64), np.empty(_AT_ONCE, np.int64)
    for first in range(0, order.size, _AT_ONCE):
        n = min(_AT_ONCE, order.size - first)
        for k in range(n):
            begin[k] = starts[order[first + k]]
            end[k] = starts[order[first + k] + 1]
        fetched = np.int32(0)
        for k in range(n):
            if begin[k] < end[k]:
                fetched |= values[begin[k]] | values[end[k] - 1]
        if at < out.size:
            out[at] = fetched  # overwritten below; what is not used would not be fetched
        for k in range(n):
            for i in range(begin[k], end[k]):
                out[at] = values[i]
                at += 1


@kernel
def shuffle_block(values: Codes, first: int, after: int, draws: NDArray[np.float64]) -> None:
    """One part of shuffling all values, whose parts come from the last one to the first: that of these places."""
    for i in range(after - 1, first - 1, -1):
        j = np.int64(draws[i - first] * (i + 1))
        values[i], values[j] = values[j], values[i]


def occurrences(codes: Codes, n_codes: int) -> Counts:
    """How often each code occurs."""
    out = np.zeros(n_codes, np.int64)
    _count(read_only(codes), out)
    return out


@kernel
def _count(codes: Codes, out: Counts) -> None:
    """Add to what `occurrences` returns."""
    for i in range(codes.size):
        out[codes[i]] += 1


def gathered(values: NDArray[Any], at: Codes) -> NDArray[Any]:
    """The values at these places."""
    out = np.empty(len(at), values.dtype)
    _gather(read_only(values), read_only(at), out)
    return out


@kernel
def _gather(values: NDArray[Any], at: Codes, out: NDArray[Any]) -> None:
    """Fill in what `gathered` returns."""
    for i in range(at.size):
        out[i] = values[at[i]]
