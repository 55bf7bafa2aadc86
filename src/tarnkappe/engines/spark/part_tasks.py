"""What runs on the workers of a cluster where groups are decided there: Tarnkappe itself must be installed on them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tarnkappe.algorithms.local.curve import hilbert_places
from tarnkappe.arrays import Codes, Counts
from tarnkappe.engines.parts import RECORDS, DecidePart, JudgePart
from tarnkappe.engines.spark import tasks
from tarnkappe.errors import TarnkappeError
from tarnkappe.groups import SUPPRESSED
from tarnkappe.plan import Plan
from tarnkappe.tally import Domain, Tally, count_cells

#: Columns on the way: how many records, the place on the curve, the part, the first record of a piece within its part
#: and within its row, and what is told about a part.
COUNT, CURVE, PART, FIRST, PLACED, TOLD = "n", "curve", "part", "first", "placed", "told"


def quasi(j: int) -> str:
    """What the code of a quasi-identifier is called."""
    return f"q{j}"


def raw(s: int) -> str:
    """What the number of a sensitive value, as it stands in the data, is called."""
    return f"r{s}"


def label(j: int) -> str:
    """What the label of a quasi-identifier is called."""
    return f"g{j}"


@dataclass(frozen=True, eq=False)
class Dictionary:
    """What the values of counted columns are called: numbers of values, and the codes that they stand for.

    ``values[j]`` are the values of a column as Arrow, the missing one first; ``codes[j]`` their codes in its domain.
    """

    values: tuple[Any, ...]
    codes: tuple[Codes, ...]
    quasi: tuple[Domain, ...]
    secrets: tuple[Domain, ...]

    def numbered(self, batch: Any, columns: Sequence[str]) -> dict[str, Any]:
        """Codes of the quasi-identifiers and numbers of the sensitive values of records, as columns."""
        out = {}
        for j, (name, values) in enumerate(zip(columns, self.values, strict=True)):
            found = pc.index_in(tasks.comparable(batch.column(name)), value_set=values)
            if found.null_count:
                raise ValueError("the data changed while they were read")
            number = found.to_numpy(zero_copy_only=False)
            s = j - len(self.quasi)
            out[quasi(j) if s < 0 else raw(s)] = pa.array(self.codes[j][number] if s < 0 else number, pa.int32())
        return out


def encode(shared: Any, columns: Sequence[str]) -> tasks.Task:
    """A task that gives distinct rows their codes and their places on the curve."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        return (_encoded(batch, shared.value, columns) for batch in batches)

    return task


def _encoded(batch: Any, words: Dictionary, columns: Sequence[str]) -> Any:
    known = words.numbered(batch, columns)
    rows = np.column_stack([known[quasi(j)].to_numpy() for j in range(len(words.quasi))])
    place = pa.array(hilbert_places(rows, words.quasi)[0])
    return pa.RecordBatch.from_pydict({**known, COUNT: batch.column(COUNT), CURVE: place})


def number(bounds: Counts) -> tasks.Task:
    """A task that says which part every cell belongs to; part ``i`` begins at place ``bounds[i]`` of the curve."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        return (_numbered(batch, bounds) for batch in batches)

    return task


def _numbered(batch: Any, bounds: Counts) -> Any:
    part = np.searchsorted(bounds, batch.column(CURVE).to_numpy(), side="right") - 1
    kept = {name: batch.column(name) for name in batch.schema.names if name not in (CURVE, COUNT)}
    return pa.RecordBatch.from_pydict({**kept, COUNT: batch.column(COUNT), PART: pa.array(part.astype(np.int32))})


def decide(shared: Any, decider: DecidePart) -> Callable[[Any, Any], Any]:
    """A task that decides about the cells of one part and returns its pieces, and what is told in a row of its own."""

    def task(key: Any, table: Any) -> Any:
        words, outline = shared.value
        return _decided(int(key[0].as_py()), table, words, outline, decider)

    return task


def _decided(part: int, table: Any, words: Dictionary, outline: Tally, decider: DecidePart) -> Any:
    try:
        return _answer(*_pieces(part, table, words, outline, decider))
    except TarnkappeError as error:
        return _answer(_empty(words), part, error)


def _pieces(
    part: int, table: Any, words: Dictionary, outline: Tally, decider: DecidePart
) -> tuple[dict[str, Any], int, Any]:
    """The pieces of a decided part, and what is told about it."""
    names = [*map(quasi, range(len(words.quasi))), *map(raw, range(len(words.secrets)))]
    table = table.sort_by([(name, "ascending") for name in names])  # whatever order they came in
    numbers = [table.column(name).to_numpy() for name in names]
    count = table.column(COUNT).to_numpy().astype(np.int64)
    n_quasi = len(words.quasi)
    codes = [words.codes[n_quasi + s][numbers[n_quasi + s]] for s in range(len(words.secrets))]
    tally, cell = count_cells(numbers[:n_quasi], codes, words.quasi, words.secrets, count)
    plan, told = decider(part, replace(tally, whole=outline))
    pieces, row = divided(plan, cell, np.arange(len(count), dtype=np.int32), count)
    quota = np.diff(pieces.ends, prepend=0)
    first = pieces.ends - quota
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    placed = first - np.repeat(first[begins], np.diff(np.append(begins, len(row))))
    labels = {label(j): _texts(x.at(pieces.group)) for j, x in enumerate(plan.labels)}
    held = {name: pa.array(column[row], pa.int32()) for name, column in zip(names, numbers, strict=True)}
    whole = {FIRST: pa.array(first), PLACED: pa.array(placed), COUNT: pa.array(quota)}
    return whole | held | labels, part, told


def divided(plan: Plan, cell: Codes, secret: Codes, count: Counts) -> tuple[tasks.Pieces, Codes]:
    """The published pieces of the plan, cut further where records of one cell are written differently.

    Rows of the input belong to `cell` and have the `secret`. Both the pieces and these runs cover the records of each
    cell from its first to its last.
    """
    grouping = plan.grouping
    group = grouping.group
    ends = np.cumsum(grouping.quota)
    order = np.lexsort((secret, cell))
    run_ends = np.cumsum(count[order])
    cuts = np.union1d(ends, run_ends)
    quota = np.diff(cuts, prepend=0)
    piece = np.searchsorted(ends, cuts)
    kept = (quota > 0) & (group[piece] != SUPPRESSED)
    runs = np.searchsorted(run_ends, cuts[kept])
    return tasks.Pieces(np.cumsum(quota[kept]), group[piece[kept]]), secret[order][runs].astype(np.int32)


def _empty(words: Dictionary) -> dict[str, Any]:
    whole = {name: pa.array([], pa.int64()) for name in (FIRST, PLACED, COUNT)}
    names = [*map(quasi, range(len(words.quasi))), *map(raw, range(len(words.secrets)))]
    texts = {label(j): pa.array([], pa.string()) for j in range(len(words.quasi))}
    return whole | {name: pa.array([], pa.int32()) for name in names} | texts


def _answer(columns: dict[str, Any], part: int, told: Any) -> Any:
    """Rows of a part, and one more with nothing but what is told about it."""
    rows = pa.table(columns)
    rows = rows.append_column(PART, pa.array(np.full(len(rows), part, np.int32)))
    last = pa.table({PART: pa.array([part], pa.int32()), TOLD: pa.array([packed(told)], pa.binary())})
    return pa.concat_tables([rows, last], promote_options="default").select([*columns, PART, TOLD])


def _texts(series: pl.Series) -> Any:
    return series.cast(pl.String).to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.string())


def packed(told: Any) -> bytes:
    """Something to be told to the driver: an answer, or the error of ours that came in its place."""
    return pickle.dumps(told)


def unpacked(told: bytes) -> Any:
    """What was told by a worker; an error is raised here."""
    said = pickle.loads(told)
    if isinstance(said, TarnkappeError):
        raise said
    return said


def expand(shared: Any, lot: tasks.Lot, columns: Sequence[tuple[str, int]]) -> tasks.Task:
    """A task that writes pieces out: as many rows as they have records, each with its sort key.

    Column ``i`` is the label of a quasi-identifier, or the value of a secret, by its place among them.
    """

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            yield from _expanded(batch, shared.value, lot, columns)

    return task


def _expanded(batch: Any, words: Dictionary, lot: Any, columns: Sequence[tuple[str, int]]) -> Iterator[Any]:
    count = batch.column(COUNT).to_numpy()
    ends = np.cumsum(count)
    start = (batch.column(PART).to_numpy().astype(np.int64) << tasks.ROW_BITS) + batch.column(FIRST).to_numpy()
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, tasks.BATCH):
        rows = np.arange(begin, min(begin + tasks.BATCH, total))
        piece = np.searchsorted(ends, rows, side="right")
        key = lot.at(start[piece] + rows - (ends - count)[piece])
        yield _published(batch.take(pa.array(piece)), words, columns, key)


def _published(pieces: Any, words: Dictionary, columns: Sequence[tuple[str, int]], key: Any) -> Any:
    arrays = []
    for kind, place in columns:
        if kind == "label":
            arrays.append(pieces.column(label(place)))
        else:
            arrays.append(words.values[len(words.quasi) + place].take(pieces.column(raw(place))))
    names = [*(f"c{i}" for i in range(len(columns))), tasks.KEY]
    return pa.RecordBatch.from_arrays([*arrays, pa.array(key)], names=names)


def locate(shared: Any, counted: Sequence[str], carried: Sequence[str], lot: tasks.Lot) -> tasks.Task:
    """A task that gives records of the input their codes and their sort keys; they carry columns along."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        return _located(batches, shared.value, counted, carried, lot)

    return task


def _located(
    batches: Iterable[Any], words: Dictionary, counted: Sequence[str], carried: Sequence[str], lot: Any
) -> Iterator[Any]:
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    first = context.partitionId() << tasks.ROW_BITS
    for batch in batches:
        key = pa.array(lot.at(np.arange(first, first + batch.num_rows)))
        first += batch.num_rows
        kept = {name: batch.column(name) for name in carried}
        yield pa.RecordBatch.from_pydict({**kept, **words.numbered(batch, counted), tasks.KEY: key})


def judge(shared: Any, judging: JudgePart, names: Sequence[str]) -> Callable[[Any, Any], Any]:
    """A task that judges whole groups of a written table beside the pieces that were planned with their labels."""

    def task(found: Any, pieces: Any) -> Any:
        return _judged(found, pieces, shared.value, judging, names)

    return task


def _judged(found: Any, pieces: Any, words: Dictionary, judging: JudgePart, names: Sequence[str]) -> Any:
    n = len(words.quasi)
    frame = pl.DataFrame(pl.from_arrow(found)).drop(PART)
    records = frame.drop_in_place(COUNT).to_numpy().astype(np.int64)
    frame.columns = list(names)
    known: list[Any] = [pl.Series(pieces.column(label(j)).combine_chunks(), dtype=pl.String) for j in range(n)]
    known += [words.codes[n + s][pieces.column(raw(s)).to_numpy()] for s in range(len(words.secrets))]
    planned = pl.DataFrame([pl.Series(name, column) for name, column in zip(names, known, strict=True)])
    planned = planned.with_columns(pl.Series(RECORDS, pieces.column(COUNT).to_numpy().astype(np.int64)))
    try:
        told = packed(judging(frame, records, planned))
    except TarnkappeError as error:
        told = packed(error)
    return pa.table({TOLD: pa.array([told], pa.binary())})
