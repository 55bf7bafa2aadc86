"""A table of a database as a source: distinct rows are counted where they lie, all else is streamed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import polars as pl

from tarnkappe.errors import TarnkappeError
from tarnkappe.io.base import Source
from tarnkappe.io.cells import Cells, Counted, Step, count_rows
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import Look, lazily, look_at
from tarnkappe.io.databases.counts import counting, digest_of_counts
from tarnkappe.io.headers import check_columns

#: What the digest of a released table is of, as manifests say it.
OF_ROWS, OF_COUNTS = "rows in their order", "distinct rows and their counts"


class DatabaseSource(Source):
    """The rows of a table, as they were when it was opened."""

    def __init__(self, address: Address, missing: tuple[str, ...], look: Look | None = None) -> None:
        """Ask for the columns and the number of rows."""
        self.address = address
        self._look = look_at(address) if look is None else look
        fields = self._look.fields()
        check_columns([field.name for field in fields], address.name)
        self._fields = {field.name: field for field in fields}
        #: An error of ours that Polars met while it read, and would hide behind one of its own.
        self._met: TarnkappeError | None = None
        self._digest: str | None = None
        #: What its digest is of, if this is the table of a release.
        self.digested: str | None = None
        super().__init__(address.name, list(self._fields), self._look.n_rows(), missing)

    @property
    def format(self) -> str:
        """Which database the table is in."""
        what = "query" if self.address.query is not None else "table"
        return f"{what} in {self.address.shown}"

    @cached_property
    def sha256(self) -> str:
        """The digest of the rows.

        Of a release it is the one that its manifest speaks of. Of data whose distinct rows were counted it is that of
        these and how often they occur, which do not depend on an order and have arrived anyway. Else it is that of all
        columns as CSV, in the order of the rows.
        """
        names = [name for name in self.columns if name not in self.odd]
        if self.digested == OF_COUNTS:
            return digest_of_counts(names, self._counted_there(names))
        if self.digested is None and self._digest is not None:
            return self._digest
        return digest_of(self.rows(names))

    def rows(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """The rows of some columns as they are stored, some at a time."""
        expressions = [self._fields[name].expression for name in columns]
        types = {name: self._fields[name].dtype for name in columns}
        return self._look.batches(sql.selected(expressions, self._look.relation), types)

    def counting(self, columns: Sequence[str]) -> str:
        """The one statement that counts the distinct rows of some columns."""
        return sql.grouped([self._fields[name].expression for name in columns], self._look.relation)

    def counted(self, columns: Sequence[str], step: Step | None = None) -> Counted | None:
        """Let the database count: only what differs comes over the wire."""
        names = self._known(columns)
        if not names:
            return None
        found = self._counted_there(names)
        self._digest = digest_of_counts(names, found)
        if step is not None:
            step(self.n_rows, self.n_rows)
        return found

    def cells(self, columns: Sequence[str], step: Step | None = None) -> Cells:
        """The distinct rows of some columns: the database finds groups, whoever formed them."""
        return count_rows(self, columns, step, swift=True)

    def _counted_there(self, names: Sequence[str]) -> Counted:
        fields = [self._fields[name] for name in names]
        return counting([f.expression for f in fields], [f.dtype for f in fields], self._look, self.n_rows)

    def unreadable(self) -> TarnkappeError:  # type: ignore[override]
        """What the database said, if it said something."""
        met, self._met = self._met, None
        return super().unreadable() if met is None else met

    def close(self) -> None:
        """End the look at the database."""
        self._look.close()

    def _stored_types(self) -> Mapping[str, pl.DataType]:
        return {name: field.dtype for name, field in self._fields.items()}

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        def arriving(names: Sequence[str]) -> Iterator[pl.DataFrame]:
            try:
                yield from self.rows(names)
            except TarnkappeError as error:
                self._met = error
                raise

        return lazily({name: self._fields[name].dtype for name in columns}, arriving, self.n_rows)


def digest_told(manifest: Mapping[str, Any]) -> str:
    """What the digest of a released table is of, as its manifest says."""
    told = manifest.get("database")
    return OF_COUNTS if isinstance(told, dict) and told.get("digest") == OF_COUNTS else OF_ROWS


def digest_of(batches: Iterator[pl.DataFrame]) -> str:
    """The SHA-256 of rows as CSV with a header, however they are cut into batches."""
    digest = hashlib.sha256()
    for i, batch in enumerate(batches):
        digest.update(as_csv(batch, header=i == 0))
    return digest.hexdigest()


def as_csv(batch: pl.DataFrame, *, header: bool) -> bytes:
    """Rows as the bytes that a digest is made of."""
    return batch.write_csv(include_header=header).encode()
