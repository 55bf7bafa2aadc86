"""Lines that are copied from all over the memory, and found in a text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import WIDTH, where_byte, zeros_below
from tarnkappe.kernels.io.memory import copy_bytes, word_at


@kernel
def pick_lines(begins: Counts, sizes: NDArray[np.uint32], places: Counts, out: Bytes, first: int, after: int) -> None:
    """Copy lines `first` to `after`, of which addresses and sizes are given, to their places."""
    to = np.int64(out.ctypes.data)
    for i in range(first, after):
        copy_bytes(to + places[i], begins[i], np.int64(sizes[i]))


@kernel
def weigh_lines(bucket: NDArray[np.uint16], sizes: NDArray[np.uint32], n_bytes: Counts, n_lines: Counts) -> None:
    """Add up how many bytes and how many lines go into each bucket."""
    for i in range(bucket.size):
        n_bytes[bucket[i]] += np.int64(sizes[i])
        n_lines[bucket[i]] += 1


@kernel
def deal_lines(
    begins: Counts,
    sizes: NDArray[np.uint32],
    bucket: NDArray[np.uint16],
    at_byte: Counts,
    at_line: Counts,
    out: Bytes,
    out_sizes: NDArray[np.uint32],
) -> None:
    """Copy every line to where its bucket goes on, from ``at_byte[bucket]`` and ``at_line[bucket]``, which move."""
    to = np.int64(out.ctypes.data)
    for i in range(bucket.size):
        b = bucket[i]
        size = np.int64(sizes[i])
        copy_bytes(to + at_byte[b], begins[i], size)
        out_sizes[at_line[b]] = sizes[i]
        at_byte[b] += size
        at_line[b] += 1


@kernel
def find_lines(at_byte: Counts, at_line: Counts, at_size: Counts, begins: Counts, sizes: NDArray[np.uint32]) -> None:
    """Addresses and sizes of lines that stand in several rows.

    Given are where each row begins, its first line and the one after its last, and where the sizes of all lines are.
    """
    n = 0
    for part in range(at_byte.size):
        at = at_byte[part]
        for i in range(at_line[part, 0], at_line[part, 1]):
            begins[n], sizes[n] = at, word_at(at_size[part] + 4 * i)
            at += np.int64(sizes[n])
            n += 1


@kernel
def line_sizes(text: Bytes, sizes: NDArray[np.uint32]) -> bool:
    """How many bytes each line has, its line feed among them; whether there are as many lines as there is room for."""
    address, whole = np.int64(text.ctypes.data), text.size // WIDTH * WIDTH
    n, begin = 0, 0
    for start in range(0, text.size, WIDTH):
        bits = np.uint64(0)
        if start < whole:
            bits = where_byte(address + start, np.uint8(10))
        else:
            for j in range(start, text.size):
                bits |= np.uint64(text[j] == 10) << np.uint64(j - start)
        while bits:
            if n == sizes.size:
                return False
            end = start + np.int64(zeros_below(bits)) + 1
            sizes[n] = end - begin
            n, begin = n + 1, end
            bits &= bits - np.uint64(1)
    return n == sizes.size


@kernel
def record_sizes(text: Bytes, quote: int, sizes: NDArray[np.uint32]) -> None:
    """The same of records, of which there are so many: a line feed inside quotes ends none."""
    n, begin, inside = 0, 0, False
    for p in range(text.size):
        if text[p] == quote:
            inside = not inside
        elif text[p] == 10 and not inside:
            sizes[n] = p + 1 - begin
            n, begin = n + 1, p + 1
