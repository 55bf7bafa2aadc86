"""What runs on the workers of a cluster: numpy and Arrow only.

These functions travel to the workers by value, so the nodes of a cluster need numpy and PyArrow, but not Tarnkappe.
What a task does depends on the seed, on the number of its partition and on the records in it, and on nothing else: a
task that is run again, on whatever worker, gives the same rows.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

#: Rows that a task holds at a time.
BATCH = 1 << 16

#: Columns that only exist on the way: the sort key of a record, its cell, its place among the records of its cell, and
#: its group.
KEY, CELL, PLACE, GROUP = "key", "cell", "place", "group"

#: Bits of a sort key: those of the number of a partition, and those of a row in it.
ROW_BITS, KEY_BITS = 40, 62

_KEY_LIMIT = 63


#: What the first field is where a line cannot be parsed by itself; no line can hold it.
ODD_LINE = "\n"


def parse_lines(delimiter: str, quote: str, n_fields: int) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """A task that splits lines with quoted fields; one that is no complete record of so many fields becomes `ODD_LINE`.

    In its strict mode Python's parser follows the rules that files are checked by: a field is quoted if it begins with
    a quote, and after the closing one comes a delimiter or nothing.
    """

    def fields(line: str) -> list[str]:
        try:
            (record,) = csv.reader([line], delimiter=delimiter, quotechar=quote, strict=True)
        except (csv.Error, ValueError):
            return []
        return record

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        csv.field_size_limit(sys.maxsize)
        odd = [ODD_LINE] * n_fields
        for batch in batches:
            records = map(fields, batch.column(0).to_pylist())
            columns = zip(*(record if len(record) == n_fields else odd for record in records), strict=True)
            arrays = [pa.array(column, pa.string()) for column in columns]
            if arrays:
                yield pa.RecordBatch.from_arrays(arrays, [f"c{j}" for j in range(n_fields)])

    return task


@dataclass(frozen=True)
class Lot:
    """An order of the numbers ``0 .. n-1`` as if drawn by lot, any part of which can be computed on its own.

    A Feistel network turns numbers of an even number of bits into each other, one to one; numbers beyond ``n`` are sent
    through again until they fall inside (cycle walking). There is one secret key per round.

    >>> lot = Lot(10, (1, 2, 3, 4, 5, 6, 7, 8))
    >>> sorted(lot.at(np.arange(10)).tolist()) == list(range(10))
    True
    """

    n: int
    keys: tuple[int, ...]

    def at(self, places: NDArray[Any]) -> NDArray[np.int64]:
        """The number at each of some places."""
        half = max(1, (max(self.n - 1, 1).bit_length() + 1) // 2)
        drawn = self._turned(places.astype(np.uint64), half)
        outside = np.flatnonzero(drawn >= self.n)
        while outside.size:
            again = self._turned(drawn[outside], half)
            drawn[outside] = again
            outside = outside[again >= self.n]
        return drawn.astype(np.int64)

    def _turned(self, numbers: NDArray[np.uint64], half: int) -> NDArray[np.uint64]:
        shift, mask = np.uint64(half), np.uint64((1 << half) - 1)
        left, right = numbers >> shift, numbers & mask
        for key in self.keys:
            left, right = right, left ^ (_scrambled(right + np.uint64(key)) & mask)
        return (left << shift) | right


def _scrambled(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread every bit of the numbers over all their bits (the finaliser of SplitMix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class Texts:
    """A column of few values: the values, and which of them each group (or each combination of secrets) has."""

    values: Any
    code: NDArray[np.int32]

    def at(self, rows: NDArray[Any]) -> Any:
        """The values of some groups as an Arrow array; a negative code is a missing value."""
        code = self.code[rows]
        return self.values.take(pa.array(code, mask=code < 0))


@dataclass(frozen=True, eq=False)
class Cells:
    """Finds the cell of a record by its values.

    `values` are the distinct values of each column, a missing one among them if it occurs. The number of a value takes
    `bits` bits of a key; as many columns as fit share one key, and each further round begins with the rank of the last
    (`ranks`, the sorted keys that occur). `cell` is the cell of every key of the last round.
    """

    values: tuple[Any, ...]
    bits: tuple[int, ...]
    ranks: tuple[NDArray[np.int64], ...]
    cell: NDArray[np.int32]

    def of(self, columns: Sequence[Any]) -> NDArray[np.int32]:
        """The cell of every record."""
        codes = [
            pc.index_in(comparable(column), value_set=values).fill_null(-1).to_numpy(zero_copy_only=False)
            for column, values in zip(columns, self.values, strict=True)
        ]
        if any((code < 0).any() for code in codes):
            raise ValueError("the data changed while they were read")
        keys, rounds = rank_keys(codes, self.bits, self.ranks)
        known = rounds[-1]
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        if not np.array_equal(known[at], keys):
            raise ValueError("the data changed while they were read")
        return self.cell[at]


def rank_keys(
    codes: Sequence[NDArray[Any]], bits: Sequence[int], ranks: Sequence[NDArray[np.int64]] | None = None
) -> tuple[NDArray[np.int64], tuple[NDArray[np.int64], ...]]:
    """One whole number per row that is the same for the same codes, and the sorted keys of every round.

    With `ranks` of an earlier call the numbers are those of the rows of that call.
    """
    keys = np.zeros(len(codes[0]), np.int64)
    width = 0
    rounds: list[NDArray[np.int64]] = []

    def close() -> NDArray[np.int64]:
        known = np.unique(keys) if ranks is None else ranks[len(rounds)]
        rounds.append(known)
        return known

    for code, n_bits in zip(codes, bits, strict=True):
        if width + n_bits > _KEY_LIMIT:
            known = close()
            keys = np.searchsorted(known, keys).astype(np.int64)
            width = max(len(known) - 1, 1).bit_length()
        keys = (keys << n_bits) | code
        width += n_bits
    close()
    return keys, tuple(rounds)


def comparable(column: Any) -> Any:
    """The column as Spark compares it: there is one zero."""
    return pc.add(column, pa.scalar(0.0, column.type)) if pa.types.is_floating(column.type) else column


Task = Callable[[Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True, eq=False)
class Pieces:
    """Which records go into which group: piece ``i`` holds the places ``ends[i-1] .. ends[i]-1``."""

    ends: NDArray[np.int64]
    group: NDArray[np.int32]

    def at(self, places: NDArray[Any]) -> NDArray[np.int64]:
        """The piece that holds each place."""
        return np.searchsorted(self.ends, places, side="right")


@dataclass(frozen=True, eq=False)
class Release:
    """A whole release: the columns of group ``g`` are ``labels[…].at(g)``, those of a piece's secrets ``secrets[…]``.

    Names of columns are in the order in which they are published.
    """

    pieces: Pieces
    secret: NDArray[np.int32]
    columns: tuple[str, ...]
    labels: dict[str, Texts]
    secrets: dict[str, Texts]
    lot: Lot

    def rows(self, start: int, end: int) -> Iterator[Any]:
        """The rows ``start .. end-1`` of the release, batch by batch."""
        for begin in range(start, end, BATCH):
            piece = self.pieces.at(self.lot.at(np.arange(begin, min(begin + BATCH, end))))
            group, secret = self.pieces.group[piece], self.secret[piece]
            arrays = [
                self.labels[name].at(group) if name in self.labels else self.secrets[name].at(secret)
                for name in self.columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, names=list(self.columns))


def plain(made: Any) -> Any:
    """An object of this module as tuples, mappings and arrays, which any worker can unpickle."""
    if is_dataclass(made):
        return type(made).__name__, {f.name: plain(getattr(made, f.name)) for f in fields(made)}
    return {key: plain(value) for key, value in made.items()} if isinstance(made, dict) else made


def built(given: Any) -> Any:
    """The inverse of `plain`."""
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], str) and given[0] in _KINDS:
        return _KINDS[given[0]](**{key: built(value) for key, value in given[1].items()})
    return {key: built(value) for key, value in given.items()} if isinstance(given, dict) else given


def generate(release: Any, n_partitions: int) -> Task:
    """A task that writes its share of a release, given the numbers of partitions; `release` is broadcast."""

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        made = built(release.value)
        n = made.lot.n
        for batch in batches:
            for part in batch.column(0).to_pylist():
                yield from made.rows(n * part // n_partitions, n * (part + 1) // n_partitions)

    return task


@dataclass(frozen=True, eq=False)
class Recoding:
    """How records are recoded one by one: their cell by the columns `counted`, then the labels of their group.

    A record is told from others by the number of its partition and of its row, which `lot` turns into a sort key.
    """

    cells: Cells
    counted: tuple[str, ...]
    carried: tuple[str, ...]
    labels: dict[str, Texts]
    columns: tuple[str, ...]
    #: The group of every cell, if no cell is divided; otherwise the pieces, and where those of each cell begin.
    group: NDArray[np.int32]
    pieces: Pieces | None
    starts: NDArray[np.int64]
    lot: Lot

    def labelled(self, group: NDArray[np.int32], batch: Any) -> Any:
        """The published columns and the sort key of records, without those that are suppressed."""
        kept = np.flatnonzero(group >= 0)
        if len(kept) < len(group):
            batch, group = batch.take(pa.array(kept)), group[kept]
        arrays = [self.labels[name].at(group) if name in self.labels else batch.column(name) for name in self.columns]
        return pa.RecordBatch.from_arrays([*arrays, batch.column(KEY)], names=[*self.columns, KEY])

    def entered(self, cell: NDArray[np.int32], group: NDArray[np.int32], batch: Any) -> Any:
        """What the ledger must know about records: what they carry, their cells and their groups."""
        arrays = [*(batch.column(name) for name in self.carried), pa.array(cell), pa.array(group)]
        return pa.RecordBatch.from_arrays(arrays, names=[*self.carried, CELL, GROUP])


_KINDS: dict[Any, Any] = {kind.__name__: kind for kind in (Lot, Texts, Cells, Pieces, Release, Recoding)}


def locate(recoding: Any, *, enter: bool = False) -> Task:
    """A task that gives every record its sort key, and its labels or, where cells are divided, its cell.

    With `enter`, records are made ready for the ledger instead of being labelled.
    """

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        made = built(recoding.value)
        context = TaskContext.get()
        assert context is not None
        first = context.partitionId() << ROW_BITS
        for batch in batches:
            cell = made.cells.of([batch.column(name) for name in made.counted])
            key = pa.array(made.lot.at(np.arange(first, first + batch.num_rows)))
            first += batch.num_rows
            carried = [batch.column(name) for name in made.carried]
            if made.pieces is None:
                known = pa.RecordBatch.from_arrays([*carried, key], names=[*made.carried, KEY])
                group = made.group[cell]
                yield made.entered(cell, group, known) if enter else made.labelled(group, known)
            else:
                arrays = [*carried, key, pa.array(cell)]
                yield pa.RecordBatch.from_arrays(arrays, names=[*made.carried, KEY, CELL])

    return task


def deal(recoding: Any, *, enter: bool = False) -> Task:
    """A task that gives records their labels by their place (from 1) among the records of their cell.

    With `enter`, records are made ready for the ledger instead of being labelled.
    """

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        made = built(recoding.value)
        for batch in batches:
            cell = batch.column(CELL).to_numpy()
            place = batch.column(PLACE).to_numpy().astype(np.int64)
            piece = made.pieces.at(made.starts[cell] + place - 1)
            group = made.pieces.group[piece]
            yield made.entered(cell, group, batch) if enter else made.labelled(group, batch)

    return task


def plain_schema(schema: Any) -> Any:
    """The types of columns once their categories are written out."""
    return pa.schema([f.with_type(_plain_type(f.type)).remove_metadata() for f in schema]).remove_metadata()


def _plain_type(type_: Any) -> Any:
    type_ = type_.value_type if pa.types.is_dictionary(type_) else type_
    return pa.string() if pa.types.is_large_string(type_) else type_


def packed(table: Any) -> bytes:
    """A table as bytes: categories as codes, and compressed."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def expand(batches: Iterable[Any]) -> Iterator[Any]:
    """A task that makes rows again of what `packed` made of them."""
    for batch in batches:
        for part in batch.column(0):
            table = pa.ipc.open_stream(pa.py_buffer(part.as_py())).read_all()
            table = table.cast(plain_schema(table.schema))
            table = table.rename_columns([f"c{j}" for j in range(table.num_columns)])
            yield from table.to_batches(max_chunksize=BATCH)
