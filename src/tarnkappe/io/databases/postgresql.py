"""PostgreSQL through ADBC: rows travel as Arrow, by binary ``COPY``."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import adbc_driver_manager
import adbc_driver_postgresql.dbapi as adbc
import polars as pl
import pyarrow as pa

from tarnkappe.errors import DataError, LimitError, TarnkappeError
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import ROWS, Change, Field, Look, Run, no_connection, renamed
from tarnkappe.io.databases.postgresql_types import declared, fields_of, sent_as

#: The longest name in bytes; longer ones are cut off by the server.
_LONGEST_NAME = 63

#: How long to wait for others to let go of a table that is to be replaced.
_PATIENCE = "60s"

#: What the server may keep in memory while it groups; its usual 4 MB make it sort everything on disk.
_TO_COUNT = "128MB"

_MORE_MEMORY = (
    f"SELECT set_config('work_mem', {sql.literal(_TO_COUNT)}, true) "
    f"WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes({sql.literal(_TO_COUNT)})"
)

#: To compile statements as plain as ours takes longer than it saves; servers before 11 do not do it.
_UNCOMPILED = "SELECT set_config(name, 'off', true) FROM pg_settings WHERE name = 'jit'"

#: Rows of a sample. If there is a different row for every so many, they are better counted here than there, where one
#: process looks for them in a table that no cache holds, and what comes over the wire is much in any case.
_SAMPLE, _ALIKE = 1 << 17, 32

_READ_ONLY = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def look(address: Address) -> Look:
    """A look at a table that does not change while others write."""
    return _Snapshot(address)


def change(address: Address, overwrite: bool) -> Change:
    """A transaction that makes tables."""
    return _Transaction(address, overwrite)


class _Snapshot(Look):
    """What the database was when it was first asked; any number of connections see the same."""

    def __init__(self, address: Address) -> None:
        super().__init__(address)
        self._uri = address.connection_uri()
        self._first = _connect(address, self._uri)
        #: Connections that see the same, and have nothing to do now.
        self._idle: list[Any] = []
        self._ended = weakref.finalize(self, _close, self._first, self._idle)
        _told(self._first, _READ_ONLY)
        self._snapshot: str | None = None
        try:
            self._snapshot = str(_told(self._first, "SELECT pg_export_snapshot()"))
        except adbc_driver_manager.Error:  # behind a pooler, or on a replica: every connection has a look of its own
            _told(self._first, "ROLLBACK")

    def fields(self) -> tuple[Field, ...]:
        with self._cursor() as cursor:
            return fields_of(cursor, self.relation)

    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self._cursor() as cursor:
            yield from _fetched(cursor, statement, types)

    @contextmanager
    def _cursor(self) -> Iterator[Any]:
        connection = self._idle.pop() if self._idle else self._connected()
        try:
            with connection.cursor() as cursor:
                yield cursor
        except adbc_driver_manager.Error as error:
            _close(connection)
            raise self.unanswered(_reason(error)) from None
        except BaseException:  # whoever asked has not heard all of the answer
            _close(connection)
            raise
        self._idle.append(connection)

    def better_sent(self, expressions: Sequence[str], n_rows: int) -> bool:
        if self.address.query is not None or n_rows < 8 * _SAMPLE:
            return False
        some = f"{self.relation} TABLESAMPLE SYSTEM ({100 * _SAMPLE / n_rows:.6f}) REPEATABLE (1)"
        found = f"SELECT n, count(*) AS m FROM ({sql.grouped(expressions, some)}) AS sampled GROUP BY n"
        try:
            told = pl.concat(self.batches(found, {"n": pl.Int64(), "m": pl.Int64()}))
        except DataError:  # a view, or a table that is elsewhere: such have no samples
            return False
        once, twice = (int(told.filter(pl.col("n") == n)["m"].sum()) for n in (1, 2))
        different = int(told["m"].sum()) + once * once // (2 * max(twice, 1))  # at least, as Chao estimates it
        return different * _ALIKE >= n_rows

    def close(self) -> None:
        self._ended()

    def _connected(self) -> Any:
        connection = _connect(self.address, self._uri)
        try:
            _told(connection, _READ_ONLY)
            if self._snapshot is not None:
                _told(connection, f"SET TRANSACTION SNAPSHOT {sql.literal(self._snapshot)}")
            _told(connection, _MORE_MEMORY)
            _told(connection, _UNCOMPILED)
            _told(connection, "SET LOCAL synchronize_seqscans = off")  # rows come in the order in which they lie
        except adbc_driver_manager.Error as error:
            _close(connection)
            raise self.unanswered(_reason(error)) from None
        return connection


class _Transaction(Change):
    """One connection and one transaction; the server undoes it if the connection breaks."""

    def __init__(self, address: Address, overwrite: bool) -> None:
        super().__init__(address, overwrite)
        self._connection = _connect(address, address.connection_uri())
        self._ended = weakref.finalize(self, _close, self._connection)
        self._turn = Lock()
        self._tell("BEGIN")
        self._tell(f"SET LOCAL lock_timeout = {sql.literal(_PATIENCE)}")
        self._tell(_MORE_MEMORY)
        self._tell(_UNCOMPILED)
        self._schema = address.schema or self._tell("SELECT current_schema()::text")
        if self._schema is None:
            raise self.refused("no schema was named, and none is searched", "schema: public")

    def existing(self, table: str) -> str | None:
        """The comment on whatever has this name in the schema."""
        found = self._tell(
            "SELECT coalesce(obj_description(c.oid, 'pg_class'), '') FROM pg_catalog.pg_class c "
            "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
            f"WHERE n.nspname = {sql.literal(str(self._schema))} AND c.relname = {sql.literal(table)}"
        )
        return None if found is None else str(found)

    def create(self, table: str, schema: Mapping[str, pl.DataType]) -> None:
        """Make an empty table."""
        self._refuse_long(schema)
        self._tell(f"CREATE TABLE {self._named(table)} ({declared(schema)})")

    def create_of_runs(self, table: str, runs: Iterable[Run]) -> None:
        """Send every row once, into a table that never appears, and let the server write out the records."""
        hidden, names = f"{table}-runs", list[str]()
        for rows, count in runs:
            sent = rows.rename({name: f"c{i}" for i, name in enumerate(rows.columns)}).with_columns(n=pl.Series(count))
            if not names:
                names = rows.columns
                self._refuse_long(rows.schema)
                self._tell(f"CREATE UNLOGGED TABLE {self._named(hidden)} ({declared(sent.schema)})")
            self.append(hidden, sent)
        named = ", ".join(f"c{i} AS {sql.name(name)}" for i, name in enumerate(names))
        records = f"(SELECT *, generate_series(1, n) FROM {self._named(hidden)}) AS records"
        self._tell(f"CREATE TABLE {self._named(table)} AS SELECT {named} FROM {records}")
        self._tell(f"DROP TABLE {self._named(hidden)}")
        # What is alike lies together: processes that count side by side hardly meet the same rows, which none foresees.
        self._tell("SET LOCAL parallel_setup_cost = 0")
        self._tell("SET LOCAL parallel_tuple_cost = 0")

    def append(self, table: str, rows: pl.DataFrame) -> None:
        """Send rows by binary ``COPY``."""

        def sent(start: int) -> pa.Table:  # some rows at a time: as texts they take far more memory
            part = rows.slice(start, ROWS)
            told = [pl.col(name).cast(sent_as(dtype)) for name, dtype in rows.schema.items()]
            return part.select(told).to_arrow(compat_level=pl.CompatLevel.oldest())

        self.refuse_bent(rows, sent_as)
        schema = sent(rows.height).schema
        parts = (batch for start in range(0, rows.height, ROWS) for batch in sent(start).to_batches())
        with self._turn, self._translated(), self._connection.cursor() as cursor:
            reader = pa.RecordBatchReader.from_batches(schema, parts)
            cursor.adbc_ingest(table, reader, mode="append", db_schema_name=self._schema)

    def look(self, table: str) -> Look:
        """A look from inside the transaction."""
        return _Inside(self, Address(self.address.uri, self._schema, table))

    def commit(self) -> None:
        """Commit."""
        self._tell("COMMIT")

    def close(self) -> None:
        """Break the connection: the server undoes what was not committed."""
        self._ended()

    def _named(self, table: str) -> str:
        return sql.dotted(self._schema, table)

    def _tell(self, statement: str) -> Any:
        with self._turn, self._translated():
            return _told(self._connection, statement)

    def _translated(self) -> _Translated:
        return _Translated(self)

    def _refuse_long(self, names: Mapping[str, Any]) -> None:
        long = next((n for n in (self.address.name, *names) if len(n.encode()) > _LONGEST_NAME), None)
        if long is not None:
            raise DataError(
                "E469",
                f"PostgreSQL cuts off names after {_LONGEST_NAME} bytes, and '{long}' is longer",
                where=self.address.shown,
                hint="Rename it, or write to a folder:  output: {folder: release}",
            )


class _Inside(Look):
    """A look from inside a transaction: one question at a time."""

    def __init__(self, transaction: _Transaction, address: Address) -> None:
        super().__init__(address)
        self._transaction = transaction

    def fields(self) -> tuple[Field, ...]:
        with self._transaction._turn, self._transaction._translated(), self._transaction._connection.cursor() as cursor:
            return fields_of(cursor, self.relation)

    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        with self._transaction._turn, self._transaction._translated(), self._transaction._connection.cursor() as cursor:
            yield from _fetched(cursor, statement, types)


class _Translated:
    """Lets errors of the server speak our words."""

    def __init__(self, transaction: _Transaction) -> None:
        self._transaction = transaction

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, adbc_driver_manager.Error):
            raise _unwritten(self._transaction, error) from None


def _connect(address: Address, uri: str) -> Any:
    try:
        return adbc.connect(uri, autocommit=True)
    except adbc_driver_manager.Error as error:
        said = str(error).lower()
        # The library's own words may repeat parts of the address, so they are told apart, not repeated.
        for words, reason, hint in _NO_CONNECTION:
            if words in said:
                raise no_connection(address, reason, hint) from None
        raise no_connection(
            address, "the server does not let us in", "Try it with  psql  and the same address."
        ) from None


_NO_CONNECTION = (
    ("password authentication failed", "the password is wrong, or the user unknown", "export PGPASSWORD=…"),
    ("no password supplied", "it asks for a password", "export PGPASSWORD=…   or write one into  ~/.pgpass"),
    ("connection refused", "nobody listens there", "Start the server, or correct host and port:  pg_isready"),
    ("no such file or directory", "nobody listens on that socket", "Start the server, or name its host:  pg_isready"),
    ("could not translate host name", "no host has that name", "Correct the host in the address."),
    ("definition of service", "there is no such service", "Describe it in  ~/.pg_service.conf"),
    ("invalid uri", "the address is not one that PostgreSQL understands", "postgresql://USER@HOST:5432/DATABASE"),
    ("invalid connection option", "the address has a setting that is not known", "postgresql://USER@HOST/DATABASE"),
    ("role", "it has no such user", "Name the user in the address:  postgresql://USER@HOST/DATABASE"),
    ("does not exist", "it has no database of that name", "Look which there are:  psql -l"),
    ("timeout", "it does not answer", "Correct host and port, or ask whether a firewall is between:  pg_isready"),
    ("pg_hba", "the server does not let this user in from here", "Ask its administrator for a line in pg_hba.conf."),
)


def _close(connection: Any, others: Sequence[Any] = ()) -> None:
    for one in (connection, *others):
        one.close()


def _told(connection: Any, statement: str) -> Any:
    """Carry out a statement; the first value that it finds, if it finds any."""
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return None if row is None else row[0]


def _fetched(cursor: Any, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
    cursor.execute(statement)
    some = False
    for batch in cursor.fetch_record_batch():
        some = True
        yield renamed(pl.DataFrame(batch), types)
    if not some:
        yield pl.DataFrame(schema=dict(types))


_REASONS = {
    "42P01": "there is no such table",
    "3F000": "there is no such schema",
    "42501": "permission denied",
    "42601": "it is no valid SQL",
    "42703": "it names a column that does not exist",
    "42883": "it uses a function that does not exist",
    "25006": "it would change data",
    "57014": "it was cancelled, or took too long",
    "22012": "it divides by zero",
    "0A000": "the database cannot do this",
    "55P03": "others hold on to the table",
    "2BP01": "views or other tables depend on it",
    "42P07": "a table of that name was made meanwhile",
    "42809": "it is a view, not a table",
    "22021": "a text has a sign that PostgreSQL cannot hold",
    "22P05": "a text has a sign that PostgreSQL cannot hold",
}


def _reason(error: Any) -> str:
    """What an error of the server says, without its words, which may quote values."""
    state = str(getattr(error, "sqlstate", None) or "")
    return _REASONS.get(state, f"error {state} of the server" if state else "the connection broke")


def _unwritten(transaction: _Transaction, error: Any) -> TarnkappeError:
    state = str(getattr(error, "sqlstate", None) or "")
    if state == "53100":
        return LimitError(
            "E701", "the disk of the database is full; nothing was changed", where=transaction.address.shown
        )
    if state == "2BP01":
        return transaction.refused(_reason(error), "Drop what depends on it first, or name another table.")
    return transaction.refused(_reason(error))
