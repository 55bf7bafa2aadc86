"""The memory engine: counts and rewrites a table that fits into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.engines.base import Engine, Rewritten, Writer
from tarnkappe.engines.encode import Values, encode_quasi, encode_sensitive, read_kind, stacked
from tarnkappe.engines.ledger import LedgerKeeper
from tarnkappe.errors import DataError
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.io import Source, is_text
from tarnkappe.io.coded import read_coded
from tarnkappe.kernels.engines.dealing import gathered, shuffle_within
from tarnkappe.kernels.histograms import group_order
from tarnkappe.plan import Plan
from tarnkappe.schema import KEYS, Column, Schema
from tarnkappe.tally import Domain, Tally, count_cells, with_population
from tarnkappe.threads import Aside, ahead, map_threads

#: Records per batch when rewriting: large enough for speed, small enough to keep labels cheap.
BATCH = 1 << 20

#: Records looked at to learn what a column is like.
_SAMPLE = 10_000


class MemoryEngine(Engine):
    """Reads the needed columns once; keeps the cell of every record and the columns that pass through."""

    name: ClassVar = "memory"

    def __init__(self) -> None:
        """Nothing is read yet."""
        self._cell: Codes = np.zeros(0, np.int32)
        self._carried = pl.DataFrame()
        self._hidden = pl.DataFrame()

    def count(
        self, source: Source, schema: Schema, aside: Sequence[Column] = (), population: Source | None = None
    ) -> Tally:
        """Encode whole columns, and count their cells."""
        if source.n_rows == 0:
            raise DataError("E402", "the data have no records", where=source.name)
        hidden = [c for c in aside if c.name not in schema.published]
        names = [*schema.published, *(c.name for c in hidden)]
        sample = source.sample(names, _SAMPLE)
        repeating = [n for n in schema.published if is_text(sample.schema[n]) and sample[n].n_unique() < _SAMPLE // 4]
        coded, frame = read_coded(source, names, repeating)
        carried = [c.name for c in schema.with_role("sensitive", "keep")]
        self._carried = pl.DataFrame([coded[x].texts() if x in coded else frame[x] for x in carried])
        self._hidden = frame.select(_hide(frame[c.name]) if c.role in KEYS else frame[c.name] for c in hidden)
        public = pl.DataFrame() if population is None else population.read([c.name for c in schema.quasi])
        others = {name: _examples(sample[name]) for name in names}
        texts = {series.name: series for series in frame}
        del frame  # texts take more than all that follows: each goes when it is encoded

        def encode(column: Column) -> tuple[NDArray[Any], NDArray[Any], Domain]:
            """The codes of records, of the people of a public table, and what they mean."""
            found, weights = coded.get(column.name), None
            if found is None:
                series = read_kind(texts.pop(column.name), column, source)
            else:
                series, weights = read_kind(found.values, column, source, distinct=True), found.counts
            own, where = len(series), source.name
            if column.role != "quasi":
                codes, domain = encode_sensitive(series, column, weights)
            else:
                if population is not None:
                    people = read_kind(public[column.name], column, population)
                    series, where = stacked(series, people), f"{where} or {population.name}"
                    if weights is not None:
                        weights = np.append(weights, np.ones(len(people), np.int64))
                codes, domain = encode_quasi(
                    series, column, schema.missing_rule, others, where, weights, decimal=source.decimal
                )
            return codes[:own] if found is None else found.each(codes[:own]), codes[own:], domain

        quasi = map_threads(encode, schema.quasi)
        counted = map_threads(encode, [*schema.sensitive, *aside])
        domains = [domain for *_, domain in quasi]
        tally, self._cell = count_cells(
            [codes for codes, *_ in quasi],
            [codes for codes, *_ in counted],
            domains,
            [domain for *_, domain in counted],
        )
        if population is None:
            return tally
        people, _ = count_cells([codes for _, codes, _ in quasi], [], domains, [])
        tally, moved = with_population(tally, people)
        self._cell = moved[self._cell]
        return tally

    def rewrite(self, plan: Plan, schema: Schema, writer: Writer, rng: np.random.Generator) -> Rewritten:
        """Write the records in random order, batch by batch."""
        group = assign_records(self._cell, plan.grouping, rng)
        ledger = None
        if schema.with_role("keep"):
            keeper = LedgerKeeper(plan, self._carried.schema)
            keeper.enter(self._cell, group, self._carried)
            ledger = keeper.closed()
        labels, names = plan.shown(schema), plan.columns(schema)
        written = [np.empty(0, np.int32)]

        def carried(name: str, at: Codes) -> pl.Series:
            column = self._carried[name].gather(at)
            # Whether texts are kept as categories is decided by records that may not be published.
            return column.cast(pl.String) if plan.goal.is_mechanism and is_text(column.dtype) else column

        with Aside() as aside:  # a batch is written while the next one is made
            for at in ahead(filter(len, _in_random_order(group, rng))):
                written.append(at)
                groups = gathered(group, at)
                batch = pl.DataFrame(
                    {name: labels[name].at(groups) if name in labels else carried(name, at) for name in names}
                )
                aside(partial(writer.write, batch))
        order = np.concatenate(written)
        witness = self._hidden.select(
            _redrawn(series, rng).gather(order) if schema[series.name].role in KEYS else series.gather(order)
            for series in self._hidden
            if series.name in plan.goal.columns
        )
        return Rewritten(witness, ledger)

    def forget(self) -> None:
        """Let go of the records."""
        self._cell, self._carried, self._hidden = np.zeros(0, np.int32), pl.DataFrame(), pl.DataFrame()


def assign_records(cell: Codes, grouping: Grouping, rng: np.random.Generator) -> Codes:
    """The group of every record, given its cell.

    Records of one cell are interchangeable; where a cell is divided among groups, chance decides who goes where.
    """
    if not grouping.splits_cells:
        return gathered(grouping.group, cell)
    by_cell = rng.permutation(len(cell)).astype(np.int32)
    by_cell = by_cell[np.argsort(cell[by_cell], kind="stable")]
    group = np.empty(len(cell), np.int32)
    group[by_cell] = np.repeat(grouping.group, grouping.quota)
    return group


def _in_random_order(group: Codes, rng: np.random.Generator) -> Iterator[Codes]:
    """The records that are in a group, in random order, some at a time.

    They are thrown into buckets at random, and each bucket is shuffled: all orders are equally likely, as if all were
    shuffled together, but a bucket fits into a processor's memory.
    """
    n_buckets = -(-len(group) // BATCH)
    if n_buckets < 2:
        yield rng.permutation(np.flatnonzero(group != SUPPRESSED).astype(np.int32))
        return
    bucket = rng.integers(0, n_buckets, len(group), dtype=np.int32)
    bucket[group == SUPPRESSED] = -1
    starts, order = group_order(bucket, n_buckets)
    for begin, end in pairwise(starts):
        some = order[begin:end]
        shuffle_within(some, np.array([0, len(some)]), rng.random(len(some)))
        yield some


def _hide(keys: pl.Series) -> pl.Series:
    """The number of each record's person instead of the key; all missing keys are one person."""
    return pl.Series(keys.name, Values.of(keys.cast(pl.String)).code)


def _redrawn(numbers: pl.Series, rng: np.random.Generator) -> pl.Series:
    """Other numbers for the same people: the old ones follow the order of the keys."""
    return pl.Series(numbers.name, rng.permutation(len(numbers))[numbers.to_numpy()])


def _examples(series: pl.Series) -> list[str]:
    """A bounded list of distinct values, enough to recognise a taxonomy that belongs to another column."""
    return series.drop_nulls().unique().cast(pl.String).head(1000).to_list() if is_text(series.dtype) else []
