"""Lines that are copied from all over the memory, and found in a text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import WIDTH, where_byte, zeros_below
from tarnkappe.kernels.io.memory import copy_bytes


@kernel
def pick_lines(begins: Counts, sizes: NDArray[np.uint32], places: Counts, out: Bytes, first: int, after: int) -> None:
    """Copy lines `first` to `after`, of which addresses and sizes are given, to their places."""
    to = out.ctypes.data
    for i in range(first, after):
        copy_bytes(to + places[i], begins[i], np.int64(sizes[i]))


@kernel
def line_sizes(text: Bytes, sizes: NDArray[np.uint32]) -> bool:
    """How many bytes each line has, its line feed among them; whether there are as many lines as there is room for."""
    address, whole = text.ctypes.data, text.size // WIDTH * WIDTH
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
