"""Columns of a plain CSV file as numbers and as categories, all of them read at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import polars as pl

from tarnkappe.arrays import Floats
from tarnkappe.enumerated import text_column
from tarnkappe.io.csvcodes import CodedPart, Keeper, Numbered
from tarnkappe.io.csvparts import OddError, PlainCsv, over_parts, readers_of
from tarnkappe.io.texts import series_of
from tarnkappe.kernels.io.numerals import ODD, read_floats
from tarnkappe.kernels.io.records import has_byte

#: Parts that are worked on, or wait to be taken.
AHEAD = 8

_RETURN = 13


class TypedPart(NamedTuple):
    """What stands in a part of the file."""

    numbers: Floats  #: one row per column
    whole: tuple[bool, ...]  #: whether all numbers of a column are
    coded: CodedPart | None


class TypedReader(Keeper):
    """What one thread reads; an empty field is a missing value."""

    def __init__(self, place: int, file: PlainCsv, numbers: Sequence[int], texts: Sequence[int]) -> None:
        """Read some fields as numbers and some as categories."""
        super().__init__(place, file, texts, empty_is_missing=True)
        self._numbers = numbers

    def read(self, begin: int) -> int:
        """Read the records of a part; a carriage return, which might be text or not, is left to others."""
        records = super().read(begin)
        if records and has_byte(self._text, self._start, int(self._ends[self._n - 1]), _RETURN):
            raise OddError
        return records

    def typed(self, begin: int) -> tuple[int, TypedPart]:
        """Read the columns of a part."""
        records = self.read(begin)
        return records, self.columns(records)

    def columns(self, records: int) -> TypedPart:
        """The columns of the records that were read."""
        numbers = np.empty((len(self._numbers), records))
        whole = [
            read_floats(self._text, self._start, self._ends, self._file.fields, field, out)
            for field, out in zip(self._numbers, numbers, strict=True)
        ]
        if ODD in whole:
            raise OddError
        return TypedPart(numbers, tuple(w == 1 for w in whole), self.keys(records) if len(self._wanted) else None)


def read_typed(file: PlainCsv, numbers: Sequence[int], texts: Sequence[int]) -> list[pl.Series] | None:
    """The fields of all records as numbers, then others as categories; nothing if one is not as it should be."""
    with ExitStack() as stack:
        try:
            readers = readers_of(lambda place: TypedReader(place, file, numbers, texts))
            for reader in readers:
                stack.callback(reader.close)
            return as_columns(file.n_rows, readers, over_parts(file, readers, TypedReader.typed, most=AHEAD))
        except (OddError, OSError):
            return None


def as_columns(n_rows: int, readers: Sequence[TypedReader], parts: Iterable[TypedPart]) -> list[pl.Series]:
    """The columns that readers read part by part: those of numbers, then those of texts."""
    numbers, whole, coded, row = np.empty((0, n_rows)), np.ones(0, np.bool_), [], 0
    for part in parts:
        if row == 0:
            numbers, whole = np.empty((len(part.numbers), n_rows)), np.ones(len(part.numbers), np.bool_)
        after = row + part.numbers.shape[1]
        if after > n_rows:
            raise OddError
        numbers[:, row:after] = part.numbers
        whole &= np.array(part.whole, np.bool_)
        coded += [part.coded] if part.coded is not None else []
        row = after
    found = [
        column.cast(pl.Int64) if is_so else column for column, is_so in zip(map(series_of, numbers), whole, strict=True)
    ]
    return [*found, *(_categories(Numbered(readers, coded)) if coded else [])]


def _categories(found: Numbered) -> list[pl.Series]:
    """Columns of which the texts are numbered, as enumerations."""
    texts = found.texts.unique(maintain_order=True)
    place = found.texts.cast(pl.Enum(texts)).to_physical().cast(pl.Int32).to_numpy()
    return [text_column(found.column(j, place, -1), texts) for j in range(len(found.counts))]
