"""The rows of a table whose groups have numbers, in runs of whole groups, for those who watch them go by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.errors import DataError
from tarnkappe.io import Source
from tarnkappe.io.lookup import different_texts
from tarnkappe.kernels.engines.dealing import gathered
from tarnkappe.publish.sheets import Reading
from tarnkappe.verification import Evidence, rows_of

#: Rows that are looked at together; several tables are read at a time.
_ROWS = 1 << 18

#: So many texts of a table are remembered with what was found for them.
_MANY_TEXTS = 1 << 16

#: How texts are looked up, and by the name of the column and this way, what was found for each.
Find = Callable[[pl.Series], Codes]
_Known = dict[tuple[str, Find], dict[str | None, int]]


@dataclass(frozen=True, eq=False)
class Run:
    """Rows of some whole groups, the number of each row's group, and how many rows come before them."""

    number: Counts
    rows: pl.DataFrame
    begin: int = 0
    #: What was found for texts of the runs before, which are mostly those of this one.
    known: _Known = field(default_factory=dict)
    _different: dict[str, tuple[list[str | None], pl.Series, Codes] | None] = field(default_factory=dict)

    @cached_property
    def starts(self) -> Counts:
        """Where the rows of each group begin, and where the last one ends."""
        ends = np.flatnonzero(self.number[1:] != self.number[:-1]) + 1
        return np.concatenate([[0], ends, [len(self.number)]])

    @property
    def group(self) -> Codes:
        """The group of each row, from 0."""
        return np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))

    @property
    def numbers(self) -> Counts:
        """The number of each group."""
        return self.number[self.starts[:-1]]

    def looked_up(self, name: str, find: Find) -> Codes:
        """What is found for every value of a column; texts that are the same are looked up once."""
        if name not in self._different:
            different = different_texts(self.rows[name])
            self._different[name] = None if different is None else (different[0].to_list(), *different)
        if (listed := self._different[name]) is None:
            return find(self.rows[name])
        texts, series, which = listed
        known = self.known.setdefault((name, find), {})
        if not known.keys() >= set(texts):
            if len(known) > _MANY_TEXTS:
                known.clear()
            known.update(zip(texts, find(series).tolist(), strict=True))
        found: Codes = gathered(np.array([known[text] for text in texts], np.int32), which)
        return found

    def records(self, count: str | None) -> Counts:
        """How many records each row stands for, as a column says; one if there is none."""
        if count is None:
            return np.ones(self.rows.height, np.int64)
        found = _whole(self.rows[count])
        if found.null_count() or (found < 1).any():
            raise DataError("E403", f"'{count}' does not say of every row how many records it stands for")
        return found.to_numpy()


def _whole(values: pl.Series) -> pl.Series:
    """The values as whole numbers; what is none is missing."""
    found = values.cast(pl.Int64, strict=False)
    return found.set(found != values, None) if values.dtype.is_float() else found


class Watcher(Protocol):
    """Looks at the rows of a table as they go by, in runs of whole groups."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns it looks at, besides the number."""

    def see(self, run: Run) -> None:
        """Look at some groups."""

    def wrong(self) -> Iterable[str]:
        """What was found to be wrong, in words, when all rows have gone by."""


def kept_numbers(evidence: Evidence, reading: Reading, source: Source) -> pl.Series | None:
    """The number of every row of a table, if that is not published; None if it is."""
    if not reading.hidden:
        return None
    return rows_of(evidence, [reading.number], source.n_rows, source.name)[reading.number]


def runs(source: Source, number: str, columns: Sequence[str], numbers: pl.Series | None = None) -> Iterator[Run]:
    """The rows of a table in runs of whole groups; an error if its numbers are not in ascending order.

    Numbers that are not published are given; then all rows are one run.
    """
    if numbers is not None:
        own = numbers.cast(pl.Int64).alias(number)
        rows = source.read([*columns]).with_columns(own) if columns else own.to_frame()
        rows = rows.sort(number, maintain_order=True)
        yield Run(rows[number].to_numpy(), rows)
        return
    names = list(dict.fromkeys([number, *columns]))
    kept: pl.DataFrame | None = None
    known: _Known = {}
    begin = 0
    batches: Iterable[pl.DataFrame] = source.batches(names, {}, [pl.col(name) for name in names], _ROWS)
    for given in batches:
        # Rows of a part may come in any order; parts come in theirs.
        batch = given if source.in_order else given[_whole(given[number]).arg_sort()]
        rows = batch.with_columns(_whole(batch[number]).alias(number))
        rows = rows if kept is None else pl.concat([kept, rows], how="vertical_relaxed", rechunk=True)
        if rows[number].null_count() or not rows[number].is_sorted():
            raise DataError("E403", f"the numbers in '{number}' are not in ascending order", where=source.name)
        if not rows.height:
            continue
        whole = int(rows[number].search_sorted(rows[number][-1], side="left"))
        kept = rows[whole:]
        if whole:
            yield Run(rows[number][:whole].to_numpy(), rows[:whole], begin, known)
            begin += whole
    if kept is not None and kept.height:
        yield Run(kept[number].to_numpy(), kept, begin, known)
