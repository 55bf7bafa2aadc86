"""The memory engine: counts and rewrites a table that fits into memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.engines.encode import encode_quasi, encode_sensitive, read_kind
from tarnkappe.errors import DataError
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.io import Source, is_text
from tarnkappe.plan import Plan
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Codes, Domain, Tally, count_cells
from tarnkappe.threads import map_threads

#: Records per batch when rewriting: large enough for speed, small enough to keep labels cheap.
BATCH = 1 << 20

#: Records looked at to learn what a column is like.
_SAMPLE = 10_000


class MemoryEngine:
    """Reads the published columns once; keeps the cell of every record and the columns that pass through."""

    def __init__(self) -> None:
        self._cell: Codes = np.zeros(0, np.int32)
        self._carried = pl.DataFrame()

    def count(self, source: Source, schema: Schema) -> Tally:
        """Encode the quasi-identifiers and sensitive columns and count their cells."""
        frame = source.read([c.name for c in schema.with_role("quasi", "sensitive", "keep")])
        if frame.height == 0:
            raise DataError("E402", "the data have no records", where=source.name)
        self._carried = frame.select(_compact(frame[c.name]) for c in schema.with_role("sensitive", "keep"))
        others = {name: _examples(frame[name]) for name in frame.columns}

        def encode(column: Column) -> tuple[NDArray[Any], Domain]:
            series = read_kind(frame[column.name], column, source)
            if column.role == "sensitive":
                return encode_sensitive(series, column)
            return encode_quasi(series, column, schema.missing_rule, others, source.name)

        quasi = map_threads(encode, schema.quasi)
        sensitive = map_threads(encode, schema.sensitive)
        tally, self._cell = count_cells(
            [codes for codes, _ in quasi],
            [codes for codes, _ in sensitive],
            [domain for _, domain in quasi],
            [domain for _, domain in sensitive],
        )
        return tally

    def rewrite(
        self, plan: Plan, schema: Schema, write: Callable[[pl.DataFrame], None], rng: np.random.Generator
    ) -> None:
        """Give every record its group's labels and hand the records over in random order, batch by batch."""
        group = assign_records(self._cell, plan.grouping, rng)
        order = rng.permutation(np.flatnonzero(group != SUPPRESSED))
        labels = dict(zip((c.name for c in schema.quasi), plan.labels, strict=True))
        for start in range(0, len(order), BATCH):
            at = order[start : start + BATCH]
            groups = group[at]
            write(
                pl.DataFrame(
                    {
                        name: labels[name].at(groups) if name in labels else self._carried[name].gather(at)
                        for name in schema.published
                    }
                )
            )


def assign_records(cell: Codes, grouping: Grouping, rng: np.random.Generator) -> Codes:
    """The group of every record, given its cell.

    Records of one cell are interchangeable; where a cell is divided among groups, chance decides who goes where.
    """
    if not grouping.splits_cells:
        return grouping.group[np.argsort(grouping.cell, kind="stable")][cell]
    by_cell = rng.permutation(len(cell)).astype(np.int32)
    by_cell = by_cell[np.argsort(cell[by_cell], kind="stable")]
    order = np.argsort(grouping.cell, kind="stable")
    group = np.empty(len(cell), np.int32)
    group[by_cell] = np.repeat(grouping.group[order], grouping.quota[order])
    return group


def _compact(series: pl.Series) -> pl.Series:
    """A text column with few values as categories, which are cheap to reorder; the writer lists only those in use."""
    few = series.head(_SAMPLE).n_unique() < _SAMPLE // 4
    return series.cast(pl.Categorical) if series.dtype == pl.String and few else series


def _examples(series: pl.Series) -> list[str]:
    """A bounded list of distinct values, enough to recognise a taxonomy that belongs to another column."""
    head = series.head(_SAMPLE)
    return head.drop_nulls().unique().cast(pl.String).head(1000).to_list() if is_text(head.dtype) else []
