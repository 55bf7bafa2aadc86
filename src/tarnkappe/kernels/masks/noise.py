"""Noise that is added to numbers, and sums over columns of which each is somewhere else in memory.

Columns are given by their addresses; what is no number (NaN) is missing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.memory import float_at

#: Records whose sums are added up before they are added to others: a sum of many small numbers stays exact for longer.
_PIECE = 1 << 12


@helper
def _complete(columns: Counts, r: int) -> Any:
    total = 0.0
    for j in range(columns.size):
        total += float_at(columns[j] + 8 * r)
    return not np.isnan(total)


@kernel
def sums(columns: Counts, first: int, after: int, out: Floats) -> int:
    """Add the sums of columns over the records that lack nothing; how many there are."""
    n, piece = 0, np.empty(columns.size)
    for begin in range(first, after, _PIECE):
        piece[:] = 0
        for r in range(begin, min(begin + _PIECE, after)):
            if _complete(columns, r):
                n += 1
                for j in range(columns.size):
                    piece[j] += float_at(columns[j] + 8 * r)
        out += piece
    return n


@kernel
def products(columns: Counts, mean: Floats, first: int, after: int, out: Floats) -> None:
    """Add the sums of products of any two columns, each less its mean, over the records that lack nothing."""
    k = columns.size
    piece, off = np.empty((k, k)), np.empty(k)
    for begin in range(first, after, _PIECE):
        piece[:] = 0
        for r in range(begin, min(begin + _PIECE, after)):
            if _complete(columns, r):
                for i in range(k):
                    off[i] = float_at(columns[i] + 8 * r) - mean[i]
                    for j in range(i + 1):
                        piece[i, j] += off[i] * off[j]
        for i in range(k):
            for j in range(i + 1):
                out[i, j] += piece[i, j]
                if j < i:
                    out[j, i] += piece[i, j]


@kernel
def squares(one: int, other: int, first: int, after: int) -> float:
    """The sum of squares of the differences of two columns, where both have a number."""
    total = 0.0
    for begin in range(first, after, _PIECE):
        piece = 0.0
        for r in range(begin, min(begin + _PIECE, after)):
            off: Any = float_at(one + 8 * r) - float_at(other + 8 * r)
            if not np.isnan(off):
                piece += off * off
        total += piece
    return total


@kernel
def add_noise(
    columns: Counts,
    noise: Floats,
    root: Floats,
    mean: Floats,
    shrunk: float,
    low: float,
    high: float,
    out: Floats,
    first: int,
    after: int,
) -> None:
    """Numbers with noise that is spread as `root` says, drawn to their mean if it is to be shrunk, and reflected.

    What is beyond a bound is as far on the other side of it, and what is still beyond stops there.
    """  # fmt: skip
    k = columns.size
    for r in range(first, after):
        for i in range(k):
            z = 0.0
            for j in range(k):
                z += noise[r, j] * root[i, j]
            z += float_at(columns[i] + 8 * r)
            if shrunk != 1:
                z = mean[i] + (z - mean[i]) / shrunk
            z = 2 * low - z if z < low else z
            z = 2 * high - z if z > high else z
            out[i, r] = low if z < low else high if z > high else z + 0.0
