"""Lines of CSV made of fields that were written beforehand: nothing is formatted, only copied.

Sixteen bytes are copied at a time, whether a field has so many or not: the next field overwrites what is too much.
"""

from __future__ import annotations

from tarnkappe.arrays import Bytes, Codes, Counts
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import STRIDE, copy_stride


@kernel
def copy_lines(field: Codes, first: int, start: Counts, text: Bytes, longest: int, out: Bytes) -> tuple[int, int]:
    """Write the lines from row `first` on, as many as there is room for; returns the next row, and the bytes written.

    Row ``r`` is made of the fields ``field[0, r]``, ``field[1, r]`` and so on, and field ``i`` is
    ``text[start[i] : start[i + 1]]``, with the sign that follows it. No line has more than `longest` bytes.
    """
    columns, rows = field.shape
    origin, target = text.ctypes.data, out.ctypes.data
    room = out.size - longest - STRIDE
    at = 0
    for r in range(first, rows):
        if at > room:
            return r, at
        for j in range(columns):
            begin, end = start[field[j, r]], start[field[j, r] + 1]
            for k in range(0, end - begin, STRIDE):
                copy_stride(origin + begin + k, target + at + k)
            at += end - begin
    return rows, at
