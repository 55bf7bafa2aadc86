"""The independent check of releases whose groups have numbers: their tables are read back and regrouped by number.

As in `tarnkappe.verification`, nothing of the plan is used to find the groups; only then is what was found held to what
was planned. Tables are sorted by number, so that a table of any size is gone through in runs of whole groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.criteria.base import Criterion, Verdict
from tarnkappe.engines.encode import encode_again, encode_nodes, encode_sensitive, read_kind
from tarnkappe.engines.measures import measured
from tarnkappe.errors import DataError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source
from tarnkappe.io.kept import restored
from tarnkappe.publish.sheets import MAIN, Figure, Reading, Summary
from tarnkappe.schema import Column
from tarnkappe.tally import Domain
from tarnkappe.verification import Evidence, Verification, rows_of, verify_table

#: Columns of our own beside those of a table; a name that is blank is refused in tables.
_PLACE, _COUNT = " ", "  "

#: What a number and its group's size are called.
_NUMBER, _SIZE = "number", "size"

#: By how much one sum of two numbers is rounded at most, as a share of it.
_ROUNDING = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class _Run:
    """Rows of some whole groups, the number of each row's group, and how many rows come before them."""

    number: Counts
    rows: pl.DataFrame
    begin: int = 0

    @property
    def group(self) -> Codes:
        """The group of each row, from 0."""
        return (np.cumsum(self._begins) - 1).astype(np.int32)

    @property
    def numbers(self) -> Counts:
        """The number of each group."""
        return self.number[self._begins]

    @property
    def _begins(self) -> Codes:
        return np.append(True, self.number[1:] != self.number[:-1])


def verify_sheets(
    tables: Mapping[str, Source],
    reading: Reading,
    columns: Sequence[Column],
    goal: Goal,
    domains: Mapping[str, Domain] | None = None,
    types: Mapping[str, pl.DataType] | None = None,
    evidence: Evidence | None = None,
) -> Verification:
    """Regroup the tables of a release by the numbers in them, and check every criterion of the goal.

    `columns` are those that criteria look at. `domains` are those of the input, if it is known; no other value may have
    appeared. `types` are those that columns had in the input, where a file may hold their texts. `evidence` is what
    criteria look at and the tables do not have.
    """
    secrets = tables[reading.secrets]
    needed = [c for c in columns if c.name in goal.columns or goal.joint]
    if domains is None:
        needed = measured(needed, goal, secrets)
    found = _Secrets(secrets, reading, needed, domains, types or {}, evidence or Evidence())
    verdicts: dict[int, Verdict] = {}
    alike = [c for c in goal.criteria if reading.finds_alike(c)]
    if alike:
        looks = verify_table(tables[MAIN], reading.alike, (), goal.about(alike))
        verdicts |= zip(map(id, alike), looks.verdicts, strict=True)
    ways: dict[tuple[str, ...], list[Criterion]]
    ways = {reading.known_beside(c): [] for c in goal.criteria if c not in alike} or {(): []}
    for criterion in goal.criteria:
        if criterion not in alike:
            ways[reading.known_beside(criterion)].append(criterion)
    for beside, criteria in ways.items():
        asked = goal.about(criteria) if criteria else None
        parts, counted = [], []
        for run in found.runs(beside):
            counted.append(found.sizes(run))
            if asked is not None:
                parts.append(asked.verdicts(found.stats(run, asked, beside)))
        if asked is not None:
            verdicts |= zip(map(id, criteria), asked.merged(parts), strict=True)
    sizes = _together(counted)
    untrue = [] if reading.raised is None else _torn_looks(tables[MAIN], reading)
    summed = {summary.sheet for summary in reading.summaries}
    for name, table in tables.items():
        if name == reading.secrets or name in summed:
            continue
        if not _together([_sizes(run) for run in runs(table, reading.number, ())]).equals(sizes):
            untrue.append("the tables do not have the same numbers with as many records each")
    for summary in reading.summaries:
        untrue += _wrong_summary(tables, reading, summary)
    shown = tuple(column for source in tables.values() for column in source.columns)
    n_records = int(sizes[_SIZE].sum())
    judged = tuple(verdicts[id(c)] for c in goal.criteria) if counted else ()
    return Verification(shown, n_records, sizes[_SIZE].to_numpy(), judged, untrue=tuple(dict.fromkeys(untrue)))


def _torn_looks(table: Source, reading: Reading) -> list[str]:
    """What is wrong with numbers that should stand for those who look alike, in words."""
    looks = table.cells([reading.number, *reading.alike]).frame()
    if looks.height == looks[reading.number].n_unique() == looks.select(reading.alike).n_unique():
        return []
    return ["the numbers do not tell those apart who look different, and only those"]


def _together(parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat([pl.DataFrame(schema={_NUMBER: pl.Int64, _SIZE: pl.Int64}), *parts])


def _sizes(run: _Run) -> pl.DataFrame:
    return pl.DataFrame({_NUMBER: run.numbers, _SIZE: np.bincount(run.group).astype(np.int64)})


def _wrong_summary(tables: Mapping[str, Source], reading: Reading, summary: Summary) -> list[str]:
    """What is wrong with a table that sums up groups, in words: it is computed anew from the table it sums up."""
    told = _Rows(tables[summary.sheet], reading.number, [summary.records, *(f.column for f in summary.figures)])
    counts = [] if reading.count is None else [reading.count]
    wrong: dict[str, None] = {}
    for run in runs(tables[reading.secrets], reading.number, [*(f.of for f in summary.figures), *counts]):
        shown = told.take(len(run.numbers))
        if shown.height < len(run.numbers) or not np.array_equal(shown[reading.number].to_numpy(), run.numbers):
            return [f"'{summary.sheet}' does not have the numbers of the groups"]
        weight = np.ones(run.rows.height) if reading.count is None else run.rows[counts[0]].cast(pl.Float64).to_numpy()
        if not np.array_equal(_numbers(told.source, shown[summary.records]), np.bincount(run.group, weight)):
            wrong[summary.records] = None
        for figure in summary.figures:
            values = _numbers(tables[reading.secrets], run.rows[figure.of])
            expected, slack = _figure(figure, values, weight, run.group, len(run.numbers))
            if not _agree(_numbers(told.source, shown[figure.column]), expected, slack, told.source):
                wrong[figure.column] = None
    if told.take(1).height:
        return [f"'{summary.sheet}' does not have the numbers of the groups"]
    return [f"'{name}' in '{summary.sheet}' is not that of the groups" for name in wrong]


def _figure(figure: Figure, values: Floats, weight: Floats, group: Codes, n_groups: int) -> tuple[Floats, Floats]:
    """A figure of the known values of every group, and by how much adding up may have rounded it."""
    known = ~np.isnan(values)
    of, values, weight = group[known], values[known], weight[known]
    records = np.bincount(of, weight, n_groups)
    found, slack = np.zeros(n_groups, np.float64), np.zeros(n_groups, np.float64)
    if figure.what in {"min", "max"}:
        found[:] = np.inf if figure.what == "min" else -np.inf
        (np.minimum if figure.what == "min" else np.maximum).at(found, of, values)
    else:
        by = np.maximum(records, 1) if figure.what == "mean" else np.ones(n_groups)
        found[:] = np.bincount(of, values * weight, n_groups) / by
        slack[:] = (records + 4) * _ROUNDING * np.bincount(of, np.abs(values) * weight, n_groups) / by
    return np.where(records > 0, found, np.nan), slack


def _agree(told: Floats, expected: Floats, slack: Floats, source: Source) -> bool:
    """Whether a table tells what was expected; what happens to look like its marker of a missing value reads as one."""
    markers = pl.Series(source.missing, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_numpy()
    unsaid = np.isnan(told) & (np.isnan(expected) | np.isin(expected, markers))
    return bool(np.all((np.abs(told - expected) <= slack) | unsaid))


def _numbers(source: Source, values: pl.Series) -> Floats:
    """Values as numbers, NaN where they are missing."""
    read = source.numeric(source.cleaned(values)).cast(pl.Float64).fill_null(float("nan"))
    return read.to_numpy()


class _Rows:
    """The rows of a table, as many at a time as asked for."""

    def __init__(self, source: Source, number: str, columns: Sequence[str]) -> None:
        self.source = source
        self._runs = runs(source, number, columns)
        self._rest: list[pl.DataFrame] = []

    def take(self, n: int) -> pl.DataFrame:
        """The next rows; fewer at the end of the table."""
        while sum(part.height for part in self._rest) < n and (run := next(self._runs, None)) is not None:
            self._rest.append(run.rows)
        rows = pl.concat(self._rest, how="vertical_relaxed") if self._rest else pl.DataFrame()
        self._rest = [rows[n:]] if rows.height > n else []
        return rows[:n]


def kept_numbers(evidence: Evidence, reading: Reading, source: Source) -> pl.Series | None:
    """The number of every row of a table, if that is not published; None if it is."""
    if not reading.hidden:
        return None
    return rows_of(evidence, [reading.number], source.n_rows, source.name)[reading.number]


def runs(source: Source, number: str, columns: Sequence[str], numbers: pl.Series | None = None) -> Iterator[_Run]:
    """The rows of a table in runs of whole groups; an error if its numbers are not in ascending order.

    Numbers that are not published are given; then all rows are one run.
    """
    if numbers is not None:
        own = numbers.cast(pl.Int64).alias(number)
        rows = source.read([*columns]).with_columns(own) if columns else own.to_frame()
        rows = rows.sort(number, maintain_order=True)
        yield _Run(rows[number].to_numpy(), rows)
        return
    names = list(dict.fromkeys([number, *columns]))
    kept: pl.DataFrame | None = None
    begin = 0
    batches: Iterable[pl.DataFrame] = source.batches(names, {}, [pl.col(name) for name in names])
    if not source.in_order:
        together = pl.concat(batches)
        batches = [together[together[number].cast(pl.Int64, strict=False).arg_sort()]]
    for batch in batches:
        numbers = batch[number].cast(pl.Int64, strict=False)
        rows = batch.with_columns(numbers.alias(number))
        rows = rows if kept is None else pl.concat([kept, rows], how="vertical_relaxed")
        if rows[number].null_count() or not rows[number].is_sorted():
            raise DataError("E403", f"the numbers in '{number}' are not in ascending order", where=source.name)
        if not rows.height:
            continue
        whole = int(rows[number].search_sorted(rows[number][-1], side="left"))
        kept = rows[whole:]
        if whole:
            yield _Run(rows[number][:whole].to_numpy(), rows[:whole], begin)
            begin += whole
    if kept is not None and kept.height:
        yield _Run(kept[number].to_numpy(), kept, begin)


class _Secrets:
    """The sensitive columns of a table as codes."""

    def __init__(
        self,
        source: Source,
        reading: Reading,
        columns: Sequence[Column],
        domains: Mapping[str, Domain] | None,
        types: Mapping[str, pl.DataType],
        evidence: Evidence,
    ) -> None:
        self._source, self._reading = source, reading
        self._numbers = kept_numbers(evidence, reading, source)
        hidden = [c for c in columns if c.name not in source.columns]
        self._hidden = rows_of(evidence, [c.name for c in hidden], source.n_rows, source.name) if hidden else None
        columns = [c for c in columns if c not in hidden]
        self._names = [c.name for c in columns]
        self._counts = [] if reading.count is None else [reading.count]
        self._domains: dict[str, Domain] = {}
        self._distributions: dict[str, Counts] = {}
        self._code_of: dict[str, pl.DataFrame] = {}
        #: The codes of columns that are not published, row by row.
        self._beside: dict[str, Codes] = {}
        stored = source.types(self._names)
        for column in columns:
            name = column.name
            weight = pl.len() if reading.count is None else pl.col(reading.count).cast(pl.Int64).sum()
            each = source.scan([name, *self._counts]).group_by(name).agg(weight.cast(pl.Int64).alias(_COUNT))
            found = source.collected(each)
            counts = found[_COUNT].to_numpy()
            wanted = types.get(name)
            value = restored(name, stored[name], wanted, source.decimal) if wanted is not None else pl.col(name)
            values = read_kind(found.select(value.alias(name))[name], column, source, distinct=True)
            known = None if domains is None else domains[name]
            if name == reading.raised:
                codes, domain = encode_nodes(values, column, known)
            elif known is None:
                codes, domain = encode_sensitive(values, column, counts)
            else:
                codes, domain = encode_again(values, column, known), known
            if codes.min(initial=0) < 0:
                raise DataError("E403", f"'{name}' has values that the input does not have", where=source.name)
            self._domains[name] = domain
            if name != reading.raised:
                self._distributions[name] = np.bincount(codes, counts, minlength=domain.size).astype(np.int64)
            self._code_of[name] = found.select(name).with_columns(pl.Series(_PLACE, codes.astype(np.int32)))
        for column in hidden:
            assert self._hidden is not None
            series = self._hidden[column.name].cast(pl.String)
            if domains is None or column.role == "subject":  # people go under other numbers in each release
                codes, domain = encode_sensitive(series, column)
            else:
                codes, domain = encode_again(series, column, domains[column.name]), domains[column.name]
            if codes.min(initial=0) < 0:
                raise DataError("E403", f"'{column.name}' has values that the input does not have", where=source.name)
            self._domains[column.name] = domain
            self._distributions[column.name] = np.bincount(codes, minlength=domain.size).astype(np.int64)
            self._beside[column.name] = codes.astype(np.int32)

    def runs(self, beside: Sequence[str] = ()) -> Iterator[_Run]:
        """The rows of the table, with some of the columns that stand beside the sensitive ones."""
        columns = [*self._names, *self._counts, *beside]
        return runs(self._source, self._reading.number, columns, self._numbers)

    def sizes(self, run: _Run) -> pl.DataFrame:
        """The records of each group of a run."""
        size = np.bincount(run.group, self._records(run)).astype(np.int64)
        return pl.DataFrame({_NUMBER: run.numbers, _SIZE: size})

    def _records(self, run: _Run) -> Counts:
        """How many records each row of a run stands for."""
        count = self._reading.count
        return np.ones(run.rows.height, np.int64) if count is None else run.rows[count].cast(pl.Int64).to_numpy()

    def stats(self, run: _Run, goal: Goal, beside: Sequence[str] = ()) -> GroupStats:
        """What is counted in the groups of a run, narrowed down to the rows that are the same in some columns."""
        codes = {name: looked_up(self._source.cleaned(run.rows[name]), known) for name, known in self._code_of.items()}
        codes |= {name: known[run.begin : run.begin + run.rows.height] for name, known in self._beside.items()}
        records = self._records(run)
        group = run.group if not beside else _alike(run.rows, [self._reading.number, *beside])
        raised = {name: (codes.pop(name), self._domains[name]) for name in [*codes] if name == self._reading.raised}
        sensitive = {name: (codes[name], self._domains[name]) for name in goal.columns if name in codes}
        joint = None
        if goal.joint:
            distinct, code = np.unique(np.column_stack(list(codes.values())), axis=0, return_inverse=True)
            known = tuple(self._domains[name] for name in codes)
            joint = known, code.reshape(-1).astype(np.int32), distinct.astype(np.int32)
        tables = self._distributions
        return GroupStats.from_cells(group, records, sensitive, joint=joint, tables=tables, raised=raised)


def _alike(rows: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """A number per row: the same where all of these columns are the same."""
    found = rows.select(columns)
    known = found.unique(maintain_order=True).with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias(_PLACE))
    return found.join(known, on=list(columns), how="left", nulls_equal=True, maintain_order="left")[_PLACE].to_numpy()


def looked_up(values: pl.Series, known: pl.DataFrame) -> Codes:
    """The place of every value in a table of values; -1 if it is not there."""
    name = known.columns[0]
    found = values.alias(name).to_frame().cast(known.schema[name])
    joined = found.join(known, on=name, how="left", nulls_equal=True, maintain_order="left")[_PLACE]
    return joined.fill_null(-1).to_numpy()
