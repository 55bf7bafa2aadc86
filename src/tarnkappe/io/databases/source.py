"""A table of a database as a source: distinct rows are counted where they lie, all else is streamed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from polars.io.plugins import register_io_source

from tarnkappe.errors import TarnkappeError
from tarnkappe.io.base import Source, check_columns, is_text
from tarnkappe.io.cells import Counted, Step
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.address import Address
from tarnkappe.io.databases.base import Look, look_at


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
        super().__init__(address.name, list(self._fields), self._look.n_rows(), missing)

    @property
    def format(self) -> str:
        """Which database the table is in."""
        what = "query" if self.address.query is not None else "table"
        return f"{what} in {self.address.shown}"

    @cached_property
    def sha256(self) -> str:
        """The digest of the rows.

        If distinct rows were counted, it is that of these and how often they occur, which do not depend on an order
        and have arrived anyway. Else it is that of all columns as CSV, in the order of the rows.
        """
        if self._digest is not None:
            return self._digest
        names = [name for name in self.columns if name not in self.odd]
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
        found = _numbered(self, names, self._look.batches(self.counting(names), self._types_counted(names)))
        self._digest = _digest_of_cells(names, found)
        if step is not None:
            step(self.n_rows, self.n_rows)
        return found

    def _types_counted(self, names: Sequence[str]) -> dict[str, pl.DataType]:
        return {**{f"c{i}": self._fields[name].dtype for i, name in enumerate(names)}, "n": pl.Int64()}

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
        schema = pl.Schema({name: self._fields[name].dtype for name in columns})

        def arriving(
            with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
        ) -> Iterator[pl.DataFrame]:
            left = self.n_rows if n_rows is None else n_rows
            try:
                for batch in self.rows(columns if with_columns is None else with_columns):
                    if left <= 0:
                        return
                    some = batch.head(left)
                    left -= some.height
                    yield some if predicate is None else some.filter(predicate)
            except TarnkappeError as error:
                self._met = error
                raise

        return register_io_source(arriving, schema=schema)


def _numbered(source: Source, names: Sequence[str], arriving: Iterator[pl.DataFrame]) -> Counted:
    """Distinct rows as codes, in an order that does not depend on that in which they arrived.

    Texts are categories as soon as they are there: whole, those of many rows would take more than all that follows.
    """
    types = source.types(names)
    texts = {f"c{i}": pl.Categories.random() for i, name in enumerate(names) if is_text(types[name])}
    as_categories = {name: pl.Categorical(categories) for name, categories in texts.items()}
    alive = [pl.Series(dtype=dtype) for dtype in as_categories.values()]  # else Polars forgets them between batches
    *columns, count = pl.concat(
        [batch.with_columns(pl.col(c).cast(t) for c, t in as_categories.items()) for batch in arriving]
    )
    values, codes = [], []
    for column in columns:
        if column.name in texts:
            distinct = texts[column.name].to_series()
            place = distinct.rank("ordinal").cast(pl.Int32)
            code = place.gather(column.to_physical()).fill_null(0)
        else:
            known = source.cleaned(column)
            distinct = known.drop_nulls().unique().sort()
            place = pl.Series(np.arange(1, len(distinct) + 1, dtype=np.int32))
            code = known.replace_strict(distinct, place, default=0, return_dtype=pl.Int32)
        codes.append(code.alias(column.name))
        values.append(distinct.sort())
    del alive
    found = [f"c{i}" for i in range(len(names))]
    rows = pl.DataFrame([*codes, count])
    if any(types[name].is_float() for name in names):  # 0 and -0, missing and no number, are the same only to us
        rows = rows.group_by(found).agg(pl.col("n").sum())
    rows = rows.sort(found)
    return Counted(tuple(values), np.array(rows.select(found).to_numpy()), np.array(rows["n"].to_numpy()))


def _digest_of_cells(names: Sequence[str], found: Counted) -> str:
    digest = hashlib.sha256("\0".join(names).encode())
    for values in found.values:
        digest.update(values.to_frame("v").write_csv().encode())
    digest.update(np.ascontiguousarray(found.codes, np.int32).tobytes())
    digest.update(np.ascontiguousarray(found.count, np.int64).tobytes())
    return digest.hexdigest()


def digest_of(batches: Iterator[pl.DataFrame]) -> str:
    """The SHA-256 of rows as CSV with a header, however they are cut into batches."""
    digest = hashlib.sha256()
    for i, batch in enumerate(batches):
        digest.update(as_csv(batch, header=i == 0))
    return digest.hexdigest()


def as_csv(batch: pl.DataFrame, *, header: bool) -> bytes:
    """Rows as the bytes that a digest is made of."""
    return batch.write_csv(include_header=header).encode()
