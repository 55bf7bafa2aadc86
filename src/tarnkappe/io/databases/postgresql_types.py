"""Columns of PostgreSQL: how they are asked for, and what ours are declared as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl
import pyarrow as pa

from tarnkappe.io.databases import sql
from tarnkappe.io.databases.base import Field

#: Types that are asked for as they are, and how they arrive.
_PLAIN: dict[str, pl.DataType] = {
    "bool": pl.Boolean(),
    "int2": pl.Int16(),
    "int4": pl.Int32(),
    "int8": pl.Int64(),
    "float4": pl.Float32(),
    "float8": pl.Float64(),
    "time": pl.Time(),
}

#: Types that are asked for as texts. A collation may call texts equal that differ: "C" never does.
_TEXTS = {"text", "varchar", "bpchar", "char", "name", "uuid", "citext", "inet", "cidr", "macaddr", "macaddr8"}

#: Those of them that are equal if their bytes are, unless the database has a collation that is lenient.
_EXACT = {"text", "varchar"}
_LENIENT = "SELECT EXISTS (SELECT FROM pg_collation AS c WHERE to_jsonb(c) ->> 'collisdeterministic' = 'false')"

#: Moments; those that are not finite stand for "unknown" or "never", and are missing values.
_MOMENTS: dict[str, pl.DataType] = {"date": pl.Date(), "timestamp": pl.Datetime("us"), "timestamptz": pl.Datetime("us")}


def fields_of(cursor: Any, relation: str) -> tuple[Field, ...]:
    """The columns of a table or query."""
    schema = cursor.adbc_execute_schema(f"SELECT * FROM {relation}")
    cursor.execute(_LENIENT)
    [(lenient,)] = cursor.fetchall()
    return tuple(_field(field, kind, lenient) for field, kind in zip(schema, _kinds(cursor, schema), strict=True))


def _kinds(cursor: Any, schema: pa.Schema) -> list[tuple[str, int]]:
    """The type of every column, those that domains and lists of values are made of, with its precision."""
    told = [(_kind(field), field.metadata or {}) for field in schema]
    unknown = {kind for kind, _ in told} - {*_PLAIN, *_TEXTS, *_MOMENTS, "numeric", "oid"}
    made_of = {}
    if unknown:
        listed = ", ".join(sql.literal(kind) for kind in sorted(unknown))
        cursor.execute(
            "SELECT t.typname::text, CASE t.typtype WHEN 'e' THEN 'text' ELSE b.typname::text END FROM pg_type t "
            f"LEFT JOIN pg_type b ON b.oid = t.typbasetype WHERE t.typname IN ({listed})"
        )
        made_of = dict(cursor.fetchall())
    return [(made_of.get(kind) or kind, int(meta.get(b"POSTGRESQL:typmod", -1))) for kind, meta in told]


def _kind(field: pa.Field) -> str:
    """What PostgreSQL calls the type of a column."""
    return str((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode())


def _field(field: pa.Field, told: tuple[str, int], lenient: bool) -> Field:
    kind, modifier = told
    column = sql.name(field.name)
    if kind in _PLAIN:
        return Field(field.name, column, _PLAIN[kind])
    if _kind(field) in _EXACT and not lenient:  # what need not be computed is grouped sooner
        return Field(field.name, column, pl.String())
    if kind in _TEXTS:
        return Field(field.name, f'CAST({column} AS text) COLLATE "C"', pl.String())
    if kind in _MOMENTS:
        return Field(field.name, f"CASE WHEN isfinite({column}) THEN {column} END", _MOMENTS[kind])
    if kind == "oid":
        return Field(field.name, f"CAST({column} AS bigint)", pl.Int64())
    if kind == "numeric":
        precision, scale = ((modifier - 4) >> 16) & 0xFFFF, (modifier - 4) & 0x7FF
        if modifier < 0 or precision > 38 or scale > precision:
            return Field(field.name, f"CAST({column} AS double precision)", pl.Float64())
        text = f"CAST(nullif({column}, 'NaN') AS text)"
        return Field(field.name, text, pl.Decimal(precision, scale))
    return Field(field.name, column, pl.Object())


#: What columns are declared as, and how their values are sent where that differs.
_DECLARED: dict[type[pl.DataType], str] = {
    pl.Boolean: "boolean",
    pl.Int8: "smallint",
    pl.Int16: "smallint",
    pl.Int32: "integer",
    pl.Int64: "bigint",
    pl.UInt8: "smallint",
    pl.UInt16: "integer",
    pl.UInt32: "bigint",
    pl.UInt64: "numeric(20,0)",
    pl.Float32: "real",
    pl.Float64: "double precision",
    pl.Date: "date",
    pl.Time: "time",
    pl.Datetime: "timestamp",
}
_SENT: dict[type[pl.DataType], pl.DataType] = {
    pl.Int8: pl.Int16(),
    pl.UInt8: pl.Int16(),
    pl.UInt16: pl.Int32(),
    pl.UInt32: pl.Int64(),
    pl.UInt64: pl.Decimal(20, 0),
    pl.Datetime: pl.Datetime("us"),
}


def declared(schema: Mapping[str, pl.DataType]) -> str:
    """The columns of a table as they are declared."""
    return ", ".join(f"{sql.name(name)} {_declared(dtype)}" for name, dtype in schema.items())


def _declared(dtype: pl.DataType) -> str:
    """What a column is declared as."""
    if isinstance(dtype, pl.Decimal):
        return f"numeric({dtype.precision or 38},{dtype.scale})"
    return _DECLARED.get(type(dtype), "text")


def sent_as(dtype: pl.DataType) -> pl.DataType:
    """The type in which values of a column are sent."""
    if _declared(dtype) != "text":
        return _SENT.get(type(dtype), dtype)
    # Categories are written out by the library.
    return dtype if isinstance(dtype, (pl.Categorical, pl.Enum)) else pl.String()
