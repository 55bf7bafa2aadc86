"""Records as the lines of a CSV file: to pick some in any order copies each once, and not column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes
from tarnkappe.threads import share_out


@dataclass(frozen=True, eq=False)
class Lines:
    r"""Records one after another, and how many bytes each has, its line feed among them.

    >>> lines = Lines.of(b"a,1\nb,22\nc,3\n", 3)
    >>> lines[np.array([2, 1], np.int32)].text.tobytes()
    b'c,3\nb,22\n'
    """

    text: Bytes
    sizes: NDArray[np.uint32]

    @classmethod
    def of(cls, text: bytes | memoryview, n: int, quote: str = '"') -> Lines:
        """The `n` records of a text in which a line feed may stand in quotes."""
        signs = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(signs == ord("\n")) + 1
        if len(ends) != n:
            from tarnkappe.kernels.io.lines import record_ends

            found = record_ends(signs, ord(quote), ends)
            assert found == n
            ends = ends[:n]
        return cls(signs, np.diff(ends, prepend=0).astype(np.uint32))

    @property
    def height(self) -> int:
        """How many records there are."""
        return len(self.sizes)

    def estimated_size(self) -> int:
        """Bytes in memory."""
        return self.text.nbytes + self.sizes.nbytes

    def __getitem__(self, rows: slice | NDArray[np.integer]) -> Lines:
        """A piece of them, or those of these places in this order."""
        from tarnkappe.kernels.io.lines import pick_lines

        begins = _begins(self.sizes)
        if isinstance(rows, slice):
            first, after, _ = rows.indices(self.height)
            return Lines(self.text[begins[first] : begins[after]], self.sizes[first:after])
        order = rows.astype(np.int32, copy=False)
        sizes = self.sizes[order]
        places = _begins(sizes)
        out = np.empty(int(places[-1]), np.uint8)

        def task(first: int, after: int) -> None:
            pick_lines(self.text, begins, order, first, after, out, places)

        share_out(task, places)
        return Lines(out, sizes)

    @classmethod
    def joined(cls, parts: Sequence[Lines]) -> Lines:
        """The records of several, one after another."""
        if len(parts) == 1:
            return parts[0]
        return cls(np.concatenate([p.text for p in parts]), np.concatenate([p.sizes for p in parts]))

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
            return cls(np.load(file), sizes)


def _begins(sizes: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Where each record begins, and the last one ends."""
    out = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=out[1:])
    return out
