"""Texts as Arrow keeps them: a view of 16 bytes each, which for a short text is the text itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Codes, Counts, Flags
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.memory import copy_bytes

#: Texts of so many bytes are in their view.
_SHORT = 12


@kernel
def number_views(views: NDArray[np.uint64], valid: Flags, slots: Codes, first: Codes, number: Codes) -> int:
    """Give every view a number, the same to equal ones, in the order in which they come; how many there are.

    Equal views are equal texts. ``first[i]`` becomes a row that has number ``i``. Rows that are not `valid`, if any,
    get one number together. `slots`, a power of two of them, are -1 before. If `first` has no room, the answer is -1.
    """
    mask = np.uint64(slots.size - 1)
    n = 0
    missing = -1
    for i in range(number.size):
        if valid.size > 0 and not valid[i]:
            if missing < 0:
                if n == first.size:
                    return -1
                missing = n
                first[n] = i
                n += 1
            number[i] = missing
            continue
        word = (views[i, 0] ^ (views[i, 1] * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xBF58476D1CE4E5B9)
        at = (word ^ (word >> np.uint64(32))) & mask
        while slots[at] >= 0:
            known = first[slots[at]]
            if views[known, 0] == views[i, 0] and views[known, 1] == views[i, 1]:
                break
            at = (at + np.uint64(1)) & mask
        if slots[at] < 0:
            if n == first.size:
                return -1
            slots[at] = n
            first[n] = i
            n += 1
        number[i] = slots[at]
    return n


@kernel
def make_views(text: Bytes, ends: Counts, views: NDArray[np.int32]) -> None:
    """The views of texts that stand one after another in one buffer; text ``i`` ends at ``ends[i]``.

    `views` are zero before. Only a text that is short is in its view as a whole, else its first four bytes are.
    """
    source, to = np.int64(text.ctypes.data), np.int64(views.ctypes.data)
    begin = 0
    for i in range(ends.size):
        size = ends[i] - begin
        views[i, 0] = size
        if size <= _SHORT:
            copy_bytes(to + 16 * i + 4, source + begin, size)
        else:
            copy_bytes(to + 16 * i + 4, source + begin, 4)
            views[i, 3] = np.int32(begin)
        begin = ends[i]


@kernel
def append_codes(words: NDArray[np.uint64], bits: int, codes: NDArray[np.uint64], which: Codes) -> None:
    """Append to every word, in so many bits, the code that `which` says; the codes in their order if it is empty."""
    step = np.uint64(bits)
    for i in range(words.size):
        words[i] = (words[i] << step) | codes[which[i] if which.size else i]
