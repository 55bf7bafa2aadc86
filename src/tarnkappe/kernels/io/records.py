"""Records of a plain CSV file: lines made of what they have and of other texts, and a word for every record.

A record is made of pieces: either fields as they stand in the file, with the delimiters between them, or one text from
elsewhere. `pieces` has a row for each, in their order: the first and the last field, or the number of the other text
and -1. The other texts are given column by column, with an address and a size for every record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.bytemasks import STRIDE, WIDTH, copy_stride, high_product, where_byte
from tarnkappe.kernels.io.memory import copy_bytes, long_at, put_byte

Words = NDArray[np.uint64]

#: Bytes that must follow whatever is copied or hashed, and the lines that are made.
BEYOND = WIDTH

#: Texts of so many bytes are in their view.
_SHORT = 12

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_MIX, _STIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)

#: The word of no text and no number.
_NOTHING = np.uint64(0xA0761D6478BD642F)


@helper
def _folded(one: Any, other: Any) -> Any:
    return high_product(one, other) ^ (one * other)


@helper
def _word(address: Any, size: Any) -> Any:
    """A word for the bytes from an address on; that of none is always the same."""
    if size == 0:
        return _NOTHING
    hashed = _MIX ^ np.uint64(size)
    while size > 8:
        hashed = _folded(hashed ^ long_at(address), _STIR)
        address, size = address + 8, size - 8
    last = long_at(address) << np.uint64(64 - 8 * size)
    return _folded(hashed ^ last, _MIX)


@helper
def _begin_of(begin: int, ends: Codes, k: Any) -> Any:
    return np.int64(ends[k - 1]) + 1 if k > 0 else begin


@kernel
def has_byte(text: Bytes, begin: int, end: int, byte: int) -> bool:
    """Whether a byte stands anywhere between; `BEYOND` bytes must follow, of which some may be taken for it."""
    found, address = _ZERO, np.int64(text.ctypes.data)
    for at in range(begin, end, WIDTH):
        bits: Any = where_byte(address + at, np.uint8(byte))
        if end - at < WIDTH:
            bits &= (_ONE << np.uint64(end - at)) - _ONE
        found |= bits
    return bool(found != _ZERO)


@kernel
def field_words(text: Bytes, begin: int, ends: Codes, fields: int, field: int, out: Words) -> None:
    """A word for the text in one field of every record; see `make_lines` for where fields are."""
    address = np.int64(text.ctypes.data)
    for r in range(out.size):
        k = r * fields + field
        at = _begin_of(begin, ends, k)
        out[r] = _word(address + at, np.int64(ends[k]) - at)


@kernel
def field_views(text: Bytes, begin: int, ends: Codes, fields: int, field: int, views: NDArray[np.int32]) -> None:
    """The text in one field of every record as Arrow has it: what is longer than twelve bytes stays where it is."""
    address, to = np.int64(text.ctypes.data), np.int64(views.ctypes.data)
    for r in range(views.shape[0]):
        k = r * fields + field
        at = _begin_of(begin, ends, k)
        size = np.int64(ends[k]) - at
        copy_stride(address + at, to + 16 * r + 4)
        views[r, 0] = size
        if size > _SHORT:
            views[r, 2], views[r, 3] = 0, np.int32(at)
        else:  # what follows is not part of it
            for j in range(size, _SHORT):
                put_byte(to + 16 * r + 4 + j, np.uint8(0))


@kernel
def float_words(values: Floats, out: Words) -> None:
    """A word for every number; there is one zero, and one for what is no number (NaN)."""
    bits = (values + 0.0).view(np.uint64)
    for i in range(values.size):
        out[i] = _NOTHING if np.isnan(values[i]) else _folded(bits[i] ^ _STIR, _MIX)


@kernel
def copy_views(
    views: NDArray[np.int32], buffers: Counts, out: Bytes, begins: Counts, sizes: NDArray[np.uint32], words: Words
) -> None:
    """Copy texts as Arrow keeps them one after another: where each is then, its size and its word.

    `BEYOND` bytes must follow the last one.
    """
    to = np.int64(out.ctypes.data)
    for i in range(views.shape[0]):
        size = np.int64(views[i, 0])
        inside = np.int64(views.ctypes.data) + 16 * i + 4
        copy_bytes(to, inside if size <= _SHORT else buffers[views[i, 2]] + np.int64(np.uint32(views[i, 3])), size)
        begins[i], sizes[i], words[i] = to, np.uint32(size), _word(to, size)
        to += size


@kernel
def take_cells(
    codes: NDArray[Any],
    of_text: tuple[Counts, NDArray[np.uint32], Words],
    begins: Counts,
    sizes: NDArray[np.uint32],
    words: Words,
) -> None:
    """The address, the size and the word of every record's text, of which codes are given."""
    for i in range(codes.size):
        code = codes[i]
        begins[i], sizes[i], words[i] = of_text[0][code], of_text[1][code], of_text[2][code]


@kernel
def make_lines(
    text: Bytes,
    begin: int,
    ends: Codes,
    fields: int,
    pieces: Counts,
    begins: Counts,
    sizes: NDArray[np.uint32],
    delimiter: int,
    out: Bytes,
    line_sizes: NDArray[np.uint32],
) -> int:
    """Write a line for every record, and how long each is; returns how many bytes they have together.

    `ends` says where the fields of all records end, the first of which begins at `begin`. `BEYOND` bytes may be written
    after the lines, and must be readable after every piece.
    """
    address, to = np.int64(text.ctypes.data), np.int64(out.ctypes.data)
    at = to
    for r in range(line_sizes.size):
        line = at
        for p in range(pieces.shape[0]):
            first, last = pieces[p, 0], pieces[p, 1]
            if last < 0:
                source, size = begins[first, r], np.int64(sizes[first, r])
            else:
                k = r * fields + first
                start = _begin_of(begin, ends, k)
                source, size = address + start, np.int64(ends[r * fields + last]) - start
            for j in range(0, size, STRIDE):
                copy_stride(source + j, at + j)
            at += size
            put_byte(at, np.uint8(delimiter))
            at += 1
        put_byte(at - 1, np.uint8(10))
        line_sizes[r] = np.uint32(at - line)
    return int(at - to)


@kernel
def sum_words(text: Bytes, begin: int, ends: Codes, fields: int, pieces: Counts, words: Words, n: int) -> np.uint64:
    """The sum of the words of `n` records, of whose other texts the words are given column by column.

    Each word depends on all pieces of a record and on which piece each of them is.
    """
    address = np.int64(text.ctypes.data)
    total = _ZERO
    for r in range(n):
        record = _ZERO
        for p in range(pieces.shape[0]):
            first, last = pieces[p, 0], pieces[p, 1]
            if last < 0:
                word = words[first, r]
            else:
                start = _begin_of(begin, ends, r * fields + first)
                word = _word(address + start, np.int64(ends[r * fields + last]) - start)
            record = _folded(record ^ word, _STIR) + _MIX
        total += record
    return total
