"""Open a table, whatever it is kept in: a file of any known kind, several of them, or a data frame."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, ClassVar, Union

import polars as pl

from tarnkappe.errors import DataError, did_you_mean
from tarnkappe.io.base import Source, on_the_clock
from tarnkappe.io.csvfile import CsvSource
from tarnkappe.io.databases.address import Address, is_database
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.digests import digest_of
from tarnkappe.io.formats import kind_of, known_suffixes, unpacked_name
from tarnkappe.io.frames import FrameSource
from tarnkappe.io.numbers import as_numbers
from tarnkappe.io.parts import PartsSource, parts_of
from tarnkappe.io.reading import Reading, is_selective

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

#: Whatever `open_source` accepts.
Data = Union[str, Path, pl.DataFrame, pl.LazyFrame, "pd.DataFrame", "pa.Table"]

__all__ = ["Data", "ParquetSource", "Source", "as_numbers", "open_source", "unpacked_name"]


def is_table(path: Path) -> bool:
    """Whether a name is that of a table rather than of something that people write."""
    return kind_of(path) not in (None, "xml")


def is_csv(path: Path) -> bool:
    """Whether something is a CSV file, packed or not, by its name."""
    return kind_of(path) == "csv" and path.is_file()


def open_source(data: Data, dialect: CsvDialect | None = None, missing: tuple[str, ...] = ("",)) -> Source:
    """Open a table for reading; `missing` are the texts that stand for a missing value.

    >>> source = open_source(pl.DataFrame({"zip": ["01234", ""], "age": [34, 35]}))
    >>> source.description
    'data frame · 2 rows · 2 columns · polars'
    >>> source.read(["zip"]).to_series().to_list()
    ['01234', None]
    """
    if is_selective(dialect):
        from tarnkappe.io.selected import SelectedSource

        assert isinstance(dialect, Reading)
        inner = open_source(data, replace(dialect, filter=None, derive={}), missing)
        try:
            return SelectedSource(inner, dialect)
        except BaseException:
            inner.close()
            raise
    if not isinstance(data, (str, Path)):
        return FrameSource(data, missing)
    if is_database(data):
        from tarnkappe.io.databases.source import DatabaseSource

        return DatabaseSource(Address.of(str(data)), missing)
    if "://" in str(data):
        from tarnkappe.io.remote import open_remote

        return open_remote(str(data), lambda path: open_source(path, dialect, missing))
    path = Path(data).expanduser()
    try:
        parts = parts_of(path)
        if parts:
            return PartsSource(path, [(p.name, open_source(p, dialect, missing)) for p in parts], missing)
        if not path.is_file():
            from tarnkappe.io.partitions import open_partitions

            several = open_partitions(path, lambda part: open_source(part, dialect, missing), missing)
            if several is not None:
                return several
        _refuse_unopenable(path)
        source = _opened(path, dialect, missing)
        if source is not None:
            return source
    except OSError as err:
        reason = "permission denied" if isinstance(err, PermissionError) else err.strerror or "it cannot be opened"
        raise DataError(
            "E401",
            f"'{path.name}' cannot be read: {reason}",
            where=str(path),
            hint=f"Allow yourself to read it:  chmod u+r {quote(str(path))}",
        ) from err
    if path.suffix.lower() in (".yaml", ".yml"):
        hint = f"If it is a job file:  tarnkappe check {quote(str(path))}"
        raise DataError("E408", f"'{path.name}' is no table, and data are expected", where=str(path), hint=hint)
    raise DataError(
        "E408",
        f"'{path.name}' has a format Tarnkappe does not read",
        where=str(path),
        hint=f"Known are {known_suffixes()}, CSV also with .gz or .zst. "
        "Export the table as one of these, or give a data frame.",
    )


def _opened(path: Path, dialect: CsvDialect | None, missing: tuple[str, ...]) -> Source | None:
    """The reader for a file; what few files need is loaded when it is needed."""
    kind = kind_of(path)
    reading = dialect if isinstance(dialect, Reading) else Reading()
    if kind == "fixed" or reading.positions or reading.layout:
        from tarnkappe.io.fixedfile import FixedSource

        return FixedSource(path, reading, missing)
    if kind == "csv":
        return CsvSource(path, dialect, missing)
    if kind == "parquet":
        return ParquetSource(path, missing)
    if kind == "excel":
        from tarnkappe.io.excelfile import ExcelSource

        return ExcelSource(path, missing, reading.sheet)
    if kind == "arrow":
        from tarnkappe.io.arrowfile import ArrowSource

        return ArrowSource(path, missing)
    if kind == "jsonl":
        from tarnkappe.io.jsonfile import JsonSource

        return JsonSource(path, missing)
    if kind in ("spss", "stata", "sas"):
        from tarnkappe.io.statfile import StatisticsSource

        return StatisticsSource(path, missing, labels=reading.labels)
    if kind == "xml":
        from tarnkappe.io.xmlfile import XmlSource

        return XmlSource(path, missing)
    return None


def _refuse_unopenable(path: Path) -> None:
    """Refuse a path that is not a file that exists."""
    if path.is_file():
        return
    if path.is_dir():
        what, hint = "is a folder, not a file", f"Give one file in it, such as  {quote(str(path / 'data.csv'))}"
    elif path.exists():
        what, hint = "is not a regular file", "Save its content to a file first."
    else:
        beside = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        what = f"does not exist{did_you_mean(path.name, beside)}"
        hint = f"Look what is there:  ls {quote(str(path.parent))}"
    raise DataError("E401", f"'{path.name or path}' {what}", where=str(path), hint=hint)


class ParquetSource(Source):
    """A Parquet file; its columns keep their types."""

    hashed_aside: ClassVar = True
    may_misdate = True

    def __init__(self, path: Path, missing: tuple[str, ...]) -> None:
        """Read the schema and the number of rows, which stand in the footer of the file."""
        self._path = path
        with path.open("rb"):  # says at once if that is not allowed
            pass
        try:
            columns = self._scan_all().collect_schema().names()
            n_rows = self._scan_all().select(pl.len()).collect().item()
        except pl.exceptions.DuplicateError:
            raise DataError(
                "E405", f"'{path.name}' has a column name more than once", where=path.name, hint="Rename the columns."
            ) from None
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise DataError(
                "E408",
                f"'{path.name}' is not a Parquet file, or is damaged",
                where=str(path),
                hint="Write the file again, or give it the suffix of its real format.",
            ) from None
        super().__init__(path.name, columns, n_rows, missing)

    @property
    def format(self) -> str:
        """Always Parquet."""
        return "parquet"

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the bytes of the file."""
        return digest_of(self._path)

    def _scan_all(self) -> pl.LazyFrame:
        return pl.scan_parquet(self._path, glob=False, hive_partitioning=False)

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return on_the_clock(self._scan_all().select(columns))
