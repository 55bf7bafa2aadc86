"""Tables that Spark reads: CSV and Parquet, one file or a folder of parts, and Spark's own data frames."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl

from tarnkappe.engines.spark.csvlines import plain_lines
from tarnkappe.engines.spark.files import File, FileSystem, local_path, location
from tarnkappe.engines.spark.files import fingerprint as fingerprint_of_files
from tarnkappe.engines.spark.ledger import fingerprint
from tarnkappe.engines.spark.progress import watched
from tarnkappe.engines.spark.session import from_java, translated
from tarnkappe.errors import DataError
from tarnkappe.io import Cells, CsvDialect, Source, as_numbers, detect_dialect
from tarnkappe.io.cells import BATCH, Step
from tarnkappe.io.csvfile import CsvSource
from tarnkappe.io.dialect import SAMPLE_BYTES
from tarnkappe.io.formulas import ESCAPED, HARMLESS, each, meant
from tarnkappe.io.headers import check_columns, index_named
from tarnkappe.io.parts import PartsSource, digest_of_parts
from tarnkappe.io.source import ParquetSource
from tarnkappe.io.texts import is_text

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: Files up to this size are read to the end for their digest, even where Spark has to do it.
_READABLE = 1 << 29

_COUNT = "n"


class SparkSource(Source):
    """A table that stays where it is: what comes to this machine are counts, and a sample of bounded size.

    Inside Spark column ``j`` is called ``c<j>``, whatever its name, and missing markers are null.
    """

    in_order: ClassVar = False

    def __init__(
        self,
        frame: DataFrame,
        columns: Sequence[str],
        name: str,
        missing: tuple[str, ...],
        files: Sequence[File] = (),
        dialect: CsvDialect | None = None,
        n_rows: int | None = None,
    ) -> None:
        """Wrap a data frame whose columns are ``c0, c1, …``; nothing is read."""
        check_columns(columns, name)
        self.name = name
        self.columns = tuple(columns)
        self.missing = missing
        self.dialect = dialect
        self.decimal = (dialect.decimal if dialect else None) or "."
        self.spreadsheet_safe = dialect is not None and dialect.spreadsheet_safe
        self.files = tuple(files)
        self.frame = frame.select(*(self._cleaned(frame, j) for j in range(len(columns))))
        #: Opens one of the files by itself.
        self.part: Callable[[File], SparkSource] | None = None
        self._n_rows = n_rows
        if n_rows is not None:
            self._refuse_empty()
        self._remove: Callable[[], object] | None = None

    def _cleaned(self, frame: DataFrame, j: int) -> Column:
        from pyspark.sql import functions
        from pyspark.sql.types import DoubleType, FloatType, StringType, TimestampNTZType, TimestampType

        column = functions.col(f"c{j}")
        type_ = frame.schema[j].dataType
        if isinstance(type_, TimestampType):  # a moment with a time zone: as the clock in UTC shows it
            return column.cast(TimestampNTZType()).alias(f"c{j}")
        if isinstance(type_, (DoubleType, FloatType)):  # no number is a missing value, and there is one zero
            return functions.when(~functions.isnan(column), column + functions.lit(0.0).cast(type_)).alias(f"c{j}")
        if not isinstance(type_, StringType):
            return column
        if self.dialect is not None and "" not in self.missing:
            column = functions.coalesce(column, functions.lit(""))  # Spark reads an empty field without quotes as null
        if self.spreadsheet_safe:
            escaped = column.rlike(ESCAPED) & ~column.rlike(HARMLESS)
            column = functions.when(escaped, functions.substr(column, functions.lit(2))).otherwise(column)
        if self.missing:
            column = functions.when(~column.isin(*self.missing), column)
        return column.alias(f"c{j}")

    @property
    def n_rows(self) -> int:  # type: ignore[override]
        """Number of rows, counted by itself: what is counted otherwise is compared with it."""
        if self._n_rows is None:
            with translated(self.name):
                self._n_rows = self.frame.count()
            self._refuse_empty()
        assert self._n_rows is not None
        return self._n_rows

    def _refuse_empty(self) -> None:
        if self._n_rows == 0:
            raise DataError(
                "E402", f"'{self.name}' has no rows", where=self.name, hint="Give data with at least one row."
            )

    @property
    def format(self) -> str:
        """The format and dialect in a few words."""
        kind = self.dialect.describe() if self.dialect else "parquet" if self.files else "data frame"
        return f"{kind}, on Spark"

    @cached_property
    def sha256(self) -> str:
        """The digest of the bytes of the file, or of those of the parts (``sha256sum * | sha256sum`` in the folder).

        Large files that are not on this machine are not read for that: the digest is one of names, sizes and times.
        """
        from pyspark.sql import functions

        paths = [Path(f.path.removeprefix("file:")) for f in self.files if f.path.startswith("file:")]
        if len(paths) == len(self.files) > 0 and all(path.is_file() for path in paths):
            digests = [(path.name, _digest(path)) for path in paths]
        elif self.files and all(f.size <= _READABLE for f in self.files):
            with translated(self.name):
                found = self._spark.read.format("binaryFile").load([f.path for f in self.files])
                rows = found.select("path", functions.sha2("content", 256)).collect()
            digests = [(str(path).rsplit("/", 1)[-1], str(digest)) for path, digest in rows]
        else:
            return fingerprint_of_files(self.files)
        return digest_of_parts(digests)

    def with_texts(self, columns: Sequence[str], like: str, unlike: str | None = None) -> list[str]:
        """Which of these columns have texts that match a pattern, and not another one."""
        from pyspark.sql import functions

        texts = [name for name, t in self.types(columns).items() if is_text(t)]
        if not texts:
            return []
        asked = [functions.col(self.inner(name)) for name in texts]
        with translated(self.name):
            matched = [c.rlike(like) if unlike is None else c.rlike(like) & ~c.rlike(unlike) for c in asked]
            found = self.frame.select(*map(functions.max, matched)).collect()
        return [name for name, any_of_them in zip(texts, found[0], strict=True) if any_of_them]

    def types(self, columns: Sequence[str]) -> dict[str, pl.DataType]:
        """The types of the columns; nothing is read."""
        known = self._stored_types()
        return {name: known[name] for name in self._known(columns)}

    def _stored_types(self) -> Mapping[str, pl.DataType]:
        from pyspark.sql.pandas.types import to_arrow_schema

        empty = pl.from_arrow(to_arrow_schema(self.frame.schema).empty_table())
        assert isinstance(empty, pl.DataFrame)
        return dict(zip(self.columns, empty.dtypes, strict=True))

    @property
    def _spark(self) -> SparkSession:
        return self.frame.sparkSession

    def keep(self, folder: Path) -> None:
        """Remove a folder, which the frame is read from, as soon as this source is closed or no longer used."""
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    def close(self) -> None:
        """Remove the copy on this machine, if there is one."""
        if self._remove is not None:
            self._remove()

    def selected(self, columns: Sequence[str]) -> DataFrame:
        """Some columns, under their inner names."""
        return self.frame.select(*(self.inner(name) for name in self._known(columns)))

    def inner(self, column: str) -> str:
        """What a column is called inside Spark."""
        return f"c{self.columns.index(column)}"

    def distinct_rows(self, columns: Sequence[str]) -> DataFrame:
        """The distinct rows of some columns, with their number in the column ``n``: one shuffle of partial counts."""
        from pyspark.sql import functions

        names = [self.inner(name) for name in self._known(columns)]
        return self.frame.groupBy(*names).agg(functions.count(functions.lit(1)).alias(_COUNT))

    def cells(self, columns: Sequence[str], step: Step | None = None, rows: DataFrame | None = None) -> Cells:
        """The distinct rows of some columns and how often each occurs; nothing else comes to this machine.

        They need not be counted again if they are known (`rows`).
        """
        names = self._known(columns)
        with translated(self.name):
            counted = self.distinct_rows(names) if rows is None else rows
            table = watched(self._spark, counted.toArrow, self.n_rows, step)
        frame = pl.from_arrow(table)
        assert isinstance(frame, pl.DataFrame)
        count = frame[_COUNT].to_numpy().astype(np.int64)
        if int(count.sum()) != self.n_rows:
            raise self.unreadable()
        codes = np.empty((frame.height, len(names)), np.int32)
        values = []
        for j, name in enumerate(names):
            series = frame[self.inner(name)]
            distinct = series.drop_nulls().unique(maintain_order=True)
            if len(distinct):
                place = series.replace_strict(distinct, np.arange(1, len(distinct) + 1), default=0)
                codes[:, j] = place.fill_null(0).to_numpy()
            else:
                codes[:, j] = 0
            values.append(pl.concat([pl.Series([None], dtype=distinct.dtype), distinct]).alias(name))
        return Cells(tuple(names), tuple(values), codes, count)

    def fingerprint(self, labels: Mapping[str, pl.DataType], carried: Mapping[str, Any]) -> int:
        """The fingerprint of all records, by columns of which the types are known; Spark adds up the words."""
        shown = {self.inner(name): type_ for name, type_ in labels.items()}
        kept = {self.inner(name): type_ for name, type_ in carried.items()}
        with translated(self.name):
            return fingerprint(self.frame, shown, kept, self.decimal)

    def sample(self, columns: Sequence[str], n: int) -> pl.DataFrame:
        """The first `n` records that Spark comes upon."""
        names = self._known(columns)
        with translated(self.name):
            frame = pl.from_arrow(self.selected(names).limit(n).toArrow())
        assert isinstance(frame, pl.DataFrame)
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def repeats(self, columns: Sequence[str]) -> dict[int, int]:
        """How many combinations of these columns occur once, how many twice, and so on; two shuffles."""
        with translated(self.name):
            sizes = self.distinct_rows(columns).groupBy(_COUNT).count().collect()
        return dict(sorted((int(times), int(n)) for times, n in sizes))

    def n_distinct(self, columns: Sequence[str]) -> dict[str, int]:
        """How many different values each column has, a missing one among them; one shuffle per column."""
        with translated(self.name):
            return {name: self.selected([name]).distinct().count() for name in self._known(columns)}

    def n_missing(self, columns: Sequence[str]) -> dict[str, int]:
        """How many records have no value in each column."""
        with translated(self.name):
            return {name: self.n_rows - self.selected([name]).na.drop().count() for name in self._known(columns)}

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """All records of some columns on this machine: for small tables only."""
        names = self._known(columns)
        with translated(self.name):
            frame = pl.from_arrow(self.selected(names).toArrow())
        assert isinstance(frame, pl.DataFrame)
        return frame.rename(dict(zip(frame.columns, names, strict=True)))

    def batches(
        self,
        columns: Sequence[str],
        types: Mapping[str, pl.DataType],
        select: Sequence[pl.Expr],
        most: int = BATCH,
    ) -> Iterator[pl.DataFrame]:
        """The same file by file, if there are several, the rows of each in any order: whatever `most` says."""
        open_part = self.part
        parts = [self] if open_part is None or len(self.files) == 1 else map(open_part, self.files)
        for part in parts:
            yield part._scan_as(part._known(columns), types).select(select).collect()
            if part is not self:
                part.close()

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return self.read(columns).lazy()

    def numeric(self, series: pl.Series, column: str | None = None, *, distinct: bool = False) -> pl.Series:
        """The values as numbers; rows have no order here, so none can be named where one is not."""
        name = column or series.name

        def rows_with(values: list[str]) -> tuple[int, int]:
            from pyspark.sql import functions

            with translated(self.name):
                return self.selected([name]).where(functions.col(self.inner(name)).isin(values)).count(), 1

        counted = rows_with if distinct else None
        return as_numbers(series, name, self.decimal, self.name, None, counted, in_order=False)


def open_frame(frame: DataFrame, missing: tuple[str, ...]) -> SparkSource:
    """A data frame of Spark as a source."""
    columns = frame.columns
    return SparkSource(frame.toDF(*(f"c{j}" for j in range(len(columns)))), columns, "data frame", missing)


def open_path(
    spark: SparkSession, path: str | Path, dialect: CsvDialect | None, missing: tuple[str, ...]
) -> SparkSource:
    """A CSV or Parquet file, or a folder of such files, wherever Spark reaches it."""
    address = location(path)
    name = address.rstrip("/").rsplit("/", 1)[-1]
    shown = str(path)
    with translated(shown):
        system = FileSystem(spark, address)
        files = system.files(address)
        if not files:
            raise DataError(
                "E401", f"'{name}' does not exist, or has no files in it", where=shown, hint="Check the path."
            )
        if _is_parquet(files, system):
            return _open_parquet(spark, system, files, name, missing)
    return _open_csv(spark, system, files, name, dialect, missing)


def _is_parquet(files: Sequence[File], system: FileSystem) -> bool:
    if files[0].name.lower().endswith((".parquet", ".pq")):
        return True
    return system.head(files[0].path, 4) == b"PAR1"


def _open_parquet(
    spark: SparkSession, system: FileSystem, files: Sequence[File], name: str, missing: tuple[str, ...]
) -> SparkSource:
    """A Parquet source: in parallel if all files have the same columns of the same types."""

    def read(some: Sequence[File], merged: str) -> DataFrame:
        options = {"__globPaths__": "false", "mergeSchema": merged}
        return spark.read.options(**options).parquet(*(f.path for f in some))

    frame = read(files[:1], "false")
    if len(files) > 1:
        try:
            together = read(files, "true")
        except Exception as error:
            if not from_java(error):
                raise
            together = None
        if together is None or together.schema != frame.schema:
            return _open_here(system, files, name, missing, spark, lambda path: ParquetSource(path, missing))
        frame = together
    columns = frame.columns
    source = SparkSource(frame.toDF(*(f"c{j}" for j in range(len(columns)))), columns, name, missing, files)
    source.part = lambda file: _open_parquet(spark, system, [file], name, missing)
    return source


def _open_csv(
    spark: SparkSession,
    system: FileSystem,
    files: Sequence[File],
    name: str,
    given: CsvDialect | None,
    missing: tuple[str, ...],
) -> SparkSource:
    """A CSV source: in parallel if every line is a record, else through the reader that knows every kind of CSV."""
    with tempfile.TemporaryDirectory() as folder:
        beginning = Path(folder, files[0].name if "." in files[0].name else "data.csv")
        with translated(name):
            beginning.write_bytes(system.head(files[0].path, SAMPLE_BYTES + 1))
        dialect = detect_dialect(beginning, given)
    with translated(name):
        plain = plain_lines(spark, system, files, dialect)
    if plain is None:
        return _open_here(system, files, name, missing, spark, lambda path: CsvSource(path, given, missing))
    header = index_named(each(plain.columns, meant) if dialect.spreadsheet_safe else plain.columns)
    source = SparkSource(plain.frame, index_named(header), name, missing, files, dialect, plain.n_records)
    source.part = lambda file: _open_csv(spark, system, [file], name, given, missing)
    return source


def _open_here(
    system: FileSystem,
    files: Sequence[File],
    name: str,
    missing: tuple[str, ...],
    spark: SparkSession,
    reader: Callable[[Path], Source],
) -> SparkSource:
    """A table that is read on this machine, by the reader of the other engines, and handed to Spark as Parquet."""
    folder = Path(tempfile.mkdtemp(prefix="tarnkappe"))
    parts = []
    try:
        for number, file in enumerate(files):
            path = local_path(file.path.removeprefix("file:")) if file.path.startswith("file:") else None
            if path is None or not path.is_file():
                path = folder / str(number) / file.name
                path.parent.mkdir()
                with translated(name):
                    system.download(file.path, path)
            parts.append((file.name, reader(path)))
        first = parts[0][1]
        table = first if len(parts) == 1 else PartsSource(Path(name), parts, missing)
        n_rows, columns = table.n_rows, table.columns
        copy = folder / "table.parquet"
        inner = [pl.col(column).alias(f"c{j}") for j, column in enumerate(columns)]
        try:
            table.stored().select(inner).sink_parquet(copy)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            raise table.unreadable() from None
        table.close()
        with translated(name):
            if (spark.sparkContext.master or "").startswith("local"):
                frame = spark.read.parquet(location(copy))
            else:  # the workers of a cluster do not see this disk
                frame = spark.createDataFrame(pl.read_parquet(copy).to_arrow(compat_level=pl.CompatLevel.oldest()))
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    source = SparkSource(frame, columns, name, missing, files, getattr(first, "dialect", None), n_rows)
    source.keep(folder)
    return source


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
