"""CSV on Spark: files in which every line is a record are read in parallel, line by line.

A first pass proves that a table is so plain, and counts its records. Everything else (line breaks in quotes, another
encoding, blank lines, a row with too few fields) is left to the one reader that knows all about it, which reads it or
says what is wrong: see `tarnkappe.io.csvfile`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tarnkappe.engines.spark import tasks
from tarnkappe.engines.spark.files import File, FileSystem
from tarnkappe.io import CsvDialect
from tarnkappe.io.csvfile import split_record

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: A longer header is left to the other reader.
_LONGEST_HEADER = 1 << 20

_MARK = "\ufeff"


class PlainLines(NamedTuple):
    """The records of a plain table as a data frame with the columns ``c0, c1, …``."""

    frame: DataFrame
    columns: list[str]
    n_records: int


def plain_lines(
    spark: SparkSession, system: FileSystem, files: Sequence[File], dialect: CsvDialect
) -> PlainLines | None:
    """The records of some files if each is a line of its own and all files have the same header; else nothing."""
    from pyspark.sql import functions as f

    headers = [_first_line(system.head(file.path, _LONGEST_HEADER)) for file in files]
    if dialect.encoding != "utf-8" or not dialect.header or None in headers:
        return None
    known = [str(header) for header in headers]
    columns = [split_record(header, dialect) for header in known]
    if any(found != columns[0] for found in columns):
        return None
    delimiter, quote = dialect.delimiter or ",", "" if dialect.quote == "none" else dialect.quote or '"'
    # Hadoop drops a byte order mark at the start of a file.
    line = spark.read.option("__globPaths__", "false").text([file.path for file in files], lineSep="\n")
    lines = line.select(f.regexp_replace("value", "\r\\z", "").alias("value"), f.is_valid_utf8("value").alias("valid"))
    text = f.col("value")
    is_header = text.isin(*{form for header in known for form in (header, _MARK + header)})
    has_quote = f.contains(text, f.lit(quote)) if quote else f.lit(False)
    further = f.length(text) - f.length(f.replace(text, f.lit(delimiter), f.lit("")))
    odd = (text == "") | f.contains(text, f.lit("\r")) | ~f.col("valid")
    odd |= ~has_quote & (further != len(columns[0]) - 1)
    n_lines, n_headers, n_odd, n_quoted = lines.agg(
        f.count(f.lit(1)),
        *(f.count_if(condition) for condition in (is_header, odd, has_quote & ~is_header)),
    ).collect()[0]
    if n_odd or n_headers != len(files):
        return None
    records = lines.where(~is_header).select("value")
    frame = _split(records.where(~has_quote), delimiter, len(columns[0]))
    if n_quoted:
        parse = tasks.parse_lines(delimiter, quote, len(columns[0]))
        schema = ", ".join(f"c{j} string" for j in range(len(columns[0])))
        parsed = records.where(has_quote).mapInArrow(parse, schema)
        if parsed.where(f.col("c0") == tasks.ODD_LINE).limit(1).count():
            return None
        frame = frame.union(parsed)
    return PlainLines(frame, columns[0], n_lines - n_headers)


def _split(lines: DataFrame, delimiter: str, n_fields: int) -> DataFrame:
    """The fields of lines without quotes."""
    from pyspark.sql import functions as f

    fields: Column = f.split("value", f"\\Q{delimiter}\\E", -1)
    return lines.select(*(fields[j].alias(f"c{j}") for j in range(n_fields)))


def _first_line(start: bytes) -> str | None:
    """The first line of a file, if it is one, and in UTF-8."""
    line, end, _ = start.partition(b"\n")
    try:
        text = line.decode("utf-8").removeprefix(_MARK).removesuffix("\r")
    except UnicodeDecodeError:
        return None
    return text if end and text and "\r" not in text else None
