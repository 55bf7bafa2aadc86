"""Records as the lines of a CSV file, which are put in any order without being copied."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.threads import share_out


class Room:
    """Bytes that are used again and again: memory that was never used takes longer to get than to fill."""

    def __init__(self) -> None:
        """There are none yet."""
        self._bytes: Bytes = np.empty(0, np.uint8)

    def of(self, size: int) -> Bytes:
        """So many bytes, in which anything may stand."""
        if size > len(self._bytes):
            self._bytes = np.empty(size * 5 // 4, np.uint8)
        return self._bytes[:size]


@dataclass(frozen=True, eq=False)
class Lines:
    r"""Where records are in memory, and how many bytes each has, its line feed among them.

    >>> lines = Lines.of(b"a,1\nb,22\nc,3\n", 3)
    >>> lines[np.array([2, 1])].text.tobytes()
    b'c,3\nb,22\n'
    """

    begins: Counts
    sizes: NDArray[np.uint32]
    #: What the memory belongs to.
    owners: tuple[Bytes, ...]
    #: Whether they stand one after another in the one owner, and nothing else.
    in_row: bool = False

    @classmethod
    def of(cls, text: bytes | memoryview, n: int, quote: str = '"') -> Lines:
        """The `n` records of a text in which a line feed may stand in quotes."""
        from tarnkappe.kernels.io.lines import line_sizes, record_sizes

        signs, sizes = np.frombuffer(text, np.uint8), np.empty(n, np.uint32)
        if sys.byteorder != "little" or not line_sizes(signs, sizes):
            record_sizes(signs, ord(quote), sizes)
        return cls.cut(signs, sizes)

    @classmethod
    def cut(cls, text: Bytes, sizes: NDArray[np.uint32]) -> Lines:
        """Records of known sizes that stand one after another."""
        return cls(text.ctypes.data + _places(sizes)[:-1], sizes, (text,), in_row=True)

    @property
    def height(self) -> int:
        """How many records there are."""
        return len(self.sizes)

    def estimated_size(self) -> int:
        """Bytes in memory."""
        return self.n_bytes + self.begins.nbytes + self.sizes.nbytes

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> Lines:
        """A piece of them, or those of these places in this order."""
        return Lines(self.begins[rows], self.sizes[rows], self.owners)

    @classmethod
    def joined(cls, parts: Sequence[Lines]) -> Lines:
        """The records of several, one after another."""
        owners = {id(owner): owner for part in parts for owner in part.owners}
        begins = np.concatenate([part.begins for part in parts])
        return cls(begins, np.concatenate([part.sizes for part in parts]), tuple(owners.values()))

    @property
    def n_bytes(self) -> int:
        """Bytes of the records."""
        return int(self.sizes.sum(dtype=np.int64))

    def put_into(self, room: Room) -> Lines:
        """The same records, one after another in a room."""
        from tarnkappe.kernels.io.lines import pick_lines

        places = _places(self.sizes)
        out = room.of(int(places[-1]))
        share_out(partial(pick_lines, self.begins, self.sizes, places, out), places)
        return Lines(out.ctypes.data + places[:-1], self.sizes, (out,), in_row=True)

    @property
    def text(self) -> Bytes:
        """The records one after another."""
        return self.owners[0] if self.in_row else self.put_into(Room()).owners[0]

    def write(self, path: Path) -> None:
        """Put them aside in a file."""
        with path.open("wb") as file:
            np.save(file, self.sizes)
            np.save(file, self.text)

    @classmethod
    def read(cls, path: Path) -> Lines:
        """Take them from there."""
        with path.open("rb") as file:
            sizes = np.load(file)
            return cls.cut(np.load(file), sizes)


def _places(sizes: NDArray[np.uint32]) -> Counts:
    """Where each record begins if they stand one after another, and where the last one ends."""
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out
