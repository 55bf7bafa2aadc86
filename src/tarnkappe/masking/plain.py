"""Masked records of a plain CSV file, as lines of another one: what no mask changes is copied as it stands.

Every record has a word of 64 bits, of the fields as they stand in the original and of the values that masks made, not
of the line that was written: whoever reads the written file finds the same words only if it says the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.engines.line_shuffle import Dealt
from tarnkappe.io import Source, csvparts
from tarnkappe.io.celltexts import CellTexts
from tarnkappe.io.csvfile import CsvSource
from tarnkappe.io.csvparts import OddError, PartReader, PlainCsv, over_parts, readers_of
from tarnkappe.io.csvtyped import AHEAD, TypedPart, TypedReader, as_columns
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.kept import MODULUS
from tarnkappe.io.lines import Lines
from tarnkappe.io.texts import fields_as_texts, is_text
from tarnkappe.kernels.io.records import BEYOND, field_words, float_words, make_lines, sum_words
from tarnkappe.masks.base import Fitted
from tarnkappe.masks.view import MaskedSource

Words = NDArray[np.uint64]


class Written(NamedTuple):
    """What became of some records."""

    lines: Dealt
    total: int  #: the sum of their words
    made: pl.DataFrame  #: the values that masks made
    watched: tuple[Words, ...]  #: words of original values, column by column


class Found(NamedTuple):
    """What a written file says."""

    total: int
    columns: dict[str, pl.Series]
    watched: dict[str, Words]


class PlainRecords:
    """The records of a masked table, if they can be written without being read as a table."""

    def __init__(self, file: PlainCsv, view: MaskedSource, names: Sequence[str], quote: str) -> None:
        """Take a file in which every line is a record, and the columns that are published."""
        self.file, self.view, self.names = file, view, tuple(names)
        self.makers = view.makers_of(names)
        made = [name for one in self.makers for name in one.types if name in self.names]
        self.types = view.types(made)
        self.given = _pieces(view.columns, names, made)
        self.taken = _pieces(names, names, made)
        self.signs = (file.delimiter, ord(quote), file.eol, ord("\r"))

    @classmethod
    def of(cls, view: MaskedSource, names: Sequence[str], dialect: CsvDialect) -> Self | None:
        """The records, if the original is such a file, and the written one may look like it."""
        source = view.original
        file = source.unquoted if isinstance(source, CsvSource) and len(names) > 1 else None
        if file is None or chr(file.delimiter) != (dialect.delimiter or ","):
            return None
        known = all(is_text(t) or t in (pl.Float64, pl.Int64) for t in view.types(names).values())
        return cls(file, view, names, dialect.quote or '"') if known else None

    def written(self, watched: Sequence[str], deal: Callable[[Lines, int], Dealt]) -> Iterator[Written]:
        """What becomes of the records, in their order; `OddError` if they cannot be written so.

        `deal` takes the lines of a part, with its number, and copies them.
        """
        with ExitStack() as stack:
            if any(one.held for one in self.makers) and not self.file.records:
                self._count()
            fields = [self.view.columns.index(name) for name in watched]
            readers = readers_of(lambda _: _Masking(self, fields, deal))
            for reader in readers:
                stack.callback(reader.close)
            yield from over_parts(self.file, readers, _Masking.written, most=AHEAD)

    def _count(self) -> None:
        """Count the records of every part."""
        with ExitStack() as stack:
            readers = readers_of(lambda _: PartReader(self.file, (), empty_is_missing=True))
            for reader in readers:
                stack.callback(reader.close)
            for _ in over_parts(self.file, readers, lambda reader, begin: (reader.read(begin), None)):
                pass

    def found(self, written: Source, held: Collection[str], watched: Sequence[str]) -> Found | None:
        """What a written file says, and those of its columns that are `held`; nothing if it is not such a file."""
        file = written.unquoted if isinstance(written, CsvSource) else None
        if file is None:
            return None
        texts = [name for name, t in self.types.items() if is_text(t)]
        numbers = [name for name in self.types if name not in texts]
        coded = [name for name in texts if name in held]
        with ExitStack() as stack:
            try:
                readers = readers_of(lambda place: _Checking(place, self, file, numbers, coded, watched))
                for reader in readers:
                    stack.callback(reader.close)
                noted: list[_Read] = []

                def typed() -> Iterator[TypedPart]:
                    for part in over_parts(file, readers, _Checking.found, most=AHEAD):
                        noted.append(part._replace(typed=None))
                        yield part.typed

                read = as_columns(file.n_rows, readers, typed())
            except (OddError, OSError):
                return None
        columns = {name: column.alias(name) for name, column in zip([*numbers, *coded], read, strict=True)}
        for name in numbers:
            if self.types[name] == pl.Int64 != columns[name].dtype:
                return None
            columns[name] = columns[name].cast(self.types[name])
        words = [np.concatenate(of_parts) for of_parts in zip(*(part.watched for part in noted), strict=True)]
        total = sum(part.total for part in noted) % MODULUS
        return Found(total, columns, dict(zip(watched, words, strict=True)))


def _pieces(columns: Sequence[str], names: Sequence[str], made: Sequence[str]) -> Counts:
    """What the records are made of, as `make_lines` takes it: fields that stand side by side in both are one piece."""
    out: list[tuple[int, int]] = []
    for before, name in zip([None, *names], names, strict=False):
        if name in made:
            out.append((made.index(name), -1))
            continue
        field = columns.index(name)
        side_by_side = before is not None and before not in made and columns.index(before) == field - 1
        if side_by_side:
            out[-1] = (out[-1][0], field)
        else:
            out.append((field, field))
    return np.array(out, np.int64)


class _Masking(TypedReader):
    """What one thread makes of the original."""

    def __init__(self, plain: PlainRecords, watched: Sequence[int], deal: Callable[[Lines, int], Dealt]) -> None:
        super().__init__(0, plain.file, (), ())
        self._plain, self._watched, self._deal = plain, watched, deal
        self._starts = np.cumsum([0, *plain.file.records])
        self._cells = CellTexts(len(plain.types), plain.signs)

    def written(self, begin: int) -> tuple[int, Written]:
        """Mask the records of a part."""
        n, plain, fields, cells = self.read(begin), self._plain, self._file.fields, self._cells
        part = (begin - self._file.begin) // csvparts.PART
        rows = np.arange(n) + (self._starts[part] if plain.file.records else 0)
        all_made = (series for one in plain.makers for series in one.at(rows, self._needed(one, n)))
        made = [series for series in all_made if series.name in plain.types]
        cells.begin(n)
        for j, series in enumerate(made):
            cells.fill(j, series)
        watched = tuple(np.empty(n, np.uint64) for _ in self._watched)
        for field, words in zip(self._watched, watched, strict=True):
            field_words(self._text, self._start, self._ends, fields, field, words)
        stop = int(self._ends[self._n - 1]) if n else self._start
        most = stop - self._start + int(cells.sizes.sum(dtype=np.int64)) + n * (len(plain.given) + 1) + BEYOND
        out, sizes = cells.room("lines", most), np.empty(n, np.uint32)
        where = self._text, self._start, self._ends, fields, plain.given
        size = make_lines(*where, cells.begins, cells.sizes, self._file.delimiter, out, sizes)
        total = int(sum_words(*where, cells.words, n))
        dealt = self._deal(Lines.cut(out[:size], sizes), part)
        return n, Written(dealt, total, pl.DataFrame(made), watched)

    def _needed(self, one: Fitted, n: int) -> pl.DataFrame:
        """The columns of the original that a mask needs; they are gone when the next part is read."""
        where = self._text, self._start, self._ends, self._file.fields
        fields = {name: self._plain.view.columns.index(name) for name in one.needs}
        return pl.DataFrame({name: fields_as_texts(*where, field, n) for name, field in fields.items()})


class _Read(NamedTuple):
    typed: Any  #: a `TypedPart`, until it was taken
    total: int
    watched: tuple[Words, ...]


class _Checking(TypedReader):
    """What one thread reads of a written file."""

    def __init__(
        self,
        place: int,
        plain: PlainRecords,
        file: PlainCsv,
        numbers: Sequence[str],
        coded: Sequence[str],
        watched: Sequence[str],
    ) -> None:
        field = {name: j for j, name in enumerate(plain.names)}
        super().__init__(place, file, [field[name] for name in numbers], [field[name] for name in coded])
        self._pieces = plain.taken
        self._columns = [(field[name], numbers.index(name) if name in numbers else -1) for name in plain.types]
        self._watched = [field[name] for name in watched]

    def found(self, begin: int) -> tuple[int, _Read]:
        """Read the records of a part."""
        n, fields = self.read(begin), self._file.fields
        typed = self.columns(n)
        words = np.empty((len(self._columns), n), np.uint64)
        for (field, number), out in zip(self._columns, words, strict=True):
            if number < 0:
                field_words(self._text, self._start, self._ends, fields, field, out)
            else:
                float_words(typed.numbers[number], out)
        watched = tuple(np.empty(n, np.uint64) for _ in self._watched)
        for field, out in zip(self._watched, watched, strict=True):
            field_words(self._text, self._start, self._ends, fields, field, out)
        total = int(sum_words(self._text, self._start, self._ends, fields, self._pieces, words, n))
        return n, _Read(typed, total, watched)
