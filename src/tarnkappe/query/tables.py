"""The published tables as arrays: which columns stay together on a record, and what joins them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.errors import DataError
from tarnkappe.publish.sheets import Strand
from tarnkappe.query.columns import PublishedColumn
from tarnkappe.query.labels import Known


@dataclass(frozen=True, eq=False)
class Records:
    """Columns that stay together on a record: one row per record, and the group of each, in ascending order."""

    columns: Mapping[str, PublishedColumn]
    group: Codes
    starts: Counts

    def per_group(self, values: Flags | Floats) -> Floats:
        """The sum over the records of every group."""
        kind = np.int64 if values.dtype == np.bool_ else np.float64
        return np.add.reduceat(values, self.starts[:-1], dtype=kind).astype(np.float64)


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of a release; columns of different strands are torn from each other within a group.

    A release without numbers is one strand, in which groups do not matter: all records are in one.
    """

    strands: tuple[Records, ...]

    @property
    def n_records(self) -> int:
        """Published records."""
        return len(self.strands[0].group)

    @cached_property
    def sizes(self) -> Floats:
        """Records per group."""
        return np.diff(self.strands[0].starts).astype(np.float64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All columns."""
        return tuple(dict.fromkeys(name for strand in self.strands for name in strand.columns))

    def column(self, name: str) -> PublishedColumn:
        """A column; of several copies the first."""
        return next(s.columns[name] for s in self.strands if name in s.columns)

    def homes(self, names: Iterable[str]) -> dict[int, list[str]]:
        """The strands that hold some columns, as few as possible: what stays together is best asked together.

        Of several, that with the fewest columns: labels of fewer quasi-identifiers are finer (the marginals of ANGEL).
        """
        left, out = list(dict.fromkeys(names)), dict[int, list[str]]()
        while left:
            held = [[name for name in left if name in strand.columns] for strand in self.strands]
            best = max(range(len(held)), key=lambda i: (len(held[i]), -len(self.strands[i].columns)))
            out[best] = held[best]
            left = [name for name in left if name not in held[best]]
        return out


def whole_table(frame: pl.DataFrame, known: Known) -> Tables:
    """A release of one table in which every row is a record."""
    columns = {name: known.column(name, frame[name]) for name in frame.columns}
    starts = np.array([0, frame.height], np.int64)
    return Tables((Records(columns, np.zeros(frame.height, np.int32), starts),))


def numbered_tables(frames: Mapping[str, pl.DataFrame], number: str, strands: Sequence[Strand], known: Known) -> Tables:
    """A release whose groups have numbers: rows that stand for several records are repeated."""
    made = []
    numbers: Counts | None = None
    for strand in strands:
        frame = frames[strand.sheet]
        group = frame[number].cast(pl.Int64).to_numpy()
        order = None if np.all(group[1:] >= group[:-1]) else np.argsort(group, kind="stable")
        frame = frame if order is None else frame[order]
        if strand.count is not None:
            frame = frame.select(pl.exclude(strand.count).repeat_by(pl.col(strand.count).cast(pl.UInt32)).explode())
        found, starts = np.unique(frame[number].cast(pl.Int64).to_numpy(), return_index=True)
        starts = np.append(starts, frame.height)
        if numbers is None:
            numbers, sizes = found, np.diff(starts)
        elif not (np.array_equal(found, numbers) and np.array_equal(np.diff(starts), sizes)):
            raise DataError("E403", "the tables do not have the same numbers with as many records each")
        columns = {name: known.column(name, frame[name]) for name in strand.columns}
        group = np.repeat(np.arange(len(found), dtype=np.int32), np.diff(starts))
        made.append(Records(columns, group, starts))
    return Tables(tuple(made))
