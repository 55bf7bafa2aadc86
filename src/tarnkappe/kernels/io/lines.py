"""Lines of a text, picked in any order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.memory import copy_bytes


@kernel
def pick_lines(
    text: Bytes, begins: Counts, order: NDArray[np.int32], first: int, after: int, out: Bytes, places: Counts
) -> None:
    """Copy lines `first` to `after` of an order to their places; line ``i`` is from ``begins[i]`` to the next one."""
    source, to = text.ctypes.data, out.ctypes.data
    for i in range(first, after):
        begin = begins[order[i]]
        copy_bytes(to + places[i], source + begin, begins[order[i] + 1] - begin)


@kernel
def record_ends(text: Bytes, quote: int, ends: Counts) -> int:
    """Where every record ends, its line feed included: one inside quotes ends none; how many there are."""
    n, inside = 0, False
    for p in range(text.size):
        if text[p] == quote:
            inside = not inside
        elif text[p] == 10 and not inside:
            ends[n] = p + 1
            n += 1
    return n
