"""Distinct rows and how often each occurs, as a database counts them: as a source, and as a digest of a table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import polars as pl

from tarnkappe.io.base import Source
from tarnkappe.io.cells import Cells, Counted, Step, count_rows
from tarnkappe.io.databases import sql
from tarnkappe.io.databases.base import Look, lazily
from tarnkappe.io.texts import is_text

#: Rows that are written out at a time, where somebody asks for rows of a table that was counted.
_WRITTEN_OUT = 1 << 18


@dataclass(frozen=True, eq=False)
class Arrived:
    """Distinct rows as a database sent them: the columns ``c0``, ``c1`` and so on, and how often each occurs, ``n``.

    Texts are categories as soon as they are there: whole, those of many rows would take more than all that follows.
    """

    rows: pl.DataFrame
    texts: dict[str, pl.Categories]

    @classmethod
    def of(cls, types: Sequence[pl.DataType], batches: Iterator[pl.DataFrame]) -> Arrived:
        """Take all of them."""
        texts = {f"c{i}": pl.Categories.random() for i, dtype in enumerate(types) if is_text(dtype)}
        kinds = {name: pl.Categorical(categories) for name, categories in texts.items()}
        alive = [pl.Series(dtype=dtype) for dtype in kinds.values()]  # else Polars forgets them between batches
        rows = pl.concat([batch.with_columns(pl.col(c).cast(t) for c, t in kinds.items()) for batch in batches])
        del alive
        return cls(rows, texts)

    def numbered(self, source: Source) -> Counted:
        """The rows as codes, in an order that does not depend on that in which they arrived."""
        *columns, count = self.rows
        values, codes = [], []
        for column in columns:
            if column.name in self.texts:
                distinct = self.texts[column.name].to_series()
                place = distinct.rank("ordinal").cast(pl.Int32)
                code = place.gather(column.to_physical()).fill_null(0)
            else:
                known = source.cleaned(column)
                distinct = known.drop_nulls().unique().sort()
                place = pl.Series(np.arange(1, len(distinct) + 1, dtype=np.int32))
                code = known.replace_strict(distinct, place, default=0, return_dtype=pl.Int32)
            codes.append(code.alias(column.name))
            values.append(distinct.sort())
        rows = pl.DataFrame([*codes, count])
        if any(column.dtype.is_float() for column in columns):  # 0 and -0, missing and no number, are the same to us
            rows = rows.group_by([code.name for code in codes]).agg(pl.col("n").sum())
        *codes, count = rows
        order = _order(codes, [len(v) + 1 for v in values])
        sorted_codes = np.empty((len(order), len(codes)), np.int32)
        for j, code in enumerate(codes):
            sorted_codes[:, j] = code.gather(order).to_numpy()
        return Counted(tuple(values), sorted_codes, np.array(count.gather(order).to_numpy()))


def _order(codes: Sequence[pl.Series], sizes: Sequence[int]) -> pl.Series:
    """The order of rows of codes: as one number each, if they fit, which takes a tenth of the time."""
    if prod(sizes) >= 1 << 63:
        rows = pl.DataFrame(codes)
        return rows.select(pl.arg_sort_by(rows.columns).alias("order")).to_series()
    key = pl.zeros(len(codes[0]), pl.Int64, eager=True)
    for code, size in zip(codes, sizes, strict=True):
        key = key * size + code
    return key.arg_sort()


def counting(expressions: Sequence[str], types: Sequence[pl.DataType], look: Look) -> Arrived:
    """Let the database count: only what differs comes over the wire."""
    arriving = {**{f"c{i}": dtype for i, dtype in enumerate(types)}, "n": pl.Int64()}
    return Arrived.of(types, look.batches(sql.grouped(expressions, look.relation), arriving))


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
        arrived = counting([field.expression for field in fields], [field.dtype for field in fields], look)
        self._title = look.address.title
        super().__init__(name, list(self._types), int(arrived.rows["n"].sum()), missing)
        self._found = arrived.numbered(self)

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
