"""Write tables batch by batch, in any of the formats that releases have."""

from __future__ import annotations

from functools import partial
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Protocol, Self, cast

import polars as pl
import polars.selectors as cs

from tarnkappe.errors import DataError, JobError
from tarnkappe.io.base import texts_of
from tarnkappe.io.csvlines import copied_lines
from tarnkappe.io.dialect import CsvDialect
from tarnkappe.io.failures import is_disk_full, translate_os_error
from tarnkappe.io.formats import WRITTEN, Format
from tarnkappe.io.formulas import each, neutralised
from tarnkappe.io.lines import Lines
from tarnkappe.io.staging import Staging, staged
from tarnkappe.threads import Aside, in_background

if TYPE_CHECKING:
    from pyarrow import Table

    from tarnkappe.io.parquetfile import ParquetFile

__all__ = ["Format", "Staging", "TableWriter", "staged", "translate_os_error"]


class _WholeFile(Protocol):
    """What writes a file of one of the further formats."""

    def append(self, frame: pl.DataFrame) -> None:
        """Append the rows of a table."""

    def close(self) -> None:
        """Write what is still waiting."""


class TableWriter:
    """Writes batches of rows, all with the same columns, to one file.

    CSV is UTF-8 with a header, quotes where needed and a line feed after every record, whatever the dialect the
    data came in; only delimiter, quote sign and decimal sign are taken from it, and missing values are written as
    `missing`. Parquet is compressed with zstd; categories are written as text that is stored once and referred to,
    and of a category list only the values that occur in the rows, so that no other value can be read from the file.
    """

    def __init__(
        self,
        path: str | Path,
        format: Format,  # noqa: A002
        dialect: CsvDialect | None = None,
        missing: str = "",
    ) -> None:
        """Open the file; its format is not derived from its name, which may be a temporary one."""
        if format not in WRITTEN:
            known = ", ".join(WRITTEN)
            raise JobError("E110", f"'format' must be one of {known}, got {format!r}", hint="format: csv")
        self._path = Path(path)
        #: How the CSV file is written, for whoever reads it back.
        self.dialect = (dialect or CsvDialect()).released()
        self._missing = missing
        self._columns: list[str] | None = None
        self._parquet: ParquetFile | None = None
        self._whole: _WholeFile | None = None
        self._format = format
        if format == "parquet":  # what writes it takes a while to load: meanwhile, records are made ready
            in_background(_parquet_writer)
        try:
            self._file: IO[bytes] = self._path.open("wb")
        except OSError as err:
            raise translate_os_error(err, self._path) from err

    def as_written(self, batch: pl.DataFrame) -> Lines:
        """A batch as lines of the CSV file, which `write` takes in any order."""
        if self._columns is None:
            self.write(batch.clear())  # which is the header
        out = BytesIO()
        self._write_csv(batch, header=False, file=out)
        return Lines.of(out.getbuffer(), batch.height, self.dialect.quote or '"')

    def write(self, batch: pl.DataFrame | Table | Lines) -> None:
        """Append the rows of a batch."""
        if isinstance(batch, Lines):
            try:
                self._file.write(batch.text.data)
            except OSError as err:
                raise translate_os_error(err, self._path) from err
            return
        names = list(batch.columns if isinstance(batch, pl.DataFrame) else batch.column_names)
        first = self._columns is None
        if first:
            self._columns = names
        elif names != self._columns:
            raise ValueError(f"the batch has the columns {names}, the file has {self._columns}")
        try:
            if self._format == "csv":
                self._write_csv(batch, header=first)
            elif self._format == "parquet":
                self._write_parquet(batch)
            else:
                self._write_whole(batch)
        except (OSError, pl.exceptions.PolarsError) as err:
            if isinstance(err, OSError) or is_disk_full(err):
                raise translate_os_error(err, self._path) from err
            raise

    def close(self) -> None:
        """Write what is still waiting and close the file."""
        if self._file.closed:
            return
        try:
            try:
                for file in (self._parquet, self._whole):
                    if file is not None:
                        file.close()
            finally:
                self._file.close()
        except OSError as err:
            raise translate_os_error(err, self._path) from err

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:  # the first error is the one to tell
            self._file.close()

    def _write_whole(self, batch: pl.DataFrame | Table) -> None:
        frame = batch if isinstance(batch, pl.DataFrame) else cast(pl.DataFrame, pl.from_arrow(batch))
        for column, dtype in frame.schema.items():
            if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
                raise DataError(
                    "E408",
                    f"column '{column}' of type {dtype} cannot be written as .{self._format}",
                    hint="Write Parquet instead:  format: parquet",
                )
        if self._whole is None:
            self._whole = self._further_file()
        self._whole.append(frame.with_columns((cs.categorical() | cs.enum()).cast(pl.String)))

    def _further_file(self) -> _WholeFile:
        """What writes the format; what few jobs need is loaded when it is needed."""
        if self._format == "xlsx":
            from tarnkappe.io.excelfile import ExcelFile

            return ExcelFile(self._file, getattr(self.dialect, "known_sheet", None))
        if self._format == "arrow":
            from tarnkappe.io.arrowfile import ArrowFile

            return ArrowFile(self._file)
        if self._format == "jsonl":
            from tarnkappe.io.jsonfile import JsonFile

            return JsonFile(self._file)
        if self._format == "xml":
            from tarnkappe.io.xmlfile import XmlFile

            return XmlFile(self._file)
        from tarnkappe.io.labels import Labels
        from tarnkappe.io.reading import Reading
        from tarnkappe.io.statfile import StatisticsFile

        known = self.dialect.known_labels if isinstance(self.dialect, Reading) else Labels()
        return StatisticsFile(self._path, self._format, known)

    @property
    def _missing_text(self) -> str:
        """The missing marker as it stands in the file: in quotes if it would be taken for something else without."""
        marker, quote = self._missing, self.dialect.quote or '"'
        signs = {quote, self.dialect.delimiter or ",", "\n", "\r"}
        return quote + marker.replace(quote, 2 * quote) + quote if signs & set(marker) else marker

    def _write_csv(self, batch: pl.DataFrame | Table, header: bool, file: IO[bytes] | None = None) -> None:
        frame = batch if isinstance(batch, pl.DataFrame) else cast(pl.DataFrame, pl.from_arrow(batch))
        for column, dtype in frame.schema.items():
            if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
                raise DataError(
                    "E408",
                    f"column '{column}' of type {dtype} cannot be written as CSV",
                    hint="Write Parquet instead:  format: parquet",
                )
        if self.dialect.spreadsheet_safe:
            frame = frame.with_columns(neutralised(pl.col(c).cast(pl.String)) for c in texts_of(frame.schema))
            frame.columns = each(frame.columns, neutralised)
        to = self._file if file is None else file
        delimiter = self.dialect.delimiter or ","
        options: dict[str, Any] = {
            "separator": delimiter,
            "quote_char": self.dialect.quote or '"',
            "quote_style": "necessary",
            "decimal_comma": self.dialect.decimal == ",",
            "line_terminator": "\n",
            "null_value": self._missing_text,
        }
        lines = copied_lines(frame, delimiter, options)
        if lines is None:
            frame.write_csv(to, include_header=header, **options)
            return
        if header:
            frame.clear().write_csv(to, **options)
        with Aside() as aside:
            for some in lines:
                aside(partial(to.write, some))

    def _write_parquet(self, batch: pl.DataFrame | Table) -> None:
        if self._parquet is None:
            self._parquet = _parquet_writer()(self._file)
        self._parquet.append(
            batch.to_arrow(compat_level=pl.CompatLevel.oldest()) if isinstance(batch, pl.DataFrame) else batch
        )


def _parquet_writer() -> type[ParquetFile]:
    """What writes Parquet; CSV does without."""
    from tarnkappe.io.parquetfile import ParquetFile

    return ParquetFile
