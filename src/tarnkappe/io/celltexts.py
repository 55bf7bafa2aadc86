"""Columns as texts that stand in a CSV file as they are, without quotes, and a word for every value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import polars as pl

from tarnkappe.arrays import Bytes, Floats
from tarnkappe.io.csvparts import OddError
from tarnkappe.io.lines import Room
from tarnkappe.io.texts import texts_as_views
from tarnkappe.kernels.io.numerals import ROOM, write_floats
from tarnkappe.kernels.io.records import BEYOND, copy_views, float_words, has_byte, take_cells

#: Whole numbers up to here are all different as floats.
_WHOLE = 1 << 53


class CellTexts:
    """The texts of columns, for some records at a time: where each is, how long it is, and a word for its value.

    Rooms are used again for the next records.
    """

    def __init__(self, columns: int, signs: Sequence[int]) -> None:
        """Room for columns of a file in which these signs mean something."""
        self._columns, self._signs = columns, signs
        self._rooms: defaultdict[object, Room] = defaultdict(Room)
        #: The categories that columns had before, and their texts.
        self._listed: dict[int, tuple[pl.Enum, CellTexts]] = {}

    def begin(self, records: int) -> None:
        """Nothing is known about so many records."""
        shape = self._columns, records
        self.begins = self.room("begins", 8 * self._columns * records).view(np.int64).reshape(shape)
        self.sizes = self.room("sizes", 4 * self._columns * records).view(np.uint32).reshape(shape)
        self.words = self.room("words", 8 * self._columns * records).view(np.uint64).reshape(shape)

    def room(self, purpose: object, size: int) -> Bytes:
        """So many bytes, in which what was there for this purpose before may stand."""
        return self._rooms[purpose].of(size)

    def fill(self, j: int, values: pl.Series) -> None:
        """The texts of a column; `OddError` if one of them needs quotes, or is no usual number."""
        if isinstance(values.dtype, pl.Enum):
            self._categories(j, values, values.dtype)
        elif values.dtype == pl.Float64:
            numbers = _floats(values)
            room = self.room(j, ROOM * len(numbers) + BEYOND)
            if not write_floats(numbers, room, self.sizes[j]):
                raise OddError
            float_words(numbers, self.words[j])
            np.add(ROOM * np.arange(len(numbers)), room.ctypes.data, out=self.begins[j])
        elif values.dtype == pl.Int64:
            if (values.abs() > _WHOLE).any():
                raise OddError
            self._texts(j, values.cast(pl.String))
            float_words(_floats(values), self.words[j])
        else:
            self._texts(j, values.cast(pl.String))

    def _categories(self, j: int, values: pl.Series, listed: pl.Enum) -> None:
        """Texts of which each is looked at once."""
        known, each = self._listed.get(j, (None, self))
        if known != listed:
            each = CellTexts(1, self._signs)
            each.begin(len(listed.categories) + 1)
            each._texts(0, pl.concat([listed.categories, pl.Series([None], dtype=pl.String)]))
            self._listed[j] = listed, each
        code = values.to_physical()
        if code.null_count():
            code = code.cast(pl.UInt32).fill_null(len(listed.categories))
        of_text = each.begins[0], each.sizes[0], each.words[0]
        take_cells(code.to_numpy(), of_text, self.begins[j], self.sizes[j], self.words[j])

    def _texts(self, j: int, values: pl.Series) -> None:
        """Texts that need no quotes: an empty one would, and one with a sign that means something else."""
        views, buffers, owner = texts_as_views(values)
        size = int(views[:, 0].sum(dtype=np.int64))
        if np.count_nonzero(views[:, 0]) != len(values) - values.null_count():
            raise OddError
        room = self.room(j, size + BEYOND)
        copy_views(views, buffers, room, self.begins[j], self.sizes[j], self.words[j])
        del owner  # of the memory that was read
        if any(has_byte(room, 0, size, sign) for sign in self._signs):
            raise OddError


def _floats(values: pl.Series) -> Floats:
    numbers = values.cast(pl.Float64)
    return (numbers.fill_null(np.nan) if numbers.null_count() else numbers).to_numpy()
