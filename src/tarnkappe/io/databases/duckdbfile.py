"""DuckDB: a database in one file, read and written by this very process."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import duckdb
import polars as pl

from tarnkappe.errors import LimitError
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import ROWS, Change, Field, Look, no_connection, renamed
from tarnkappe.io.failures import is_disk_full

_TYPES: dict[str, pl.DataType] = {
    "BOOLEAN": pl.Boolean(),
    "TINYINT": pl.Int8(),
    "SMALLINT": pl.Int16(),
    "INTEGER": pl.Int32(),
    "BIGINT": pl.Int64(),
    "UTINYINT": pl.UInt8(),
    "USMALLINT": pl.UInt16(),
    "UINTEGER": pl.UInt32(),
    "UBIGINT": pl.UInt64(),
    "HUGEINT": pl.Int128(),
    "FLOAT": pl.Float32(),
    "DOUBLE": pl.Float64(),
    "TIME": pl.Time(),
}

#: Moments; those that are not finite stand for "unknown" or "never", and are missing values.
_MOMENTS: dict[str, pl.DataType] = {
    "DATE": pl.Date(),
    "TIMESTAMP": pl.Datetime("us"),
    "TIMESTAMP_S": pl.Datetime("us"),
    "TIMESTAMP_MS": pl.Datetime("ms"),
    "TIMESTAMP_NS": pl.Datetime("ns"),
    "TIMESTAMP WITH TIME ZONE": pl.Datetime("us"),
}

_DECLARED: dict[type[pl.DataType], str] = {
    pl.Boolean: "BOOLEAN",
    pl.Int8: "TINYINT",
    pl.Int16: "SMALLINT",
    pl.Int32: "INTEGER",
    pl.Int64: "BIGINT",
    pl.UInt8: "UTINYINT",
    pl.UInt16: "USMALLINT",
    pl.UInt32: "UINTEGER",
    pl.UInt64: "UBIGINT",
    pl.Float32: "FLOAT",
    pl.Float64: "DOUBLE",
    pl.Date: "DATE",
    pl.Time: "TIME",
}

#: Files that this process writes to now: whoever reads one of them goes through the same instance.
_WRITTEN: dict[Path, Any] = {}


def look(address: Address) -> Look:
    """A look at a table."""
    return _Reading(address)


def change(address: Address, overwrite: bool) -> Change:
    """A transaction that makes tables."""
    return _Transaction(address, overwrite)


class _Reading(Look):
    """A connection for every question, and none between them, so that the file can be written to."""

    def fields(self) -> tuple[Field, ...]:
        with self._connected() as connection:
            try:
                return _fields(connection, self.relation)
            except duckdb.Error as error:
                raise self.unanswered(_reason(error)) from None

    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self._connected() as connection:
            try:
                yield from _fetched(connection, statement, types)
            except duckdb.Error as error:
                raise self.unanswered(_reason(error)) from None

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        path = _existing(self.address)
        written = _WRITTEN.get(path)
        connection = _connect(self.address, path, read_only=True) if written is None else _beside(written)
        try:
            yield connection
        finally:
            connection.close()


class _Transaction(Change):
    """One connection, and one transaction that is undone unless it is committed."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        super().__init__(address, overwrite)
        self._path = _file(address)
        if not self._path.parent.is_dir():
            raise no_connection(address, "there is no such folder", f"mkdir -p {self._path.parent}")
        self._new = not self._path.exists()
        self._connection = _connect(address, self._path, read_only=False)
        _WRITTEN[self._path] = self._connection
        self._ended = weakref.finalize(self, _end, self._path, self._connection)
        self._turn = Lock()
        self._tell("BEGIN TRANSACTION")
        self._schema = address.schema or self._tell("SELECT current_schema()")[0][0]

    def existing(self, table: str) -> str | None:
        """The comment on whatever has this name in the schema."""
        where = f"schema_name = {sql.literal(self._schema)} AND {{}}_name = {sql.literal(table)}"
        tables = f"SELECT coalesce(comment, '') FROM duckdb_tables() WHERE {where.format('table')}"
        views = f"SELECT coalesce(comment, '') FROM duckdb_views() WHERE {where.format('view')}"
        found = self._tell(f"{tables} UNION ALL {views}")
        return str(found[0][0]) if found else None

    def create(self, table: str, schema: Mapping[str, pl.DataType]) -> None:
        """Make an empty table."""
        columns = ", ".join(f"{sql.name(name)} {_declared(dtype)}" for name, dtype in schema.items())
        self._tell(f"CREATE TABLE {self._named(table)} ({columns})")

    def append(self, table: str, rows: pl.DataFrame) -> None:
        """Insert rows, which DuckDB reads where they lie."""
        plain = rows.cast({pl.Categorical: pl.String, pl.Null: pl.String})
        self.refuse_bent(plain, lambda dtype: dtype)
        for start in range(0, plain.height, ROWS):
            part = plain.slice(start, ROWS)
            part.columns = [f"c{i}" for i in range(part.width)]  # whatever signs are in the names
            with self._turn, self._translated():
                self._connection.register("tarnkappe_rows", part.to_arrow(compat_level=pl.CompatLevel.oldest()))
                try:
                    self._connection.execute(f"INSERT INTO {self._named(table)} SELECT * FROM tarnkappe_rows")
                finally:
                    self._connection.unregister("tarnkappe_rows")

    def look(self, table: str) -> Look:
        """A look from inside the transaction."""
        return _Inside(self, Address(self.address.uri, self._schema, table))

    def commit(self) -> None:
        """Commit."""
        self._tell("COMMIT")
        self._new = False

    def close(self) -> None:
        """Close the file; DuckDB undoes what was not committed."""
        self._ended()
        if self._new:
            self._path.unlink(missing_ok=True)

    def _named(self, table: str) -> str:
        return sql.dotted(self._schema, table)

    def _tell(self, statement: str) -> list[tuple[Any, ...]]:
        with self._turn, self._translated():
            found: list[tuple[Any, ...]] = self._connection.execute(statement).fetchall()
            return found

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            if is_disk_full(error):
                raise LimitError("E701", "the disk of the database is full", where=self.address.shown) from None
            raise self.refused(_reason(error)) from None


class _Inside(Look):
    """A look from inside a transaction: one question at a time."""

    def __init__(self, transaction: _Transaction, address: Address) -> None:
        super().__init__(address)
        self._transaction = transaction

    def fields(self) -> tuple[Field, ...]:
        with self._transaction._turn, self._transaction._translated():
            return _fields(self._transaction._connection, self.relation)

    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self._transaction._turn, self._transaction._translated():
            yield from _fetched(self._transaction._connection, statement, types)


def _file(address: Address) -> Path:
    path = address.file
    assert path is not None
    return path.resolve()


def _existing(address: Address) -> Path:
    path = _file(address)
    if not path.is_file():
        raise no_connection(address, "there is no such file", f"Look what is there:  ls {path.parent}")
    return path


def _connect(address: Address, path: Path, *, read_only: bool) -> Any:
    try:
        connection = duckdb.connect(path, read_only=read_only)
        connection.execute("SET python_enable_replacements = false")  # a table is a table, not a variable of ours
        # A query sees the database that the job names: no other files, and nothing over the network.
        connection.execute("SET enable_external_access = false")
        return connection
    except duckdb.Error as error:
        said = str(error).lower()
        if "lock" in said or "different configuration" in said:
            reason, hint = "it is open elsewhere, and DuckDB lets one program write", "Close it there, then try again."
        elif "not a valid duckdb" in said:
            reason, hint = "the file is no DuckDB database", "Give the file that DuckDB wrote."
        else:
            reason, hint = "the file cannot be opened", f"Try it:  duckdb {path}"
        raise no_connection(address, reason, hint) from None


def _beside(written: Any) -> Any:
    """A connection that sees what was committed of a file that is being written to."""
    connection = written.cursor()
    connection.execute("SET python_enable_replacements = false")
    return connection


def _end(path: Path, connection: Any) -> None:
    _WRITTEN.pop(path, None)
    connection.close()


def _fields(connection: Any, relation: str) -> tuple[Field, ...]:
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
    return tuple(_field(row[0], row[1]) for row in described)


def _field(name: str, kind: str) -> Field:
    column = sql.name(name)
    if kind in _TYPES:
        return Field(name, column, _TYPES[kind])
    if kind in _MOMENTS:
        return Field(name, f"CASE WHEN isfinite({column}) THEN {column} END", _MOMENTS[kind])
    if kind in ("VARCHAR", "UUID") or kind.startswith("ENUM("):
        return Field(name, f"CAST({column} AS VARCHAR) COLLATE C", pl.String())
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", kind)
    if decimal is not None:
        return Field(name, column, pl.Decimal(int(decimal[1]), int(decimal[2])))
    return Field(name, column, pl.Object())


def _declared(dtype: pl.DataType) -> str:
    """What a column is declared as."""
    if isinstance(dtype, pl.Decimal):
        return f"DECIMAL({dtype.precision or 38},{dtype.scale})"
    if isinstance(dtype, pl.Datetime):
        return "TIMESTAMP_NS" if dtype.time_unit == "ns" else "TIMESTAMP"
    return _DECLARED.get(type(dtype), "VARCHAR")


def _fetched(connection: Any, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
    found = connection.sql(statement)
    reader = found.to_arrow_reader if hasattr(found, "to_arrow_reader") else found.fetch_arrow_reader  # before 1.4
    some = False
    for batch in reader(ROWS):
        some = True
        yield renamed(pl.DataFrame(batch), types)
    if not some:
        yield pl.DataFrame(schema=dict(types))


def _reason(error: Exception) -> str:
    """What an error says, without its words, which may quote values."""
    kinds = {
        "CatalogException": "there is no such table, or it is a view",
        "BinderException": "it names something that does not exist",
        "ParserException": "it is no valid SQL",
        "ConversionException": "a value cannot be converted",
        "InvalidInputException": "a value, or the statement, is not accepted",
        "DependencyException": "something depends on it",
        "TransactionException": "it was changed by another program meanwhile",
        "OutOfMemoryException": "it needs more memory than there is",
        "IOException": "the file cannot be read or written",
    }
    return kinds.get(type(error).__name__, "it cannot be done")
