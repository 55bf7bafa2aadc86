"""SQLite: a database in one file, through the library that comes with Python.

Columns of SQLite hold values of any kind, whatever they are declared as. So the values decide: if all of them are
whole numbers, or all of them numbers, they are read as such, and else as texts.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl
import polars.selectors as cs

from tarnkappe.errors import LimitError, TarnkappeError
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import MARK, ROWS, Change, Field, Look, no_connection
from tarnkappe.io.texts import as_text

#: What comes before the comment on a table, which SQLite keeps with the statement that made it.
_COMMENT = "-- "

#: Seconds to wait for others to let go of the file.
_PATIENCE = 30

#: Files that this process writes to now: whoever reads one of them takes the same connection, or would wait for it.
_WRITTEN: dict[Path, sqlite3.Connection] = {}


def look(address: Address) -> Look:
    """A look at a table."""
    return _Reading(address)


def change(address: Address, overwrite: bool) -> Change:
    """A transaction that makes tables."""
    return _Transaction(address, overwrite)


class _Reading(Look):
    """A connection for every question, and none between them."""

    def fields(self) -> tuple[Field, ...]:
        with self._connected() as connection:
            return _fields(connection, self.relation)

    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self._connected() as connection:
            yield from _fetched(connection, statement, types)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        path = _file(self.address)
        written = _WRITTEN.get(path)
        try:
            if written is not None:
                yield written
                return
            if not path.is_file():
                raise no_connection(self.address, "there is no such file", f"Look what is there:  ls {path.parent}")
            # What a killed program left is undone by whoever opens the file next, and that takes the right to write.
            connection = _connect(path, "rw" if os.access(path, os.W_OK) else "ro")
            connection.execute("PRAGMA query_only = ON")
            try:
                yield connection
            finally:
                connection.close()
        except sqlite3.Error as error:
            if "not a database" in str(error):
                raise no_connection(self.address, "the file is no SQLite database", "Give the file itself.") from None
            raise self.unanswered(_reason(error)) from None


class _Transaction(Change):
    """One connection, and one transaction; the journal undoes it if it is not committed."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        super().__init__(address, overwrite)
        self._path = _file(address)
        if not self._path.parent.is_dir():
            raise no_connection(address, "there is no such folder", f"mkdir -p {self._path.parent}")
        self._new = not self._path.exists()
        if address.schema is not None:
            raise self.refused("SQLite has no schemas", "Leave out  schema:  in the output.")
        with self._translated():
            self._connection = _connect(self._path, "rwc")
            self._ended = weakref.finalize(self, _end, self._path, self._connection)
            self._turn = Lock()
            self._connection.execute("BEGIN IMMEDIATE")
        _WRITTEN[self._path] = self._connection

    def existing(self, table: str) -> str | None:
        """What the statement says that made the table."""
        asked = "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name = ? COLLATE NOCASE"
        with self._turn, self._translated():
            found = self._connection.execute(asked, (table,)).fetchone()
        if found is None:
            return None
        made = str(found[0])
        return made[made.rfind(_COMMENT + MARK) + len(_COMMENT) :] if _COMMENT + MARK in made else ""

    def create(self, table: str, schema: Mapping[str, pl.DataType]) -> None:
        """Make an empty table; what SQLite calls a comment is part of its statement."""
        columns = ",\n  ".join(f"{sql.name(name)} {_declared(dtype)}" for name, dtype in schema.items())
        self._tell(f"CREATE TABLE {sql.name(table)} (\n  {columns}\n  {_COMMENT}{MARK}\n)")

    def append(self, table: str, rows: pl.DataFrame) -> None:
        """Insert rows, some at a time."""
        self.refuse_bent(rows, _sent_as)
        plain = rows.with_columns(as_text(cs.time(), pl.Time())).select(
            pl.col(name).cast(_sent_as(dtype)) for name, dtype in rows.schema.items()
        )
        marks = ", ".join("?" * plain.width)
        for start in range(0, plain.height, ROWS):
            with self._turn, self._translated():
                some = plain.slice(start, ROWS).rows()
                self._connection.executemany(f"INSERT INTO {sql.name(table)} VALUES ({marks})", some)

    def look(self, table: str) -> Look:
        """A look from inside the transaction."""
        return _Reading(Address(self.address.uri, None, table))

    def _describe(self, table: str, comment: str) -> None:
        """Nothing: that it is a release was said when it was made."""

    def commit(self) -> None:
        """Commit."""
        self._tell("COMMIT")
        self._new = False

    def close(self) -> None:
        """Close the file; SQLite undoes what was not committed."""
        self._ended()
        if self._new:
            self._path.unlink(missing_ok=True)

    def _named(self, table: str) -> str:
        return sql.name(table)

    def _tell(self, statement: str) -> None:
        with self._turn, self._translated():
            self._connection.execute(statement)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise self._told(error) from None

    def _told(self, error: sqlite3.Error) -> TarnkappeError:
        if error.sqlite_errorname == "SQLITE_FULL":
            return LimitError("E701", "the disk of the database is full; nothing was changed", where=self.address.shown)
        return self.refused(_reason(error))


def _file(address: Address) -> Path:
    path = address.file
    assert path is not None
    return path.resolve()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"{path.as_uri()}?mode={mode}"
    # Polars reads in threads of its own; SQLite lets them take turns.
    return sqlite3.connect(uri, uri=True, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)


def _end(path: Path, connection: sqlite3.Connection) -> None:
    if _WRITTEN.get(path) is connection:
        del _WRITTEN[path]
    connection.close()


def _fields(connection: sqlite3.Connection, relation: str) -> tuple[Field, ...]:
    names = [told[0] for told in connection.execute(f"SELECT * FROM {relation} LIMIT 0").description]
    kinds = ("integer", "real", "text", "blob")
    asked = ", ".join(f"max(typeof({sql.name(name)}) = '{kind}')" for name in dict.fromkeys(names) for kind in kinds)
    found = connection.execute(f"SELECT {asked} FROM {relation}").fetchone()
    has = {name: set() for name in names}  # type: dict[str, set[str]]
    for i, name in enumerate(dict.fromkeys(names)):
        has[name] = {kind for j, kind in enumerate(kinds) if found[i * len(kinds) + j]}
    return tuple(_field(name, has[name]) for name in names)


def _field(name: str, kinds: set[str]) -> Field:
    column = sql.name(name)
    if "blob" in kinds:
        return Field(name, column, pl.Binary())
    if kinds == {"integer"}:
        return Field(name, column, pl.Int64())
    if kinds and kinds <= {"integer", "real"}:
        return Field(name, f"CAST({column} AS REAL)", pl.Float64())
    return Field(name, f"CAST({column} AS TEXT) COLLATE BINARY", pl.String())


def _declared(dtype: pl.DataType) -> str:
    """What a column is declared as."""
    if dtype.is_integer() or dtype == pl.Boolean:
        return "INTEGER"
    return "REAL" if dtype.is_float() or dtype.is_decimal() else "TEXT"


def _sent_as(dtype: pl.DataType) -> pl.DataType:
    """The type in which values of a column are sent: days and hours are texts in SQLite."""
    return {"INTEGER": pl.Int64(), "REAL": pl.Float64(), "TEXT": pl.String()}[_declared(dtype)]


def _fetched(
    connection: sqlite3.Connection, statement: str, types: Mapping[str, pl.DataType]
) -> Iterator[pl.DataFrame]:
    cursor = connection.cursor()
    cursor.execute(statement)
    some = False
    while rows := cursor.fetchmany(ROWS):
        some = True
        yield pl.DataFrame(rows, schema=dict(types), orient="row")
    if not some:
        yield pl.DataFrame(schema=dict(types))


def _reason(error: sqlite3.Error) -> str:
    """What an error says, without its words, which may quote values."""
    said: Any = str(error)
    for words, reason in (
        ("no such table", "there is no such table"),
        ("no such column", "it names a column that does not exist"),
        ("locked", "another program holds on to the file"),
        ("syntax error", "it is no valid SQL"),
        ("readonly", "permission denied"),
        ("unable to open", "the file cannot be opened"),
        ("UTF-8", "a text is not UTF-8"),
        ("malformed", "the file is damaged"),
        ("view", "it is a view, not a table"),
    ):
        if words in said:
            return reason
    return "it cannot be done"
