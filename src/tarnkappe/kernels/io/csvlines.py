"""Lines of CSV made of fields that were written beforehand: nothing is formatted, only copied.

Sixteen bytes are copied at a time, whether a field has so many or not: the next field overwrites what is too much.
"""

from __future__ import annotations

from tarnkappe.arrays import Bytes, Codes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import STRIDE, copy_stride


@kernel
def copy_lines(field: Codes, first: int, after: int, start: Counts, text: Bytes, out: Bytes) -> int:
    """Write the lines of some rows; returns how many bytes these are. There is room for them, and for a stride more.

    Row ``r`` is made of the fields ``field[0, r]``, ``field[1, r]`` and so on, and field ``i`` is
    ``text[start[i] : start[i + 1]]``, with the sign that follows it.
    """
    origin, target = text.ctypes.data, out.ctypes.data
    at = 0
    for r in range(first, after):
        for j in range(field.shape[0]):
            begin, end = start[field[j, r]], start[field[j, r] + 1]
            for k in range(0, end - begin, STRIDE):
                copy_stride(origin + begin + k, target + at + k)
            at += end - begin
    return at
