"""Texts as Arrow keeps them: a view of 16 bytes each, which for a short text is the text itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Codes, Counts, Flags
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.memory import copy_bytes, long_at

#: Texts of so many bytes are in their view.
_SHORT = 12

#: A product with this number has every bit of a word in its upper half.
_MIX = np.uint64(0x9E3779B97F4A7C15)


@helper
def _mixed(word: Any, begin: Any, size: Any) -> Any:
    """A word that depends on another one and on all of a text of more than eight bytes."""
    for at in range(0, size - 8, 8):
        word = (word ^ (word >> np.uint64(32)) ^ long_at(begin + at)) * _MIX
    return (word ^ (word >> np.uint64(32)) ^ long_at(begin + size - 8)) * _MIX


@helper
def _alike(begin: Any, other: Any, size: Any) -> bool:
    """Whether two texts of more than eight bytes are equal."""
    for at in range(0, size - 8, 8):
        if long_at(begin + at) != long_at(other + at):
            return False
    same: bool = long_at(begin + size - 8) == long_at(other + size - 8)
    return same


@kernel
def number_texts(
    words: NDArray[np.uint64],
    views: NDArray[np.int32],
    buffers: Counts,
    valid: Flags,
    slots: Codes,
    first: Codes,
    number: Codes,
    look: bool,
) -> int:
    """Give every text a number, the same to equal ones, in the order in which they come; how many there are.

    `views` are four numbers each, `words` the same as two; `buffers` are the addresses at which texts stand that are
    too long for their views. Unless one is to `look` at those, equal ones in different places get different numbers.
    ``first[i]`` becomes a row that has number ``i``. Rows that are not `valid`, if any, get one number together.
    `slots`, a power of two of them, are -1 before. If `first` has no room, the answer is -1.
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
        size = views[i, 0]
        elsewhere = look and size > _SHORT
        begin = buffers[views[i, 2]] + views[i, 3] if elsewhere else 0
        word = words[i, 0] * _MIX
        word = _mixed(word, begin, size) if elsewhere else (word ^ words[i, 1]) * _MIX
        slot = (word ^ (word >> np.uint64(32))) & mask
        while slots[slot] >= 0:
            known = first[slots[slot]]
            if words[known, 0] == words[i, 0]:  # as long, and with the same beginning
                if words[known, 1] == words[i, 1]:
                    break
                if elsewhere and _alike(begin, buffers[views[known, 2]] + views[known, 3], size):
                    break
            slot = (slot + np.uint64(1)) & mask
        if slots[slot] < 0:
            if n == first.size:
                return -1
            slots[slot] = n
            first[n] = i
            n += 1
        number[i] = slots[slot]
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
