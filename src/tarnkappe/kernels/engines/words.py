"""One word for every pair of a cell and a group: sums of them tell whether records are where they should be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import helper, kernel


@helper
def _pair_word(cell: Any, group: Any) -> np.uint64:
    """A word with every bit of a cell and a group spread over all of its bits."""
    word = (np.uint64(cell) << np.uint64(32)) | np.uint64(np.int64(group) + 1)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@kernel
def pair_words(cell: Codes, group: Codes) -> NDArray[np.uint64]:
    """The word of every pair."""
    out = np.empty(cell.size, np.uint64)
    for i in range(cell.size):
        out[i] = _pair_word(cell[i], group[i])
    return out


@kernel
def sum_of_words(place: Codes, starts: Counts, number: Counts, count: Counts) -> np.uint64:
    """The sum of the words of rows that stand in runs: run ``g`` has a number, a row stands for `count` records.

    Without counts, a row is one record.
    """
    total = np.uint64(0)
    for g in range(number.size):
        for i in range(starts[g], starts[g + 1]):
            word = _pair_word(place[i], number[g])
            total += word if count.size == 0 else word * np.uint64(count[i])
    return total


@kernel
def sum_of_dealt_words(of_cell: Codes, cell: Codes, starts: Counts, first: int, after: int) -> np.uint64:
    """The same of the records that were dealt to a run of groups, whose numbers go up from ``first + 1``."""
    total = np.uint64(0)
    for g in range(first, after):
        for i in range(starts[g], starts[g + 1]):
            total += _pair_word(of_cell[cell[i]], g + 1)
    return total


@kernel
def add_digit(number: Counts, digit: Codes, base: int) -> None:
    """Append a digit to each number, in place; a number becomes -1, and stays so, where the digit is none."""
    for i in range(number.size):
        known = number[i] >= 0 and 0 <= digit[i] < base
        number[i] = number[i] * base + digit[i] if known else -1
