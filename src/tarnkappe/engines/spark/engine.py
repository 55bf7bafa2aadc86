"""The Spark engine: counts and rewrites tables where they are, on one machine or on many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import polars as pl
import pyarrow as pa

from tarnkappe.arrays import Codes
from tarnkappe.engines.base import Engine, Rewritten, Writer, write_sheet
from tarnkappe.engines.cells import tally_of_cells
from tarnkappe.engines.needs import BASE, cells_within, memory_for
from tarnkappe.engines.spark import tasks
from tarnkappe.engines.spark.ledger import ledger_of
from tarnkappe.engines.spark.part_tasks import divided
from tarnkappe.engines.spark.parts import SparkParts, kept_rows
from tarnkappe.engines.spark.session import session, translated
from tarnkappe.engines.spark.source import SparkSource, open_frame, open_path
from tarnkappe.engines.spark.writer import FolderWriter
from tarnkappe.errors import JobError, LimitError
from tarnkappe.fixes import setting
from tarnkappe.io import Cells, CsvDialect, Format, Source, open_source
from tarnkappe.io.reading import file_only, is_selective
from tarnkappe.plan import Plan
from tarnkappe.publish.labels import Labels
from tarnkappe.publish.sheets import Sheet
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally, distinct_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

#: Records per written file, about.
PART = 1_000_000

#: Rounds of the network that puts records in random order.
_ROUNDS = 8


class SparkEngine(Engine):
    """Counts and rewrites tables that Spark reads, on ``local[*]``, a standalone master, YARN or Kubernetes.

    Records of the input never come to the driver. What travels:

    ========  ========================  =====================================================================
    step      shuffles                  why
    ========  ========================  =====================================================================
    count     1                         counts of equal rows must meet; each task sends one count per
                                        distinct row that it has seen (map-side combine)
    rewrite   0, without ``keep``       the groups and the sensitive values determine the release, so it is
                                        generated from the plan: nothing is read, nothing is shuffled
    rewrite   1, with ``keep``          records are put in random order, or their place would tell which they
                                        were in the input
    rewrite   2, with ``keep`` and      the records of a cell must meet, so that exactly as many of them go to
              divided cells             each group as planned; then they are put in random order
    ledger    1 or 2, with ``keep``     records are located and dealt once more, to add up what each piece of the plan
                                        must have in the release
    recount   1                         as for count
    ========  ========================  =====================================================================

    A lost executor or a task that is run again changes nothing: what a task does depends on the seed, the number of its
    partition and the records in it. Order and lots come from keyed permutations (`tasks.Lot`) of numbers that every
    record or row has anyway, not from a generator that runs on.

    Parameters
    ----------
    master
        Where Spark runs. By default what Spark's own configuration says, else ``local[*]``.
    conf
        Further settings of Spark, such as ``{"spark.executor.memory": "4g"}``.
    limit
        The memory in bytes that deciding may take in one process. Cells that need more are decided in parts, by the
        executors.
    """

    name: ClassVar = "spark"
    keeps_order: ClassVar = False

    def __init__(
        self, master: str | None = None, conf: Mapping[str, str] | None = None, limit: int | None = None
    ) -> None:
        self._limit = limit
        self.spark = session(master, conf)
        from pyspark import cloudpickle

        by_value: Any = cloudpickle.register_pickle_by_value  # the tasks need not be installed on the workers
        by_value(tasks)
        self._source: SparkSource | None = None
        self._aside: tuple[Column, ...] = ()
        self._cell: Codes = np.zeros(0, np.int32)

    def open(self, data: Any, dialect: CsvDialect | None = None, missing: tuple[str, ...] = ("",)) -> SparkSource:
        """Open a file or folder wherever Spark reaches it, or a data frame: one of Spark's, or any other."""
        if isinstance(data, (str, Path)) and not is_selective(dialect):
            return open_path(self.spark, data, None if dialect is None else file_only(dialect), missing)
        if type(data).__module__.startswith("pyspark."):
            return open_frame(data, missing)
        if is_selective(dialect) and isinstance(data, (str, Path)):
            raise JobError(
                "E110",
                "filters and derived columns are for the engines memory and streaming, not for Spark",
                hint=setting("engine: streaming", "engine", "streaming"),
            )
        with open_source(data, dialect, missing) as source:
            given = source.read(source.columns).with_columns(pl.selectors.categorical().cast(pl.String))
        return open_frame(self.spark.createDataFrame(given.to_arrow(compat_level=pl.CompatLevel.oldest())), missing)

    def writer(
        self, path: str | Path, format_: Format, dialect: CsvDialect | None, missing: str
    ) -> AbstractContextManager[Writer]:
        """A folder of parts."""
        return FolderWriter(self.spark, path, format_, dialect, missing)

    def count(
        self, source: Source, schema: Schema, aside: Sequence[Column] = (), population: Source | None = None
    ) -> Tally:
        """Count equal rows on the cluster; each distinct row is encoded here."""
        assert isinstance(source, SparkSource)
        columns = [*schema.quasi, *schema.sensitive, *aside]
        names = [c.name for c in columns]
        rows = None
        if self._limit is not None:
            rows, n_cells = kept_rows(source, names)
            if memory_for(n_cells, len(names)) > self._limit:
                self.parts = self._in_parts(source, schema, rows, n_cells, len(names), aside, population)
                return self.parts.outline
        self._rows = source.cells(names, self.step, rows)
        if rows is not None:
            rows.unpersist()
        people = None if population is None else population.cells([c.name for c in schema.quasi])
        self._source, self._aside = source, tuple(aside)
        tally, self._cell = tally_of_cells(self._rows, source, schema, aside, people, population)
        return tally

    def _in_parts(
        self,
        source: SparkSource,
        schema: Schema,
        rows: DataFrame,
        n_cells: int,
        n_columns: int,
        aside: Sequence[Column],
        population: Source | None,
    ) -> SparkParts:
        """The cells as they lie on the cluster, in parts that the memory allowed is enough for."""
        assert self._limit is not None
        needed, most = memory_for(n_cells, n_columns), cells_within(self._limit, n_columns)
        more = f"--memory {-(-needed // 10**9)}GB"
        if not most:
            least = f"--memory {-(-2 * BASE // 10**9)}GB"
            raise LimitError("E702", f"a process needs more than {self._limit / 1e9:.1f} GB", hint=least)
        if aside or population is not None:
            raise LimitError(
                "E702",
                f"about {needed / 1e9:.1f} GB of memory are needed, {self._limit / 1e9:.1f} GB allowed; in parts only "
                "what is published can be decided about",
                hint=f"{more}   or declare fewer or coarser quasi-identifiers.",
            )
        with translated(source.name):
            return SparkParts(source, schema, rows, n_cells, most, PART)

    def rewrite(self, plan: Plan, schema: Schema, writer: Writer, rng: np.random.Generator) -> Rewritten:
        """Write the release: generated from the plan if that says everything, else record by record."""
        assert self._source is not None, "nothing was counted"
        self._refuse_hidden(plan, schema)
        keys = tuple(int(k) for k in rng.integers(0, 1 << 63, _ROUNDS, dtype=np.int64))
        ledger = None
        if schema.with_role("keep"):
            frame, entered = self.recoded(plan, schema, keys)
            names = {c.name: self._inner(c.name) for c in schema.with_role("sensitive", "keep")}
            with translated(self._source.name):
                ledger = ledger_of(plan, entered, names)
        else:
            frame = self.generated(plan, schema, keys)
        frame = frame.toDF(*plan.columns(schema))
        if isinstance(writer, FolderWriter):
            writer.save(frame, plan.n_published, self.step)
        else:  # somebody wants the records here
            with translated(self._source.name):
                table = pl.from_arrow(frame.toArrow())
            assert isinstance(table, pl.DataFrame)
            writer.write(table)
        return Rewritten(pl.DataFrame(), ledger)

    def write(self, sheets: Sequence[tuple[Sheet, Writer]]) -> None:
        """Write tables that follow from the plan alone: made here as codes, which executors turn into rows."""
        for sheet, writer in sheets:
            if isinstance(writer, FolderWriter):
                writer.save(self._expanded(sheet))
            else:
                write_sheet(sheet, writer)

    def _expanded(self, sheet: Sheet) -> DataFrame:
        """A table of which every part travels as codes of few bytes a row, in the order of its rows."""
        from pyspark.sql.pandas.types import from_arrow_schema

        parts: list[Any] = []
        for batch in sheet.batches():
            table = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            schema = tasks.plain_schema(table.schema)
            parts += [(bytearray(tasks.packed(table.slice(at, PART))),) for at in range(0, table.num_rows, PART)]
        inner = pa.schema([schema.field(j).with_name(f"c{j}") for j in range(len(sheet.columns))])
        shared = self.spark.createDataFrame(self.spark.sparkContext.parallelize(parts, len(parts)), "part binary")
        return shared.mapInArrow(tasks.expand, from_arrow_schema(inner)).toDF(*sheet.columns)

    def _refuse_hidden(self, plan: Plan, schema: Schema) -> None:
        hidden = [c.name for c in self._aside if c.name not in schema.published and c.name in plan.goal.columns]
        if hidden:
            raise JobError(
                "E111",
                f"a criterion looks at '{hidden[0]}', which is not published, so Spark cannot check what it wrote",
                hint="engine: streaming   or publish the column:  role: sensitive",
            )

    def generated(self, plan: Plan, schema: Schema, keys: tuple[int, ...]) -> DataFrame:
        """The release made from the plan alone: no record is read again."""
        source, n = self._source, plan.n_published
        assert source is not None
        places = [self._rows.names.index(c.name) for c in schema.sensitive]
        secret, first = _secrets(self._rows, places)
        labels = self._labels(plan, schema)
        pieces, of_piece = divided(plan, self._cell, secret, self._rows.count)
        release = tasks.Release(
            pieces,
            of_piece,
            self._columns(plan, schema),
            labels,
            {
                source.inner(self._rows.names[j]): tasks.Texts(self._arrow(j), self._rows.codes[first, j])
                for j in places
            },
            tasks.Lot(n, keys),
        )
        n_parts = -(-n // PART)
        shared = self.spark.sparkContext.broadcast(tasks.plain(release))
        return self.spark.range(0, n_parts, 1, n_parts).mapInArrow(
            tasks.generate(shared, n_parts), self._types(self._columns(plan, schema), labels)
        )

    def recoded(self, plan: Plan, schema: Schema, keys: tuple[int, ...]) -> tuple[DataFrame, DataFrame]:
        """The records of the input under the labels of their groups, in random order; also as the ledger takes them.

        Both come from the same lots, so that they agree on who goes where.
        """
        from pyspark.sql import Window, functions

        source = self._source
        assert source is not None
        grouping = plan.grouping
        group, quota = grouping.group, grouping.quota
        divided = grouping.splits_cells
        carried = [source.inner(c.name) for c in schema.with_role("sensitive", "keep")]
        counted = [source.inner(name) for name in self._rows.names]
        labels = self._labels(plan, schema)
        recoding = tasks.Recoding(
            self._cells_of_records(),
            tuple(counted),
            tuple(carried),
            labels,
            self._columns(plan, schema),
            np.zeros(0, np.int32) if divided else group,
            tasks.Pieces(np.cumsum(quota), group) if divided else None,
            np.cumsum(np.append(0, plan.tally.count))[:-1],
            tasks.Lot(1 << tasks.KEY_BITS, keys),
        )
        shared = self.spark.sparkContext.broadcast(tasks.plain(recoding))
        records = source.frame.select(*dict.fromkeys([*counted, *carried]))
        done = self._types(self._columns(plan, schema), labels).add(tasks.KEY, "long")
        some = [self._inner(c.name) for c in schema.with_role("sensitive", "keep")]
        known = self._types(some, {}).add(tasks.CELL, "integer").add(tasks.GROUP, "integer")
        if divided:
            located = self._types(some, {}).add(tasks.KEY, "long").add(tasks.CELL, "integer")
            in_cell = Window.partitionBy(tasks.CELL).orderBy(tasks.KEY)
            placed = records.mapInArrow(tasks.locate(shared), located).withColumn(
                tasks.PLACE, functions.row_number().over(in_cell)
            )
            entered = placed.mapInArrow(tasks.deal(shared, enter=True), known)
            records = placed.mapInArrow(tasks.deal(shared), done)
        else:
            entered = records.mapInArrow(tasks.locate(shared, enter=True), known)
            records = records.mapInArrow(tasks.locate(shared), done)
        n_parts = -(-plan.n_published // PART)
        return records.repartition(n_parts, tasks.KEY).sortWithinPartitions(tasks.KEY).drop(tasks.KEY), entered

    def _labels(self, plan: Plan, schema: Schema) -> dict[str, tasks.Texts]:
        inner = dict(zip(plan.columns(schema), self._columns(plan, schema), strict=True))
        return {inner[name]: tasks.Texts(_values(labels), labels.code) for name, labels in plan.shown(schema).items()}

    def _columns(self, plan: Plan, schema: Schema) -> tuple[str, ...]:
        """What the published columns are called inside Spark: figures have names that no column of the data has."""
        return (*map(self._inner, schema.published), *(f"f{i}" for i in range(len(plan.figures))))

    def _types(self, columns: Sequence[str], labels: Mapping[str, tasks.Texts]) -> StructType:
        """The types of columns inside Spark: of labels that of their values, of others what it was."""
        from pyspark.sql.pandas.types import from_arrow_type
        from pyspark.sql.types import StructType

        out = StructType()
        for inner in columns:
            out = out.add(inner, from_arrow_type(labels[inner].values.type) if inner in labels else self._type(inner))
        return out

    def _inner(self, name: str) -> str:
        assert self._source is not None
        return self._source.inner(name)

    def _type(self, inner: str) -> DataType:
        assert self._source is not None
        found: DataType = self._source.frame.schema[inner].dataType
        return found

    def _arrow(self, j: int) -> Any:
        """The distinct values of a counted column, in the type in which Spark hands them to a task."""
        from pyspark.sql.pandas.types import to_arrow_type

        wanted = to_arrow_type(self._type(self._inner(self._rows.names[j])))
        return self._rows.values[j].to_arrow().cast(wanted)

    def _cells_of_records(self) -> tasks.Cells:
        """What tells a task the cell of a record: the distinct rows, and the cell of each."""
        columns = range(len(self._rows.names))
        bits = tuple(max(len(values) - 1, 1).bit_length() for values in self._rows.values)
        codes = [self._rows.codes[:, j].astype(np.int64) for j in columns]
        keys, ranks = tasks.rank_keys(codes, bits)
        cell = np.empty(len(keys), np.int32)
        cell[np.searchsorted(ranks[-1], keys)] = self._cell
        return tasks.Cells(tuple(self._arrow(j) for j in columns), bits, ranks, cell)


def _values(labels: Labels) -> Any:
    """What labels publish as an Arrow array: numbers or texts."""
    return pa.array(labels.texts, pa.string()) if labels.numbers is None else labels.numbers.to_arrow()


def _secrets(rows: Cells, places: Sequence[int]) -> tuple[Codes, Codes]:
    """Number the distinct combinations of sensitive values; also a row that has each."""
    if not places:
        return np.zeros(len(rows.count), np.int32), np.zeros(1, np.int32)
    return distinct_rows([rows.codes[:, j] for j in places], [len(rows.values[j]) for j in places])
