"""The streaming engine: counts and rewrites files of any size; what it keeps is the tally, not the records."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.base import Engine, Rewritten, RunsWriter, Writer
from tarnkappe.engines.cells import tally_of_cells
from tarnkappe.engines.ledger import LedgerKeeper
from tarnkappe.engines.needs import memory_for
from tarnkappe.engines.shuffle import Shuffle
from tarnkappe.errors import DataError, LimitError
from tarnkappe.fixes import more_memory, say
from tarnkappe.freed import give_back
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.io import Cells, RowCounter, Source, count_rows
from tarnkappe.kernels.engines.dealing import deal, shuffle_within
from tarnkappe.plan import Plan
from tarnkappe.schema import KEYS, Column, Schema
from tarnkappe.tally import Tally, distinct_rows
from tarnkappe.threads import Aside, map_threads
from tarnkappe.wording import count

#: Records that are made up at a time when the plan alone says what to write.
_CHUNK = 1 << 21

#: Bytes that a record takes in a second pass if records of one cell go to several groups.
_PER_RECORD = 10

#: Runs of equal records that are handed over at a time, and how many records they must stand for on average.
_RUNS, _ALIKE = 1 << 18, 2

#: Columns of what is written beside those that pass through; a name that is blank is refused in tables.
_GROUP, _ROW = " ", "  "


#: Distinct rows, the groups that publish them, and how many records of each.
_Pieces = tuple[Codes, Codes, Counts]


class StreamingEngine(Engine):
    """Goes over the records in batches: once to count them, and a second time only if columns pass through unchanged.

    If no column is kept, a record is published as its group's labels and its sensitive values. The plan knows how many
    records have which, so the release is written from the plan, and the file is not read again.

    `limit` is the memory in bytes that the process may take. What is shuffled goes by way of the disk when it would
    take more, and a tally that needs more is an error that says so.
    """

    name: ClassVar = "streaming"

    def __init__(self, limit: int | None = None) -> None:
        """Nothing is read yet."""
        self._limit = limit
        self._counter: RowCounter | None = None
        self._cell: Codes = np.zeros(0, np.int32)
        self._hidden: tuple[str, ...] = ()

    def count(
        self, source: Source, schema: Schema, aside: Sequence[Column] = (), population: Source | None = None
    ) -> Tally:
        """Count the distinct rows in one pass, and make the tally of them."""
        if source.n_rows == 0:
            raise DataError("E402", "the data have no records", where=source.name)
        counted = [*schema.quasi, *schema.sensitive, *aside]
        self._hidden = tuple(c.name for c in aside if c.name not in schema.published)
        once = not schema.with_role("keep")
        self._counter = RowCounter(source, [c.name for c in counted], self._told, swift=True, once=once)
        cells = self._counter.cells
        self._require_memory(len(cells.count), len(counted))
        people = None if population is None else count_rows(population, [c.name for c in schema.quasi], swift=True)
        tally, self._cell = tally_of_cells(cells, source, schema, aside, people, population)
        return tally

    def rewrite(self, plan: Plan, schema: Schema, writer: Writer, rng: np.random.Generator) -> Rewritten:
        """Write the records in an order that tells nothing about that of the input."""
        assert self._counter is not None, "count comes first"
        cells = self._counter.cells
        hidden = [name for name in self._hidden if name in plan.goal.columns]
        labels, names = plan.shown(schema), plan.columns(schema)
        lots = {name: _lots(cells, name, rng) for name in hidden if schema[name].role in KEYS}
        kept = [c.name for c in schema.with_role("keep")]
        witness = []

        def published(records: pl.DataFrame) -> pl.DataFrame:
            group, row = records[_GROUP].to_numpy(), records[_ROW].to_numpy()

            def column(name: str) -> pl.Series:
                if name in labels:
                    return labels[name].at(group)
                return records[name] if name in kept else cells.at(name, row)

            return pl.DataFrame(dict(zip(names, map_threads(column, names), strict=True)))

        def unpublished(records: pl.DataFrame) -> pl.DataFrame:
            row = records[_ROW].to_numpy()
            return pl.DataFrame([lots[name].gather(row) if name in lots else cells.at(name, row) for name in hidden])

        done = 0
        keeper = None
        if kept:
            carried = [c.name for c in schema.with_role("sensitive", "keep")]
            keeper = LedgerKeeper(plan, self._counter.source.types(carried))
            batches = self._read_again(plan, kept, keeper, rng)
        else:
            pieces = self._pieces(plan.grouping, rng)
            if isinstance(writer, RunsWriter) and not hidden:  # what is hidden stands beside records, one by one
                runs, count = self._runs(pieces, plan.n_groups, [name for name in names if name not in labels], rng)
                if 0 < len(count) * _ALIKE <= plan.n_published:
                    starts = range(0, len(count), _RUNS)
                    writer.write_runs((published(runs.slice(i, _RUNS)), count[i : i + _RUNS]) for i in starts)
                    return Rewritten(pl.DataFrame())
            batches = self._made_up(pieces, plan.n_groups, rng)
        with closing(batches), Aside() as aside:
            for records in batches:
                table = published(records)
                witness.append(unpublished(records))
                aside(partial(writer.write, table))  # while the next records are made ready
                done += records.height
                self._told(done, plan.n_published)
        return Rewritten(pl.concat(witness) if hidden else pl.DataFrame(), None if keeper is None else keeper.closed())

    def forget(self) -> None:
        """Let go of the distinct rows."""
        self._counter = None
        give_back()

    def _runs(
        self, pieces: _Pieces, n_groups: int, columns: Sequence[str], rng: np.random.Generator
    ) -> tuple[pl.DataFrame, Counts]:
        """Group and distinct row of published records, once for all that look the same, and how many these are.

        Groups come in random order, and so do the values in each. Cells that look the same are one run: where one of
        them ends, nobody may see.
        """
        assert self._counter is not None
        row, group, quota = pieces
        cells = self._counter.cells
        at = [cells.names.index(name) for name in columns]
        sizes = [n_groups, *(len(cells.values[j]) for j in at)]
        lots = [rng.permutation(size).astype(np.int32) for size in sizes]
        codes = [group, *(cells.codes[row, j] for j in at)]
        run, first = distinct_rows([lot[code] for lot, code in zip(lots, codes, strict=True)], sizes)
        return _records(group[first], row[first]), np.bincount(run, quota, len(first)).astype(np.int64)

    def _made_up(self, pieces: _Pieces, n_groups: int, rng: np.random.Generator) -> Generator[pl.DataFrame]:
        """Groups and distinct rows of all published records, made up from the plan.

        Groups come in random order, and the records of each do, too: which records are one group, their labels tell
        anyway. So what is gathered lies close together, and a file of such runs is small.
        """
        row, group, quota = pieces
        if not len(row):  # everything is suppressed: a table of no records has columns, too
            yield _records(group, row)
            return
        order = np.argsort(rng.permutation(n_groups)[group], kind="stable")
        row, group, ends = row[order], group[order], np.cumsum(quota[order])
        group_ends = ends[np.append(np.flatnonzero(np.diff(group)), len(group) - 1)]

        for begin, end in _ranges(group_ends):
            if end - begin > 2 * _CHUNK:  # a very large group
                with self._shuffle(end - begin, rng) as shuffle:
                    for start in range(begin, end, _CHUNK):
                        stop = min(start + _CHUNK, end)
                        shuffle.add(_records(_expanded(group, ends, start, stop), _expanded(row, ends, start, stop)))
                    yield from shuffle.batches()
                continue
            groups, rows = _expanded(group, ends, begin, end), _expanded(row, ends, begin, end)
            inside = group_ends[(group_ends > begin) & (group_ends <= end)]
            shuffle_within(rows, np.append(0, inside - begin), rng.random(len(rows)))
            yield _records(groups, rows)

    def _pieces(self, grouping: Grouping, rng: np.random.Generator) -> _Pieces:
        """How many records of which distinct row each group publishes."""
        assert self._counter is not None
        cell, group, quota = grouping.cell, grouping.group, grouping.quota
        per_cell = np.bincount(self._cell)
        if per_cell.max() == 1:
            published = (group != SUPPRESSED) & (quota > 0)
            row_of = np.zeros(len(per_cell), np.int32)
            row_of[self._cell] = np.arange(len(self._cell))
            return row_of[cell[published]], group[published], quota[published]
        # Several distinct rows make up one cell: chance decides which of its records goes where.
        by_row = np.argsort(self._cell, kind="stable").astype(np.int32)
        ends = np.cumsum(quota)
        counts = self._counter.cells.count
        row_ends, cell_ends = np.cumsum(counts[by_row]), np.cumsum(np.bincount(self._cell, counts).astype(np.int64))
        parts = []
        for begin, end in _ranges(cell_ends):
            groups, rows = _expanded(group, ends, begin, end), _expanded(by_row, row_ends, begin, end)
            inside = cell_ends[(cell_ends > begin) & (cell_ends <= end)]
            shuffle_within(rows, np.append(0, inside - begin), rng.random(len(rows)))
            parts.append(_records(groups, rows).group_by(_GROUP, _ROW).len())
        found = pl.concat(parts).filter(pl.col(_GROUP) != SUPPRESSED)
        return found[_ROW].to_numpy(), found[_GROUP].to_numpy(), found["len"].to_numpy().astype(np.int64)

    def _read_again(
        self, plan: Plan, kept: list[str], keeper: LedgerKeeper, rng: np.random.Generator
    ) -> Generator[pl.DataFrame]:
        """Groups, distinct rows and kept columns of all published records in random order, from a second pass."""
        assert self._counter is not None
        grouping = plan.grouping
        places, next_place = grouping.group, np.arange(len(grouping.cell), dtype=np.int64)
        if grouping.splits_cells:
            self._require_memory(len(places), 0, int(grouping.quota.sum()))
            places = np.repeat(places, grouping.quota)
            per_cell = np.bincount(grouping.cell, grouping.quota).astype(np.int64)
            starts = np.append(0, np.cumsum(per_cell))
            for begin, end in _ranges(starts[1:]):
                runs = starts[(starts >= begin) & (starts <= end)]
                shuffle_within(places, runs, rng.random(end - begin))
            next_place = starts[:-1].copy()
        with self._shuffle(plan.n_published, rng) as shuffle:
            for row, carried in self._counter.again(keeper.columns):
                cell = self._cell[row]
                group = deal(cell, next_place, places) if grouping.splits_cells else places[cell]
                keeper.enter(cell, group, carried)
                records = pl.concat([_records(group, row), carried.select(kept)], how="horizontal")
                shuffle.add(records.filter(group != SUPPRESSED))
            yield from shuffle.batches()

    def _shuffle(self, n_records: int, rng: np.random.Generator) -> Shuffle:
        return Shuffle(n_records, rng, None if self._limit is None else self._limit // 4)

    def _require_memory(self, n_cells: int, n_columns: int, n_records: int = 0) -> None:
        """Say that the memory allowed is not enough before the system says it."""
        needed = memory_for(n_cells, n_columns) + _PER_RECORD * n_records
        if self._limit is not None and needed > self._limit:
            raise LimitError(
                "E702",
                f"about {needed / 1e9:.1f} GB of memory are needed, {self._limit / 1e9:.1f} GB allowed",
                details=[f"The data have {count(n_cells)} distinct combinations of the columns that are counted."],
                hint=say("{}   or declare fewer or coarser quasi-identifiers.", more_memory(needed)),
            )


def _records(group: Codes, row: Codes) -> pl.DataFrame:
    return pl.DataFrame([pl.Series(_GROUP, group), pl.Series(_ROW, row)])


def _lots(cells: Cells, name: str, rng: np.random.Generator) -> pl.Series:
    """For every distinct row the number of its person, drawn by lot: the keys' own order would tell something."""
    j = cells.names.index(name)
    return pl.Series(name, rng.permutation(len(cells.values[j]))[cells.codes[:, j]])


def _ranges(ends: Counts) -> list[tuple[int, int]]:
    """Ranges of records, of about the same length, that do not cut through a cell."""
    total = int(ends[-1]) if len(ends) else 0
    cuts = ends[np.searchsorted(ends, np.arange(_CHUNK, total, _CHUNK))]
    return list(pairwise(np.unique(np.concatenate([[0], cuts, [total]])).tolist()))


def _expanded(values: Codes, ends: Counts, begin: int, end: int) -> Codes:
    """Records `begin` to `end` of a sequence that has value ``i`` until ``ends[i]``."""
    first, last = np.searchsorted(ends, [begin, end], side="right")
    inside = np.clip(ends[first : last + 1], begin, end)
    return np.repeat(values[first : last + 1], np.diff(inside, prepend=begin))
