"""Cells that stay on the cluster: parts of a Hilbert curve, each decided, written and recounted by an executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from tarnkappe.algorithms.local.curve import hilbert_places
from tarnkappe.algorithms.local.hilb_partitions import even_ranges
from tarnkappe.arrays import Counts
from tarnkappe.engines.cells import Distinct, encode_values
from tarnkappe.engines.ledger import Ledger
from tarnkappe.engines.parts import DecidePart, JudgePart, Parts, eligible_parts
from tarnkappe.engines.spark import part_tasks, tasks
from tarnkappe.engines.spark.ledger import summed_words, word_of_record
from tarnkappe.engines.spark.part_tasks import COUNT, CURVE, FIRST, PART, PLACED, TOLD, Dictionary, label, quasi, raw
from tarnkappe.engines.spark.session import translated
from tarnkappe.engines.spark.source import SparkSource
from tarnkappe.engines.spark.writer import FolderWriter
from tarnkappe.errors import LimitError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats, Histogram
from tarnkappe.io import Source
from tarnkappe.io.kept import MODULUS
from tarnkappe.parts import outline
from tarnkappe.plan import Distribution
from tarnkappe.schema import Schema
from tarnkappe.wording import count

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: Places of the curve that are counted apart in one pass: two to this power.
_BITS = 12

#: How many times as many cells as asked for a part may have, because it had to be joined with its neighbours.
_TIMES = 4

#: Rows that are worth a task of their own.
_ROWS_PER_TASK = 250_000

#: Rounds of the network that puts records in random order.
_ROUNDS = 8


class SparkParts(Parts):
    """The distinct rows of a table on Spark, cut along a Hilbert curve into parts of about `most` cells.

    The driver holds the values of each column and how often they occur, one number for every four thousandth of the
    curve, and what parts tell. Pieces of the plan, which are all that is decided, stay with the executors.
    """

    def __init__(
        self, source: SparkSource, schema: Schema, rows: DataFrame, n_cells: int, most: int, part: int
    ) -> None:
        """Encode the rows; `part` is how many records a written file has, about."""
        from pyspark import StorageLevel
        from pyspark.sql import functions

        self.n_cells = n_cells
        self._source, self._schema, self._most, self._part_size = source, schema, most, part
        self._kept: list[Any] = [rows]
        self._disk = StorageLevel.DISK_ONLY
        columns = [*schema.quasi, *schema.sensitive]
        self._counted = [source.inner(c.name) for c in columns]
        values = {c.name: _values(rows, source.inner(c.name), c.name) for c in columns}
        encoded = encode_values(columns, values, source, schema)
        n = len(schema.quasi)
        domains = [domain for _, domain in encoded]
        codes = tuple(np.asarray(code, np.int32) for code, _ in encoded)
        often = [
            np.bincount(code, values[c.name][1], domain.size).astype(np.int64)
            for c, code, domain in zip(columns, codes, domains, strict=True)
        ]
        self.outline = outline(often[:n], often[n:], domains[:n], domains[n:])
        arrow = tuple(self._arrow(values[c.name][0], source.inner(c.name)) for c in columns)
        self._words = Dictionary(arrow, codes, tuple(domains[:n]), tuple(domains[n:]))
        self._shared = self._broadcast(self._words)
        keys = [*map(quasi, range(n)), *map(raw, range(len(columns) - n))]
        types = ", ".join(f"{key} int" for key in keys)
        cells = rows.mapInArrow(part_tasks.encode(self._shared, self._counted), f"{types}, {COUNT} long, {CURVE} long")
        self._keys, self._key_types = keys, types
        encoded_rows = cells.groupBy(*keys, CURVE).agg(functions.sum(COUNT).alias(COUNT))
        self._cells = self._keep(_gathered(encoded_rows, n_cells))
        self._pieces: DataFrame | None = None

    @property
    def _spark(self) -> Any:
        return self._source.frame.sparkSession

    def _keep(self, frame: DataFrame) -> DataFrame:
        """A data frame that is made once, and then lies on the disks of the cluster."""
        kept = frame.persist(self._disk)
        self._kept.append(kept)
        return kept

    def _broadcast(self, what: Any) -> Any:
        """Something that every executor has a copy of, until this is released."""
        self._kept.append(self._spark.sparkContext.broadcast(what))
        return self._kept[-1]

    def _arrow(self, values: pl.Series, inner: str) -> Any:
        from pyspark.sql.pandas.types import to_arrow_type

        return values.to_arrow().cast(to_arrow_type(self._source.frame.schema[inner].dataType))

    def release(self) -> None:
        """Let go of all that lies on the disks of the cluster, and of what its executors were told."""
        while self._kept:
            self._kept.pop().unpersist()

    def decide(self, goal: Goal, decide: DecidePart) -> list[Any]:
        """Cut the curve, join parts that are not eligible with their neighbours, and let each be decided by a task."""
        with translated(self._source.name):
            bounds = self._cut()
            bounds = bounds[np.flatnonzero(np.diff(self._joined(goal, bounds), prepend=-1))]
            types = ", ".join(f"{label(j)} string" for j in range(len(self._words.quasi)))
            pieces = f"{FIRST} long, {PLACED} long, {COUNT} long, {self._key_types}, {types}, {PART} int, {TOLD} binary"
            shared = self._broadcast((self._words, self.outline))
            parts = self._numbered(bounds).repartition(len(bounds), PART).groupBy(PART)
            decided = self._keep(parts.applyInArrow(part_tasks.decide(shared, decide), pieces))
            told = decided.where(f"{TOLD} is not null").select(PART, TOLD).collect()
        self._pieces = decided.where(f"{TOLD} is null").drop(TOLD)
        return [part_tasks.unpacked(bytes(row[1])) for row in sorted(told, key=lambda row: int(row[0]))]

    def _numbered(self, bounds: Counts) -> DataFrame:
        return self._cells.mapInArrow(part_tasks.number(bounds), f"{self._key_types}, {COUNT} long, {PART} int")

    def _cut(self) -> Counts:
        """Where parts of about equally many cells begin on the curve.

        Cells are counted by the first bits of their places, and where these are too many in one, by further bits.
        """
        from pyspark.sql import functions

        bits = hilbert_places(np.zeros((1, len(self._words.quasi)), np.int32), self._words.quasi)[1]
        crowded: list[int] | None = None
        found: dict[int, int] = {}
        while crowded is None or crowded:
            cells = self._cells
            if crowded is not None:
                cells = cells.where(functions.shiftright(CURVE, bits).isin(crowded))
            bits, before = max(bits - _BITS, 0), bits
            counted = cells.groupBy(functions.shiftright(CURVE, bits).alias(CURVE)).count().collect()
            crowded = [int(at) for at, n in counted if n > self._most and bits < before and bits]
            found |= {int(at) << bits: int(n) for at, n in counted if int(at) not in crowded}
        places = np.array(sorted(found), np.int64)
        cells_at = np.array([found[place] for place in places.tolist()], np.int64)
        bounds = places[even_ranges(cells_at, -(-int(cells_at.sum()) // self._most))[:-1]]
        bounds[0] = 0
        return bounds

    def _joined(self, goal: Goal, bounds: Counts) -> Counts:
        """The joined part of each part; each satisfies the goal as a whole."""
        from pyspark.sql import functions

        numbered = self._numbered(bounds)
        records, cells = np.zeros(len(bounds), np.int64), np.zeros(len(bounds), np.int64)
        for part, n, of in numbered.groupBy(PART).agg(functions.sum(COUNT), functions.count("*")).collect():
            records[part], cells[part] = n, of
        histograms: dict[str, Histogram] = {}
        for s, domain in enumerate(self._words.secrets):
            if domain.name in goal.columns:
                found = numbered.groupBy(PART, raw(s)).agg(functions.sum(COUNT).alias(COUNT)).toArrow()
                part, number, n = (column.to_numpy() for column in found.columns)
                codes = self._words.codes[len(self._words.quasi) + s][number]
                stats = GroupStats.from_cells(part, n.astype(np.int64), {domain.name: (codes, domain)})
                histograms |= stats.histograms
        into = eligible_parts(goal, GroupStats(records, histograms))
        largest = int(np.bincount(into, cells).max())
        if largest > _TIMES * self._most:
            raise LimitError(
                "E702",
                "parts of the table that fit into the memory allowed do not satisfy the goal by themselves",
                details=[f"One of them would have {count(largest)} cells; about {count(self._most)} are allowed."],
                hint="Allow more with  --memory, declare fewer quasi-identifiers, or ask for less.",
            )
        return into

    @property
    def _decided(self) -> DataFrame:
        assert self._pieces is not None, "nothing was decided"
        return self._pieces

    @property
    def _labels(self) -> list[str]:
        return [label(j) for j in range(len(self._words.quasi))]

    def size_counts(self) -> Distribution:
        """The sizes of all groups and how many have each; groups that look the same are one."""
        from pyspark.sql import functions

        with translated(self._source.name):
            sizes = self._decided.groupBy(*self._labels).agg(functions.sum(COUNT).alias(COUNT))
            found = sizes.groupBy(COUNT).agg(functions.count("*")).collect()
        return tuple(sorted((int(size), int(groups)) for size, groups in found))

    def rewrite(
        self, schema: Schema, columns: Sequence[str], writer: Any, n_published: int, rng: np.random.Generator
    ) -> Ledger | None:
        """Write the release: the pieces written out if they say everything, else records joined with their pieces."""
        assert isinstance(writer, FolderWriter), "what is in parts is written by Spark"
        lot = tasks.Lot(1 << tasks.KEY_BITS, tuple(int(k) for k in rng.integers(0, 1 << 63, _ROUNDS, dtype=np.int64)))
        ledger = None
        with translated(self._source.name):
            if schema.with_role("keep"):
                frame, ledger = self._recoded(schema, lot, n_published)
            else:
                frame = self._written_out(schema, lot)
            n_files = -(-n_published // self._part_size)
            frame = frame.repartition(n_files, tasks.KEY).sortWithinPartitions(tasks.KEY).drop(tasks.KEY)
        writer.save(frame.toDF(*columns))
        return ledger

    def _written_out(self, schema: Schema, lot: tasks.Lot) -> DataFrame:
        """Every piece as so many rows, with their sort keys."""
        from pyspark.sql.types import LongType, StringType, StructType

        places = {c.name: ("label", j) for j, c in enumerate(schema.quasi)}
        places |= {c.name: ("secret", s) for s, c in enumerate(schema.sensitive)}
        types = StructType()
        for i, name in enumerate(schema.published):
            known = self._source.frame.schema[self._source.inner(name)].dataType
            types = types.add(f"c{i}", StringType() if places[name][0] == "label" else known)
        task = part_tasks.expand(self._shared, lot, [places[name] for name in schema.published])
        return self._decided.mapInArrow(task, types.add(tasks.KEY, LongType()))

    def _recoded(self, schema: Schema, lot: tasks.Lot, n_published: int) -> tuple[DataFrame, Ledger]:
        """The records of the input joined with the pieces of their cells, and what the ledger says about them.

        Records of one row are placed by lot, and each piece takes as many of them as planned, one after the other.
        """
        from pyspark.sql import Window, functions
        from pyspark.sql.types import IntegerType, StructType

        source = self._source
        held = {c.name: source.inner(c.name) for c in schema.with_role("sensitive", "keep")}
        carried = list(held.values())
        types = {inner: source.frame.schema[inner].dataType for inner in carried}
        wanted = StructType()  # it grows by `add`
        for name, type_ in [*types.items(), *((key, IntegerType()) for key in self._keys)]:
            wanted.add(name, type_)
        records = source.frame.select(*dict.fromkeys([*self._counted, *carried])).mapInArrow(
            part_tasks.locate(self._shared, self._counted, carried, lot), wanted.add(tasks.KEY, "long")
        )
        in_row = Window.partitionBy(*self._keys).orderBy(tasks.KEY)
        placed = records.withColumn(tasks.PLACE, functions.row_number().over(in_row) - 1)
        pieces = self._decided.select(*self._keys, *self._labels, PLACED, COUNT)
        within = f"{tasks.PLACE} >= {PLACED} and {tasks.PLACE} < {PLACED} + {COUNT}"
        joined = self._keep(_gathered(placed.join(pieces, self._keys).where(within), n_published))
        word = word_of_record(joined, dict.fromkeys(self._labels, pl.String()), types)
        n, words = joined.agg(functions.count("*"), summed_words(word)).collect()[0]
        carried_types = {name: types[inner] for name, inner in held.items()}
        ledger = Ledger(carried_types, int(words or 0) % MODULUS, int(n) == n_published)
        shown = dict(zip((c.name for c in schema.quasi), self._labels, strict=True))
        return joined.select(*((shown | held)[name] for name in schema.published), tasks.KEY), ledger

    def table(self, written: Source, column: str) -> Distinct:
        """The values of a column of a written table, and how many records have each."""
        assert isinstance(written, SparkSource)
        with translated(written.name):
            return _values(written.distinct_rows([column]), written.inner(column), column)

    def recount(self, written: Source, schema: Schema, judge: JudgePart) -> list[Any]:
        """Bring what looks alike together, in what was written and in what was decided, and let tasks judge it."""
        from pyspark.sql import functions

        assert isinstance(written, SparkSource)
        names = [c.name for c in (*schema.quasi, *schema.sensitive)]
        n_parts = max(1, -(-self.n_cells // self._most))

        def apart(labels: Sequence[str]) -> Column:
            return functions.pmod(functions.hash(*labels), functions.lit(n_parts)).alias(PART)

        shown = [written.inner(c.name) for c in schema.quasi]
        with translated(written.name):
            found = written.distinct_rows(names).select("*", apart(shown))
            numbers = [raw(s) for s in range(len(schema.sensitive))]
            planned = self._decided.groupBy(*self._labels, *numbers).agg(functions.sum(COUNT).alias(COUNT))
            planned = planned.select("*", apart(self._labels))
            both = found.groupBy(PART).cogroup(planned.groupBy(PART))
            told = both.applyInArrow(part_tasks.judge(self._shared, judge, names), f"{TOLD} binary").collect()
        return [part_tasks.unpacked(bytes(row[0])) for row in told]


def _values(rows: DataFrame, inner: str, name: str) -> Distinct:
    """The values of a column in ascending order, the missing one first, and how many records have each."""
    from pyspark.sql import functions

    found = pl.DataFrame(pl.from_arrow(rows.groupBy(inner).agg(functions.sum(COUNT).alias(COUNT)).toArrow()))
    known = found.filter(pl.col(inner).is_not_null()).sort(inner)
    missing = found.filter(pl.col(inner).is_null())[COUNT].sum()
    values = pl.concat([pl.Series([None], dtype=known.schema[inner]), known[inner]]).alias(name)
    return values, np.append(int(missing or 0), known[COUNT].to_numpy()).astype(np.int64)


def kept_rows(source: SparkSource, columns: Sequence[str]) -> tuple[DataFrame, int]:
    """The distinct rows of some columns, which lie on the disks of the cluster from now on, and their number."""
    from pyspark import StorageLevel
    from pyspark.sql import functions

    with translated(source.name):
        rows = _gathered(source.distinct_rows(columns), source.n_rows).persist(StorageLevel.DISK_ONLY)
        n, records = rows.agg(functions.count("*"), functions.sum(COUNT)).collect()[0]
    if int(records or 0) != source.n_rows:
        raise source.unreadable()
    return rows, int(n)


def _gathered(frame: DataFrame, n_rows: int) -> DataFrame:
    """A data frame of at most so many rows in no more partitions than are worth a task each.

    What is kept on disk has as many partitions as it was made in, which are far too many for a small table.
    """
    cores = frame.sparkSession.sparkContext.defaultParallelism
    return frame.coalesce(max(cores, -(-n_rows // _ROWS_PER_TASK)))
