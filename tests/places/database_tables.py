"""Tables in databases, put there and looked at by the databases' own libraries."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import polars as pl

KINDS = ("postgresql", "duckdb", "sqlite")


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True)
class Database:
    """A database of a kind; in PostgreSQL a schema of one."""

    kind: str
    uri: str
    schema: str | None = None

    def address(self, table: str) -> str:
        from tarnkappe.io.databases import Address

        return Address(self.uri, self.schema, table).text

    def put(self, table: str, rows: pl.DataFrame) -> None:
        """Make a table of rows, with types as they are."""
        if self.kind == "postgresql":
            import adbc_driver_postgresql.dbapi as adbc

            with adbc.connect(self.uri) as connection, connection.cursor() as cursor:
                cursor.adbc_ingest(table, rows.to_arrow(), mode="create", db_schema_name=self.schema)
                connection.commit()
        elif self.kind == "duckdb":
            import duckdb

            with duckdb.connect(self._file) as connection:
                connection.register("given", rows.to_arrow())
                connection.execute(f"CREATE TABLE {quoted(table)} AS SELECT * FROM given")
        else:
            names = ", ".join(map(quoted, rows.columns))
            plain = rows.with_columns(pl.selectors.temporal().cast(pl.String), pl.selectors.boolean().cast(pl.Int8))
            with closing(sqlite3.connect(self._file)) as connection:
                connection.execute(f"CREATE TABLE {quoted(table)} ({names})")
                marks = ", ".join("?" * rows.width)
                connection.executemany(f"INSERT INTO {quoted(table)} VALUES ({marks})", plain.rows())
                connection.commit()

    def ask(self, statement: str) -> list[tuple[Any, ...]]:
        """What a statement finds; changes are kept."""
        if self.kind == "postgresql":
            import adbc_driver_postgresql.dbapi as adbc

            with adbc.connect(self.uri, autocommit=True) as connection, connection.cursor() as cursor:
                cursor.execute(f"SET search_path TO {self.schema}")
                cursor.adbc_statement.set_options(**{"adbc.postgresql.use_copy": "false"})  # EXPLAIN cannot be copied
                cursor.execute(statement)
                return list(cursor.fetchall()) if cursor.description else []
        if self.kind == "duckdb":
            import duckdb

            with duckdb.connect(self._file) as connection:
                return list(connection.execute(statement).fetchall())
        with closing(sqlite3.connect(self._file)) as connection:
            found = connection.execute(statement).fetchall()
            connection.commit()
            return found

    def tables(self) -> set[str]:
        """The names of all tables."""
        statement = {
            "postgresql": f"SELECT tablename::text FROM pg_tables WHERE schemaname = '{self.schema}'",
            "duckdb": "SELECT table_name FROM duckdb_tables()",
            "sqlite": "SELECT name FROM sqlite_schema WHERE type = 'table'",
        }[self.kind]
        return {row[0] for row in self.ask(statement)}

    def rows(self, table: str) -> list[tuple[Any, ...]]:
        """All rows of a table in its order."""
        return self.ask(f"SELECT * FROM {quoted(table)}")

    @property
    def _file(self) -> str:
        return self.uri.split(":///", 1)[1]


def fresh_schema(uri: str) -> Database:
    """An empty schema of a PostgreSQL."""
    made = Database("postgresql", uri, f"s{uuid4().hex[:12]}")
    Database("postgresql", uri, "public").ask(f"CREATE SCHEMA {made.schema}")
    return made
