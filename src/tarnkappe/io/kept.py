"""Columns that pass through unchanged, as values that can be compared across formats, and fingerprints of them.

A fingerprint is the sum of one 64-bit word per record, so it does not depend on the order of the records: two tables
have the same one if they hold the same records, and else, by all odds, another one.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

#: Fingerprints are sums modulo this.
MODULUS = 1 << 64


def restored(name: str, stored: pl.DataType, wanted: pl.DataType, decimal: str = ".") -> pl.Expr:
    """A column as values of the type that it had, if it is `stored` as text or in another type.

    There is one zero, and no number (NaN) is a missing value.
    """
    return one_of_a_kind(_of_type(name, stored, wanted, decimal), wanted)


def restored_rows(
    rows: pl.LazyFrame, stored: Mapping[str, pl.DataType], wanted: Mapping[str, pl.DataType], decimal: str = "."
) -> pl.LazyFrame:
    """Rows with all columns of `wanted` `restored`, in two steps: Polars would else parse every number several times.

    >>> rows = pl.LazyFrame({"size": ["-0.0", "many"]})
    >>> restored_rows(rows, rows.collect_schema(), {"size": pl.Float64()}).collect()["size"].to_list()
    [0.0, None]
    """
    typed = rows.select(_of_type(name, stored[name], t, decimal).alias(name) for name, t in wanted.items())
    return typed.with_columns(one_of_a_kind(pl.col(name), t) for name, t in wanted.items() if t.is_float())


def _of_type(name: str, stored: pl.DataType, wanted: pl.DataType, decimal: str) -> pl.Expr:
    column = pl.col(name)
    if isinstance(wanted, (pl.String, pl.Categorical, pl.Enum)):
        return column.cast(pl.String)
    if isinstance(stored, (pl.String, pl.Categorical, pl.Enum)):
        column = _parsed(column.cast(pl.String), wanted, decimal)
    return column.cast(wanted, strict=False)


def _parsed(text: pl.Expr, wanted: pl.DataType, decimal: str) -> pl.Expr:
    """A text as `TableWriter` wrote it, in the type it had."""
    if wanted == pl.Boolean:
        return pl.when(text == "true").then(True).when(text == "false").then(False)
    if isinstance(wanted, pl.Datetime):
        format_ = "%+" if wanted.time_zone else None
        return text.str.to_datetime(format_, time_unit=wanted.time_unit, time_zone=wanted.time_zone, strict=False)
    if wanted == pl.Date:
        return text.str.to_date(strict=False)
    if wanted == pl.Time:
        return text.str.to_time("%H:%M:%S%.f", strict=False)
    if decimal != "." and (wanted.is_float() or wanted.is_decimal()):
        text = text.str.replace(decimal, ".", literal=True)
    return text


def one_of_a_kind(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    """Values of which there is one of each kind: no number (NaN) is a missing value, and there is one zero."""
    if not dtype.is_float():
        return column
    known = column.fill_nan(None)
    return pl.when((known != 0) | known.is_null()).then(known).otherwise(pl.lit(0.0, dtype))  # keeps its name


def words(columns: Mapping[str, pl.Expr]) -> pl.Expr:
    """One 64-bit word per row of some columns; rows that are equal have the same."""
    return pl.struct(expr.alias(f"c{j}") for j, expr in enumerate(columns.values())).hash()


def together(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """One word for two."""
    return pl.struct(one.alias("one"), other.alias("other")).hash()
