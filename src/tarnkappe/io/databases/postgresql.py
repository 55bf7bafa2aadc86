"""PostgreSQL through ADBC: rows travel as Arrow, by binary ``COPY``."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
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
from tarnkappe.io.databases.base import ROWS, Change, Field, Look, no_connection, renamed

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

#: Moments; those that are not finite stand for "unknown" or "never", and are missing values.
_MOMENTS: dict[str, pl.DataType] = {"date": pl.Date(), "timestamp": pl.Datetime("us"), "timestamptz": pl.Datetime("us")}

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
            return _fields(cursor, self.relation)

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

    def close(self) -> None:
        self._ended()

    def _connected(self) -> Any:
        connection = _connect(self.address, self._uri)
        try:
            _told(connection, _READ_ONLY)
            if self._snapshot is not None:
                _told(connection, f"SET TRANSACTION SNAPSHOT {sql.literal(self._snapshot)}")
            _told(connection, _MORE_MEMORY)
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
        columns = ", ".join(f"{sql.name(name)} {_declared(dtype)}" for name, dtype in schema.items())
        self._tell(f"CREATE TABLE {self._named(table)} ({columns})")

    def append(self, table: str, rows: pl.DataFrame) -> None:
        """Send rows by binary ``COPY``."""

        def sent(start: int) -> pa.Table:  # some rows at a time: as texts they take far more memory
            part = rows.slice(start, ROWS)
            told = [pl.col(name).cast(_sent(dtype)) for name, dtype in rows.schema.items()]
            return part.select(told).to_arrow(compat_level=pl.CompatLevel.oldest())

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
            return _fields(cursor, self.relation)

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


def _fields(cursor: Any, relation: str) -> tuple[Field, ...]:
    schema = cursor.adbc_execute_schema(f"SELECT * FROM {relation}")
    return tuple(_field(field, kind) for field, kind in zip(schema, _kinds(cursor, schema), strict=True))


def _kinds(cursor: Any, schema: pa.Schema) -> list[tuple[str, int]]:
    """The type of every column, those that domains and lists of values are made of, with its precision."""
    told = [((field.metadata or {}).get(b"POSTGRESQL:type", b"").decode(), field.metadata or {}) for field in schema]
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


def _field(field: pa.Field, told: tuple[str, int]) -> Field:
    kind, modifier = told
    column = sql.name(field.name)
    if kind in _PLAIN:
        return Field(field.name, column, _PLAIN[kind])
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


def _declared(dtype: pl.DataType) -> str:
    """What a column is declared as."""
    if isinstance(dtype, pl.Decimal):
        return f"numeric({dtype.precision or 38},{dtype.scale})"
    return _DECLARED.get(type(dtype), "text")


def _sent(dtype: pl.DataType) -> pl.DataType:
    """The type in which values of a column are sent."""
    if _declared(dtype) != "text":
        return _SENT.get(type(dtype), dtype)
    return dtype if isinstance(dtype, pl.Categorical) else pl.String()  # categories are written out by the library


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
