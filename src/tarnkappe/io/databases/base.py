"""What Tarnkappe asks of a database: a consistent look at a table, and one transaction to write in."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars.io.plugins import register_io_source

from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address

#: How the comment of a table begins that we have written.
MARK = "Tarnkappe release"

#: Rows that are handed over at a time.
ROWS = 1 << 17


@dataclass(frozen=True)
class Field:
    """A column: how to ask for it, and the type in which its values arrive."""

    name: str
    #: Asks for the values so that those are equal, to the database too, that are equal to us.
    expression: str
    dtype: pl.DataType


class Look(ABC):
    """A look at one table, or at what one query finds, that does not change while others write."""

    def __init__(self, address: Address) -> None:
        """Connect."""
        self.address = address
        if address.query is not None:
            self.relation = f"({address.query.strip().rstrip(';')}\n) AS asked"
        else:
            self.relation = sql.dotted(address.schema, address.name)

    @abstractmethod
    def fields(self) -> tuple[Field, ...]:
        """The columns in their order."""

    @abstractmethod
    def batches(self, statement: str, types: Mapping[str, pl.DataType]) -> Iterator[pl.DataFrame]:
        """What a statement finds, some rows at a time, in columns of these names and types."""

    def n_rows(self) -> int:
        """The number of rows."""
        found = list(self.batches(f"SELECT count(*) AS n FROM {self.relation}", {"n": pl.Int64()}))
        return int(pl.concat(found).item())

    def better_sent(self, expressions: Sequence[str], n_rows: int) -> bool:
        """Whether so many rows differ that they are counted sooner if all of them are sent."""
        return False

    def close(self) -> None:
        """End it."""
        return

    def unanswered(self, reason: str) -> DataError:
        """The error about a table or query that the database does not answer about."""
        if self.address.query is not None:
            return DataError(
                "E465",
                f"{self.address.title} does not take the query: {reason}",
                where=self.address.shown,
                hint="Give one SELECT without a semicolon, and try it in the database's own client first.",
            )
        return DataError(
            "E464",
            f"'{self.address.name}' cannot be read: {reason}",
            where=self.address.shown,
            hint=f"Look which tables there are, and in which schema:  {_listing(self.address)}",
        )


def _listing(address: Address) -> str:
    """A command that lists the tables of a database; a password is no part of any address."""
    if address.kind == "postgresql":
        return rf"""psql "{address.uri}" -c '\dt *.*'"""
    file = str(address.file)
    if address.kind == "sqlite":
        return f"sqlite3 {quote(file)} .tables"
    asked = f"import duckdb; print(duckdb.connect({file!r}).sql('SHOW ALL TABLES'))"
    plain = file.isprintable() and not set(file) & set("\"'$`\\!")
    return f'python -c "{asked}"' if plain else f"python -c {quote(asked)}"


#: Some rows, and how often each occurs.
Run = tuple[pl.DataFrame, NDArray[np.int64]]


class Change(ABC):
    """One transaction that makes tables: nobody sees any of them before it is committed, and nobody if it is not."""

    #: What a column of a type is declared as.
    def __init__(self, address: Address, overwrite: bool) -> None:
        """Connect and begin."""
        self.address, self.overwrite = address, overwrite

    @abstractmethod
    def existing(self, table: str) -> str | None:
        """The comment of a table that is there already, which may be empty; None if there is none."""

    @abstractmethod
    def create(self, table: str, schema: Mapping[str, pl.DataType]) -> None:
        """Make an empty table."""

    @abstractmethod
    def append(self, table: str, rows: pl.DataFrame) -> None:
        """Append rows to a table that was made here."""

    @abstractmethod
    def look(self, table: str) -> Look:
        """A look at a table that was made here, from inside the transaction."""

    @abstractmethod
    def _named(self, table: str) -> str:
        """A table as statements call it."""

    @abstractmethod
    def _tell(self, statement: str) -> Any:
        """Carry out a statement."""

    def rename(self, table: str, final: str, comment: str) -> None:
        """Let a table that was made here take the place of one with the final name, and say what it is."""
        if self.existing(final) is not None:
            self._tell(f"DROP TABLE {self._named(final)}")
        self._tell(f"ALTER TABLE {self._named(table)} RENAME TO {sql.name(final)}")
        self._describe(final, comment)

    def _describe(self, table: str, comment: str) -> None:
        """Say what a table is."""
        self._tell(f"COMMENT ON TABLE {self._named(table)} IS {sql.literal(comment)}")

    @abstractmethod
    def commit(self) -> None:
        """Let everybody see what was made."""

    @abstractmethod
    def close(self) -> None:
        """End it; what was not committed is gone."""

    def refuse_bent(self, rows: pl.DataFrame, sent_as: Callable[[pl.DataType], pl.DataType]) -> None:
        """Refuse values that columns of the database have no room for, before any are sent."""
        for name, dtype in rows.schema.items():
            given, sent = rows[name], sent_as(dtype)
            if dtype == sent == pl.Time:
                bent = bool((given.dt.nanosecond() % 1000 != 0).any())
            else:
                bent = sent not in (dtype, pl.String) and not given.cast(sent, strict=False).cast(
                    dtype, strict=False
                ).equals(given)
            if bent:
                raise DataError(
                    "E475",
                    f"column '{name}' has values that {self.address.title} cannot hold as they are",
                    where=self.address.shown,
                    hint="Write the release to a folder:  output: {folder: release, format: parquet}",
                )

    def refused(self, reason: str, hint: str | None = None) -> TarnkappeError:
        """The error about a table that cannot be written."""
        return DataError(
            "E467",
            f"{self.address.title} does not let '{self.address.name}' be written: {reason}",
            where=self.address.shown,
            hint=hint or "Nothing was changed. Ask for the right to create tables there, or name another table.",
        )


@runtime_checkable
class TakesRuns(Protocol):
    """A change whose database writes out rows that are alike, if it is told how many there are."""

    def create_of_runs(self, table: str, runs: Iterable[Run]) -> None:
        """Make a table of rows, each as often as is said."""


def require(package: str, address: Address) -> None:
    """Say which line installs the client library of a database, if it is not there."""
    if importlib.util.find_spec(package) is None:
        raise DataError(
            "E460",
            f"what reads and writes {address.title} is not installed",
            where=address.shown,
            hint=f"pip install 'tarnkappe[{address.kind}]'",
        )


def no_connection(address: Address, reason: str, hint: str) -> DataError:
    """The error about a database that cannot be opened."""
    return DataError("E463", f"{address.title} cannot be opened: {reason}", where=address.shown, hint=hint)


def renamed(frame: pl.DataFrame, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """What a database sent, by the names and in the types that were asked for; moments are told in UTC."""
    out = []
    for series, (name, wanted) in zip(frame, types.items(), strict=True):
        values = series
        if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None:
            values = values.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        out.append((values if values.dtype == wanted else values.cast(wanted)).alias(name))
    return pl.DataFrame(out)


def lazily(
    types: Mapping[str, pl.DataType], batches: Callable[[Sequence[str]], Iterator[pl.DataFrame]], n_rows: int
) -> pl.LazyFrame:
    """Rows that are fetched when Polars wants them; `batches` gets the columns that it wants."""
    schema = pl.Schema(dict(types))

    def arriving(
        with_columns: list[str] | None, predicate: pl.Expr | None, wanted: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        left = n_rows if wanted is None else wanted
        for batch in batches(list(types) if with_columns is None else with_columns):
            if left <= 0:
                return
            some = batch.head(left)
            left -= some.height
            yield some if predicate is None else some.filter(predicate)

    return register_io_source(arriving, schema=schema)


def look_at(address: Address) -> Look:
    """A look at a table, whatever database it is in."""
    backend: Any = _backend(address)
    look: Look = backend.look(address)
    return look


def change(address: Address, overwrite: bool) -> Change:
    """A transaction that makes tables, whatever database they are for."""
    backend: Any = _backend(address)
    made: Change = backend.change(address, overwrite)
    return made


def _backend(address: Address) -> Any:
    if address.kind == "postgresql":
        require("adbc_driver_postgresql", address)
        from tarnkappe.io.databases import postgresql

        return postgresql
    if address.kind == "duckdb":
        require("duckdb", address)
        from tarnkappe.io.databases import duckdbfile

        return duckdbfile
    from tarnkappe.io.databases import sqlitefile

    return sqlitefile
