"""The columns of a plain CSV file as numbers of texts: no text is looked at twice, and none is kept twice."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.io.csvparts import OddError, PartReader, PlainCsv, Words, over_parts, place_in_key, readers_of
from tarnkappe.kernels.io.csvkeys import count_numbers, look_up_numbers
from tarnkappe.threads import map_threads

#: Parts that one thread looks at before another one has its turn.
_AT_ONCE = 64

#: Keys for which room is made at a time.
_ROOM = 1 << 20


class CodedPart(NamedTuple):
    """The keys of the records of a part, and whose numbers they are made of."""

    reader: int
    bits: int
    keys: Words


class Numbered:
    """Records whose wanted fields were read as numbers of texts, each thread with numbers of its own.

    `texts` are those of all threads one after the other, so that one text may stand there several times.
    """

    def __init__(self, readers: Sequence[Keeper], parts: list[CodedPart]) -> None:
        """Bring together what threads have read."""
        self.texts = pl.concat(reader.texts() for reader in readers)
        #: How many records have each text in a column, one row per column.
        self.counts: Counts = np.concatenate([r.counts[:, 1 : r.n_texts + 1] for r in readers], axis=1)
        #: How many records have nothing in a column.
        self.n_missing: Counts = np.sum([reader.counts[:, 0] for reader in readers], axis=0)
        self._ends = np.cumsum([reader.n_texts for reader in readers])
        self._parts = parts
        self._starts = np.cumsum([0, *(len(part.keys) for part in parts)])

    def column(self, j: int, of_text: NDArray[Any], of_nothing: Any) -> NDArray[Any]:
        """What every record has, if ``of_text[i]`` is had by those with text ``i`` in wanted field `j`."""
        nothing = np.array([of_nothing], of_text.dtype)
        tables = [np.append(nothing, table) for table in np.split(of_text, self._ends[:-1])]
        out = np.empty(self._starts[-1], of_text.dtype)

        def fill(some: range) -> None:
            for i in some:
                reader, bits, keys = self._parts[i]
                word, shift = place_in_key(j, bits, len(self.counts))
                number = np.uint64((1 << bits) - 1)
                look_up_numbers(keys, word, shift, number, tables[reader], out[self._starts[i] : self._starts[i + 1]])

        map_threads(fill, (range(i, min(i + _AT_ONCE, len(self._parts))) for i in range(0, len(self._parts), _AT_ONCE)))
        return out


class Keeper(PartReader):
    """What one thread reads, and how many records have each text in each column."""

    def __init__(self, place: int, file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool) -> None:
        super().__init__(file, wanted, empty_is_missing)
        self._place = place
        self.counts = np.zeros((len(wanted), 1 << self.bits), np.int64)
        self._room: Words = np.empty((0, self.width), np.uint64)

    def _empty(self, records: int) -> Words:
        """Room for the keys of so many records; memory that comes in large pieces takes less time to get."""
        if len(self._room) < records or self._room.shape[1] != self.width:
            self._room = np.empty((max(records, _ROOM), self.width), np.uint64)
        keys, self._room = self._room[:records], self._room[records:]
        return keys

    def keep(self, begin: int) -> tuple[int, CodedPart]:
        """The keys of the records of a part."""
        records = self.read(begin)
        return records, self.keys(records)

    def keys(self, records: int) -> CodedPart:
        """The keys of the records that were read."""
        keys = self._empty(records)
        while self.number(0, keys) < records:  # texts keep their numbers, so a part may be numbered again
            self.make_room()
            keys = self._empty(records)
        more = (1 << self.bits) - self.counts.shape[1]
        if more:
            self.counts = np.pad(self.counts, ((0, 0), (0, more)))
        count_numbers(keys, self.bits, self.counts)
        return CodedPart(self._place, self.bits, keys)


def number_plain(file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool) -> Numbered | None:
    """Read the wanted fields of all records; nothing if the file is not as it should be."""
    with ExitStack() as stack:
        try:
            keepers = readers_of(lambda place: Keeper(place, file, wanted, empty_is_missing))
            for keeper in keepers:
                stack.callback(keeper.close)
            return Numbered(keepers, list(over_parts(file, keepers, Keeper.keep)))
        except (OddError, OSError):
            return None
