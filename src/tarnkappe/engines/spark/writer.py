"""Writing with Spark: a folder of parts, each a complete file."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from tarnkappe.engines.spark.files import FileSystem, local_path, location
from tarnkappe.engines.spark.progress import watched
from tarnkappe.engines.spark.session import translated
from tarnkappe.errors import JobError
from tarnkappe.io import CsvDialect, Format
from tarnkappe.io.cells import Step
from tarnkappe.io.formulas import HARMLESS, TO_ESCAPE, each, neutralised

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class FolderWriter:
    """Writes a whole data frame of Spark to a folder; every CSV part has the header.

    Parts are called ``part-00000.csv`` and so on. Spark gives a part its name only when its task has ended well, so
    that a task that was run twice has written once.
    """

    def __init__(
        self, spark: SparkSession, path: str | Path, format_: Format, dialect: CsvDialect | None, missing: str
    ) -> None:
        """Say where; nothing is written yet."""
        if format_ not in ("csv", "parquet"):
            raise JobError("E110", f"Spark writes csv and parquet, not {format_}", hint="output: {format: parquet}")
        #: How the CSV file is written, for whoever reads it back.
        self.dialect = (dialect or CsvDialect()).released()
        self._spark = spark
        self._address = location(path)
        self._local = local_path(path)
        self._format = format_
        self._missing = missing

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def write(self, batch: pl.DataFrame) -> None:
        """Write records that are on this machine."""
        self.save(self._spark.createDataFrame(batch.to_arrow(compat_level=pl.CompatLevel.oldest())))

    def save(self, frame: DataFrame, n_records: int = 0, step: Step | None = None) -> None:
        """Write the rows of a data frame, in their order, one file per partition."""
        options: dict[str, Any] = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "false"}
        if self._format == "csv":
            frame = self._as_text(frame)
            quote = self.dialect.quote or '"'
            options |= {
                "header": "true",
                "sep": self.dialect.delimiter,
                "quote": quote,
                "escape": quote,
                "nullValue": self._missing,
                "emptyValue": f"{quote}{quote}",
                "ignoreLeadingWhiteSpace": "false",
                "ignoreTrailingWhiteSpace": "false",
                "lineSep": "\n",
            }
        else:
            options["compression"] = "zstd"
        with translated(self._address):
            wanted = frame.write.format(self._format).options(**options).mode("overwrite")
            watched(self._spark, lambda: wanted.save(self._address), n_records, step)
            self._tidy()

    def _as_text(self, frame: DataFrame) -> DataFrame:
        """The frame with a decimal comma in its numbers and an apostrophe before formulas, if the dialect has them."""
        from pyspark.sql import functions
        from pyspark.sql.types import DecimalType, DoubleType, FloatType, StringType

        safe, comma = self.dialect.spreadsheet_safe, self.dialect.decimal == ","
        names = each(frame.columns, neutralised) if safe else frame.columns
        frame = frame.toDF(*(f"c{j}" for j in range(len(names))))  # whatever signs are in the names
        for field in frame.schema.fields:
            column = functions.col(field.name)
            if comma and isinstance(field.dataType, (DecimalType, DoubleType, FloatType)):
                column = functions.translate(column.cast("string"), ".", ",")
            elif safe and isinstance(field.dataType, StringType):
                risky = column.rlike(TO_ESCAPE) & ~column.rlike(HARMLESS)
                column = functions.when(risky, functions.concat(functions.lit("'"), column)).otherwise(column)
            frame = frame.withColumn(field.name, column)
        return frame.toDF(*names)

    def _tidy(self) -> None:
        """Give the parts short names."""
        system = FileSystem(self._spark, self._address)
        for number, file in enumerate(system.files(self._address)):
            system.rename(file.path, f"{self._address.rstrip('/')}/part-{number:05d}.{self._format}")
        if self._local is not None:
            for checksum in self._local.glob(".*.crc"):
                checksum.unlink(missing_ok=True)  # what Hadoop keeps beside local files
