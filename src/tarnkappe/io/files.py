"""Files that Polars scans by itself, and what all sources that are one file have in common."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import ClassVar

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.io.base import Source, on_the_clock
from tarnkappe.io.digests import digest_of
from tarnkappe.io.formats import not_of_its_kind
from tarnkappe.io.frames import FrameSource
from tarnkappe.io.kept import one_of_a_kind, restored
from tarnkappe.io.texts import is_text


def refuse_empty(path: Path) -> None:
    """Refuse a file without a single byte."""
    if path.stat().st_size == 0:
        raise DataError("E402", f"'{path.name}' is empty", where=str(path), hint="Give a file with rows in it.")


class FileSource(Source):
    """A file that Polars scans lazily; its columns keep their types."""

    may_misdate = True

    #: What it is, as `formats` lists it.
    kind: ClassVar[str]
    #: What may be wrong with one that its reader gives up on.
    fault: ClassVar[str] = "or is damaged"

    def _open(self, path: Path, missing: tuple[str, ...], frame: pl.LazyFrame, *, every_row: bool = False) -> None:
        """Read the schema and the number of rows; `every_row` where only reading them shows that none is broken."""
        self._path, self._frame = path, frame
        try:
            columns = frame.collect_schema().names()
            counted = frame.select(pl.len(), *(pl.all().count().name.suffix("\0") for _ in range(every_row)))
            n_rows = counted.collect(engine="streaming").item(0, 0)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise not_of_its_kind(path, self.kind, self.fault) from None  # their own words may quote values
        super().__init__(path.name, columns, n_rows, missing)

    @property
    def format(self) -> str:
        """What kind of file it is."""
        return self.kind

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file."""
        return digest_of(self._path)

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return on_the_clock(self._frame.select(columns))


class LoadedSource(FrameSource):
    """A file that its reader takes into memory as a whole."""

    #: What it is, as `formats` lists it.
    kind: ClassVar[str]

    def __init__(self, path: Path, frame: pl.DataFrame, missing: tuple[str, ...]) -> None:
        """Take what was read."""
        self._path = path
        super().__init__(frame, missing, path.name)

    @property
    def format(self) -> str:
        """What kind of file it is."""
        return self.kind

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file."""
        return digest_of(self._path)


def cannot_hold(format_: str, what: str, column: str | None = None) -> DataError:
    """The error for a table that a format has no room for."""
    return DataError(
        "E475",
        f"{f'column {column!r} ' if column is not None else 'the table '}{what}, which a .{format_} file cannot hold",
        hint="output: {format: parquet}   or csv",
    )


#: Whole numbers from this on are rounded by whatever keeps numbers as floating point.
_EXACT = 1 << 53


def refuse_infinite(frame: pl.DataFrame, format_: str) -> None:
    """Refuse infinite numbers where a format has no sign for them."""
    for name, dtype in frame.schema.items():
        if dtype.is_float() and frame[name].is_infinite().any():
            raise cannot_hold(format_, "has infinite numbers", name)


def refuse_bent(given: pl.DataFrame, written: Source, format_: str) -> None:
    """Refuse values that a file, read back by anybody, does not tell as they are."""
    types, back = written.types(given.columns), written.read(given.columns)
    if back.height != given.height:
        raise cannot_hold(format_, "has rows without any value")
    for name, dtype in given.schema.items():
        try:
            told = back.select(restored(name, types[name], dtype)).to_series()
        except pl.exceptions.PolarsError:  # as a time of the day that was read as a date
            told = back[name]
        meant = given.select(one_of_a_kind(pl.col(name), dtype)).to_series()
        if is_text(dtype):  # not every format tells an empty text from none
            told, meant = told.fill_null(""), meant.fill_null("")
        if dtype != pl.Null and not told.equals(meant, check_dtypes=True, null_equal=True):
            raise cannot_hold(format_, "has values", name)


def refuse_inexact(frame: pl.DataFrame, format_: str) -> None:
    """Refuse whole numbers that a format would round."""
    for name, dtype in frame.schema.items():
        if dtype.is_integer() and (frame[name].cast(pl.Float64).abs() >= _EXACT).any():
            raise cannot_hold(format_, "has whole numbers of more than 15 digits", name)
