"""Distinct rows and how often each occurs, as a database counts them: as a source, and as a digest of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl

from tarnkappe.io.base import Source
from tarnkappe.io.cells import Cells, Counted, Step, count_rows
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.arriving import counted_here, counted_there
from tarnkappe.io.databases.base import Look, lazily

#: Rows that are written out at a time, where somebody asks for rows of a table that was counted.
_WRITTEN_OUT = 1 << 18


def counting(expressions: Sequence[str], types: Sequence[pl.DataType], look: Look, n_rows: int = 0) -> Counted:
    """Let the database count: only what differs comes over the wire, unless that is too much for it to find."""
    arriving = {f"c{i}": dtype for i, dtype in enumerate(types)}
    if look.better_sent(expressions, n_rows):
        found = counted_here(types, look.batches(sql.selected(expressions, look.relation), arriving))
        if found is not None:
            return found
    return counted_there(types, look.batches(sql.grouped(expressions, look.relation), {**arriving, "n": pl.Int64()}))


def digest_of_counts(names: Sequence[str], found: Counted) -> str:
    """The SHA-256 of distinct rows and how often they occur; it does not depend on the order of a table."""
    digest = hashlib.sha256("\0".join(names).encode())
    for values in found.values:
        digest.update(values.to_frame("v").write_csv().encode())
    digest.update(np.ascontiguousarray(found.codes, np.int32).data)
    digest.update(np.ascontiguousarray(found.count, np.int64).data)
    return digest.hexdigest()


class CountedBack(Source):
    """A written table as the database counts it: the groups that are checked are found by it, not by who wrote them."""

    def __init__(self, look: Look, name: str, missing: tuple[str, ...]) -> None:
        """Let the database group by all columns, once."""
        fields = look.fields()
        self._types = {field.name: field.dtype for field in fields}
        self._found = counting([field.expression for field in fields], [field.dtype for field in fields], look)
        self._title = look.address.title
        super().__init__(name, list(self._types), int(self._found.count.sum()), missing)

    @property
    def format(self) -> str:
        """Which database it was read back from."""
        return f"{self._title} table"

    @cached_property
    def sha256(self) -> str:
        """The digest of the distinct rows and their counts."""
        return digest_of_counts(self.columns, self._found)

    def counted(self, columns: Sequence[str], step: Step | None = None) -> Counted:
        """The distinct rows of some columns: those of all columns, pooled."""
        at = [self.columns.index(name) for name in columns]
        if len(set(at)) == len(self.columns):  # nothing to pool; whoever asks may change what it gets
            return Counted(tuple(self._found.values[j] for j in at), self._found.codes[:, at], self._found.count.copy())
        names = [f"c{i}" for i in range(len(at))]
        rows = pl.DataFrame(self._found.codes[:, at], schema=names, orient="row")
        pooled = rows.with_columns(n=pl.Series(self._found.count)).group_by(names).agg(pl.col("n").sum()).sort(names)
        values = tuple(self._found.values[j] for j in at)
        return Counted(values, np.array(pooled.select(names).to_numpy()), np.array(pooled["n"].to_numpy()))

    def cells(self, columns: Sequence[str], step: Step | None = None) -> Cells:
        """The distinct rows of some columns, with missing markers as missing values."""
        return count_rows(self, columns, step, swift=True)

    def _stored_types(self) -> Mapping[str, pl.DataType]:
        return self._types

    def _scan(self, columns: list[str]) -> pl.LazyFrame:
        return lazily({name: self._types[name] for name in columns}, self._rows, self.n_rows)

    def _rows(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """All rows, written out some at a time; their order is nobody's."""
        ends = np.cumsum(self._found.count)
        for begin in range(0, self.n_rows, _WRITTEN_OUT):
            row = np.searchsorted(ends, np.arange(begin, min(begin + _WRITTEN_OUT, self.n_rows)), side="right")
            codes = self._found.codes[row]
            yield pl.DataFrame([self._column(name, codes[:, self.columns.index(name)]) for name in columns])

    def _column(self, name: str, codes: np.ndarray[tuple[int], np.dtype[np.int32]]) -> pl.Series:
        values = self._found.values[self.columns.index(name)].cast(self._types[name])
        return pl.concat([pl.Series([None], dtype=values.dtype), values]).gather(codes).alias(name)
