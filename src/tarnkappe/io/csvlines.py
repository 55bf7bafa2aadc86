"""CSV of columns with few different texts: Polars writes each text once, and lines are copied together from them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Bytes, Codes
from tarnkappe.threads import map_threads

#: Rows from which on this is worth the compiled code.
_MANY = 1 << 17

#: Bytes of lines that each thread makes at a time, while those before are written.
_ROOM = 8 << 20

#: Longer lines are left to Polars.
_LONGEST = 1 << 16


def copied_lines(frame: pl.DataFrame, delimiter: str, options: Mapping[str, Any]) -> Iterator[memoryview] | None:
    """The lines of a table without its header, as Polars writes them; nothing if that is better left to Polars.

    `options` are those that Polars writes fields with. What is handed over stays as it is until the one after the next
    is asked for.
    """
    if frame.height < _MANY or not frame.width or not all(isinstance(t, pl.Enum) for t in frame.dtypes):
        return None
    fields: list[bytes] = []
    field = np.empty((frame.width, frame.height), np.int32)
    longest = 0
    for j, column in enumerate(frame):
        after = delimiter if j + 1 < frame.width else "\n"
        texts = pl.Series([*column.dtype.categories, None], dtype=pl.String)  # type: ignore[attr-defined]
        lines = texts.to_frame().write_csv(include_header=False, **options).split("\n")
        if len(lines) != len(texts) + 1:  # a text of several lines
            return None
        written = [(line + after).encode() for line in lines[:-1]]
        field[j] = column.to_physical().cast(pl.Int32).fill_null(len(texts) - 1).to_numpy()
        field[j] += len(fields)
        fields += written
        longest += max(map(len, written))
    return _copied(field, fields, longest) if longest <= _LONGEST else None


def _copied(field: Codes, fields: list[bytes], longest: int) -> Iterator[memoryview]:
    from tarnkappe.kernels.io.bytemasks import STRIDE
    from tarnkappe.kernels.io.csvlines import copy_lines

    start = np.append(0, np.cumsum([len(f) for f in fields], dtype=np.int64))
    text = np.frombuffer(b"".join(fields) + bytes(STRIDE), np.uint8)
    rows, at_a_time, workers = field.shape[1], max(_ROOM // longest, 1), os.cpu_count() or 1
    size = at_a_time * longest + STRIDE
    # One set of rooms is written while the other is filled.
    room, other = ([np.empty(size, np.uint8) for _ in range(workers)] for _ in range(2))

    def lines(piece: tuple[int, Bytes]) -> memoryview:
        first, out = piece
        n = copy_lines(field, first, min(first + at_a_time, rows), start, text, out)
        return out[:n].data

    for first in range(0, rows, workers * at_a_time):
        firsts = range(first, min(first + workers * at_a_time, rows), at_a_time)
        yield from map_threads(lines, zip(firsts, room, strict=False))
        room, other = other, room
