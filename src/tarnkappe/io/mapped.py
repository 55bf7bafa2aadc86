"""Files as arrays of bytes: mapped rather than read, and let go of part by part."""

from __future__ import annotations

import mmap
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Bytes that are looked at before they are let go of.
PART = 64 << 20

#: How far to look for the end of a line.
_LINE = 1 << 20


def map_file(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file."""
    if path.stat().st_size == 0:
        return np.empty(0, np.uint8)
    return np.asarray(np.memmap(path, dtype=np.uint8, mode="r"))


def let_go(data: NDArray[np.uint8], begin: int, end: int) -> None:
    """Say that these bytes are not needed for now: what is mapped counts as memory of the process until then."""
    mapping = getattr(data.base, "_mmap", None)
    if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        first = -(-begin // mmap.PAGESIZE) * mmap.PAGESIZE  # pages on the border belong to somebody else, too
        last = end // mmap.PAGESIZE * mmap.PAGESIZE
        if last > first:
            mapping.madvise(mmap.MADV_DONTNEED, first, last - first)


def first_lines(data: NDArray[np.uint8], start: int, n: int, eol: int) -> bytes:
    """The first `n` lines from `start` on, or all there are."""
    size = _LINE
    while True:
        ends = np.flatnonzero(data[start : start + size] == eol)
        if len(ends) >= n or start + size >= data.size:
            return data[start : start + (int(ends[n - 1]) + 1 if len(ends) >= n else size)].tobytes()
        size *= 4


def line_parts(data: NDArray[np.uint8], start: int, eol: int) -> list[tuple[int, int]]:
    """Ranges of bytes from `start` to the end that begin and end with lines; one range where lines are endless."""
    bounds = [start]
    while data.size - bounds[-1] > PART:
        at = bounds[-1] + PART
        window = data[at : at + _LINE] == eol
        if not window.any():
            return [(start, data.size)]
        bounds.append(at + int(window.argmax()) + 1)
    return list(pairwise([*bounds, data.size])) if data.size > bounds[-1] else list(pairwise(bounds))
