"""The independent check of releases whose groups have numbers: their tables are read back and regrouped by number.

As in `tarnkappe.verification`, nothing of the plan is used to find the groups; only then is what was found held to what
was planned. Tables are sorted by number, so that a table of any size is gone through in runs of whole groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.criteria.base import Criterion, Verdict
from tarnkappe.engines.encode import encode_again, encode_nodes, encode_sensitive, read_kind
from tarnkappe.engines.measures import measured
from tarnkappe.errors import DataError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source
from tarnkappe.io.kept import restored
from tarnkappe.io.lookup import Lookup
from tarnkappe.kernels.histograms import run_sums
from tarnkappe.publish.sheets import MAIN, Figure, Reading, Summary
from tarnkappe.schema import KEYS, Column
from tarnkappe.sheet_runs import Run, Watcher, kept_numbers, runs
from tarnkappe.tally import Domain
from tarnkappe.threads import map_threads
from tarnkappe.verification import Evidence, Verification, rows_of, verify_table

#: Columns of our own beside those of a table; a name that is blank is refused in tables.
_PLACE, _COUNT = " ", "  "

#: By how much one sum of two numbers is rounded at most, as a share of it.
_ROUNDING = float(np.finfo(np.float64).eps)


def verify_sheets(
    tables: Mapping[str, Source],
    reading: Reading,
    columns: Sequence[Column],
    goal: Goal,
    domains: Mapping[str, Domain] | None = None,
    types: Mapping[str, pl.DataType] | None = None,
    evidence: Evidence | None = None,
    watchers: Mapping[str, Sequence[Watcher]] | None = None,
) -> Verification:
    """Regroup the tables of a release by the numbers in them, and check every criterion of the goal.

    `columns` are those that criteria look at. `domains` are those of the input, if it is known; no other value may have
    appeared. `types` are those that columns had in the input, where a file may hold their texts. `evidence` is what
    criteria look at and the tables do not have. Every table is read once; whoever wants to look at its rows as well is
    one of its `watchers`.
    """
    secrets = tables[reading.secrets]
    needed = [c for c in columns if c.name in goal.columns or goal.joint]
    if domains is None:
        needed = measured(needed, goal, secrets)
    verdicts: dict[int, Verdict] = {}
    alike = [c for c in goal.criteria if reading.finds_alike(c)]
    if alike:
        looks = verify_table(tables[MAIN], reading.alike, (), goal.about(alike))
        verdicts |= zip(map(id, alike), looks.verdicts, strict=True)
    read = _Secrets(secrets, reading, needed, goal, domains, types or {}, evidence or Evidence())
    judge = _Judge(read, goal, reading, alike)
    summed = {summary.sheet for summary in reading.summaries}
    sizes = {name: _Sizes(reading.count if name == reading.secrets else None) for name in tables if name not in summed}
    watching: dict[str, list[Watcher]] = {name: [*(watchers or {}).get(name, ())] for name in tables}
    for name, of_table in sizes.items():
        watching[name].append(of_table)
    watching[reading.secrets] += [judge, *(_Summed(tables, reading, summary) for summary in reading.summaries)]
    numbers = kept_numbers(evidence or Evidence(), reading, tables[MAIN])
    shown_to = [name for name in tables if watching[name]]
    map_threads(lambda name: _show(tables[name], reading.number, watching[name], numbers), shown_to)
    found = sizes[reading.secrets]
    untrue = [] if reading.raised is None else _torn_looks(tables[MAIN], reading)
    untrue += [words for name in tables for watcher in watching[name] for words in watcher.wrong()]
    if not all(found.equals(other) for other in sizes.values()):
        untrue.append("the tables do not have the same numbers with as many records each")
    verdicts |= judge.verdicts()
    shown = tuple(column for source in tables.values() for column in source.columns)
    judged = tuple(verdicts[id(c)] for c in goal.criteria) if len(found.sizes) else ()
    return Verification(shown, int(found.sizes.sum()), found.sizes, judged, untrue=tuple(dict.fromkeys(untrue)))


def _torn_looks(table: Source, reading: Reading) -> list[str]:
    """What is wrong with numbers that should stand for those who look alike, in words."""
    looks = table.cells([reading.number, *reading.alike]).frame()
    if looks.height == looks[reading.number].n_unique() == looks.select(reading.alike).n_unique():
        return []
    return ["the numbers do not tell those apart who look different, and only those"]


def _show(source: Source, number: str, watchers: Sequence[Watcher], numbers: pl.Series | None) -> None:
    """Show all rows of a table to those who watch it."""
    columns = dict.fromkeys(column for watcher in watchers for column in watcher.columns)
    for run in runs(source, number, [*columns], numbers):
        for watcher in watchers:
            watcher.see(run)


class _Sizes:
    """The numbers of a table, and how many records each has."""

    def __init__(self, count: str | None) -> None:
        self.columns = [] if count is None else [count]
        self._count = count
        self._numbers: list[NDArray[np.signedinteger]] = []
        self._sizes: list[NDArray[np.signedinteger]] = []

    def see(self, run: Run) -> None:
        self._numbers.append(_compact(run.numbers))
        starts = run.starts
        sizes = np.diff(starts) if self._count is None else run_sums(starts, run.records(self._count))
        self._sizes.append(_compact(sizes))

    def wrong(self) -> Iterable[str]:
        return ()

    @cached_property
    def sizes(self) -> Counts:
        """Records per group, in the order of the numbers."""
        return np.concatenate([np.zeros(0, np.int64), *self._sizes])

    def equals(self, other: _Sizes) -> bool:
        """Whether another table has the same numbers with as many records each."""
        pairs = ((self._sizes, other._sizes), (self._numbers, other._numbers))
        return self is other or all(np.array_equal(_joined(one), _joined(two)) for one, two in pairs)


def _joined(parts: Sequence[NDArray[np.signedinteger]]) -> NDArray[np.signedinteger]:
    return np.concatenate([np.zeros(0, np.int32), *parts])


def _compact(numbers: Counts) -> NDArray[np.signedinteger]:
    """The same in as few bytes each as hold them: there may be very many groups."""
    largest = max(int(numbers.max(initial=0)), -int(numbers.min(initial=0)))
    return numbers.astype(np.min_scalar_type(-1 - largest))


class _Judge:
    """What the criteria find that look at the groups of the table with the sensitive values."""

    def __init__(self, secrets: _Secrets, goal: Goal, reading: Reading, alike: Sequence[Criterion]) -> None:
        self._secrets = secrets
        ways: dict[tuple[str, ...], list[Criterion]] = {}
        for criterion in goal.criteria:
            if criterion not in alike:
                ways.setdefault(reading.known_beside(criterion), []).append(criterion)
        self._ways = {beside: goal.about(criteria) for beside, criteria in ways.items()}
        self._parts: dict[tuple[str, ...], list[tuple[Verdict, ...]]] = {beside: [] for beside in ways}
        self.columns = [*secrets.columns, *(column for beside in ways for column in beside)]

    def see(self, run: Run) -> None:
        for beside, goal in self._ways.items():
            self._parts[beside].append(goal.verdicts(self._secrets.stats(run, goal, beside)))

    def wrong(self) -> Iterable[str]:
        return ()

    def verdicts(self) -> dict[int, Verdict]:
        """One verdict for each criterion, by its identity; none if there are no groups."""
        found = ((goal, goal.merged(self._parts[beside])) for beside, goal in self._ways.items())
        return {id(c): v for goal, verdicts in found for c, v in zip(goal.criteria, verdicts, strict=bool(verdicts))}


class _Summed:
    """Whether a table that sums up groups is right: it is computed anew from the table it sums up."""

    def __init__(self, tables: Mapping[str, Source], reading: Reading, summary: Summary) -> None:
        figures = summary.figures
        self._told = _Rows(tables[summary.sheet], reading.number, [summary.records, *(f.column for f in figures)])
        self._source, self._reading, self._summary = tables[reading.secrets], reading, summary
        counts = [] if reading.count is None else [reading.count]
        self.columns = [*(f.of for f in figures), *counts]
        self._same_numbers = True
        self._wrong: dict[str, None] = {}

    def see(self, run: Run) -> None:
        reading, summary, told = self._reading, self._summary, self._told
        numbers = run.numbers
        shown = told.take(len(numbers))
        if shown.height < len(numbers) or not np.array_equal(shown[reading.number].to_numpy(), numbers):
            self._same_numbers = False
        if not self._same_numbers:
            return
        weight, group = run.records(reading.count).astype(np.float64), run.group
        if not np.array_equal(_numbers(told.source, shown[summary.records]), np.bincount(group, weight)):
            self._wrong[summary.records] = None
        for figure in summary.figures:
            values = _numbers(self._source, run.rows[figure.of])
            expected, slack = _figure(figure, values, weight, group, len(numbers))
            if not _agree(_numbers(told.source, shown[figure.column]), expected, slack, told.source):
                self._wrong[figure.column] = None

    def wrong(self) -> Iterable[str]:
        sheet = self._summary.sheet
        if not self._same_numbers or self._told.take(1).height:
            return [f"'{sheet}' does not have the numbers of the groups"]
        return [f"'{name}' in '{sheet}' is not that of the groups" for name in self._wrong]


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


class _Secrets:
    """The sensitive columns of a table as codes.

    All values are looked at beforehand only where that is needed: to know what there is, or to compare groups with
    the table. Else a value gets its code, which must be one of the input, when it is first met.
    """

    def __init__(
        self,
        source: Source,
        reading: Reading,
        columns: Sequence[Column],
        goal: Goal,
        domains: Mapping[str, Domain] | None,
        types: Mapping[str, pl.DataType],
        evidence: Evidence,
    ) -> None:
        self._source, self._reading = source, reading
        hidden = [c for c in columns if c.name not in source.columns]
        self._columns = {c.name: c for c in columns if c not in hidden}
        self._counts = [] if reading.count is None else [reading.count]
        self.columns = [*self._columns, *self._counts]
        self._domains: dict[str, Domain] = {}
        self._distributions: dict[str, Counts] = {}
        #: The codes of columns that are not published, row by row.
        self._beside: dict[str, Codes] = {}
        self._met: dict[str, tuple[pl.Series, Codes]] = {}
        self._code_of: dict[str, Lookup] = {}
        self._types, self._stored = types, source.types([*self._columns])
        for name, column in self._columns.items():
            if domains is not None and not goal.compares_with_table:
                self._domains[name] = domains[name]
                nothing = pl.Series(name, [], dtype=self._stored[name])
                self._learn(name, nothing, np.zeros(0, np.int32))
                continue
            weight = pl.len() if reading.count is None else pl.col(reading.count).cast(pl.Int64, strict=False).sum()
            each = source.scan([name, *self._counts]).group_by(name).agg(weight.cast(pl.Int64).alias(_COUNT))
            found = source.collected(each)
            counts = found[_COUNT].to_numpy()
            if domains is None:
                codes, self._domains[name] = self._encoded_anew(found[name], column, counts)
            else:
                self._domains[name] = domains[name]
                codes = self._encoded(found[name])
            if name != reading.raised:  # nodes stand there, not values
                size = self._domains[name].size
                self._distributions[name] = np.bincount(codes, counts, minlength=size).astype(np.int64)
            self._learn(name, found[name], codes)
        if hidden:
            self._read_hidden(hidden, domains, evidence)

    def _read_hidden(self, hidden: Sequence[Column], domains: Mapping[str, Domain] | None, evidence: Evidence) -> None:
        """Take columns that are not published from what is kept beside the rows."""
        source = self._source
        kept = rows_of(evidence, [c.name for c in hidden], source.n_rows, source.name)
        for column in hidden:
            series = kept[column.name].cast(pl.String)
            if domains is None or column.role in KEYS:  # people go under other numbers in each release
                codes, domain = encode_sensitive(series, column)
            else:
                codes, domain = encode_again(series, column, domains[column.name]), domains[column.name]
            if codes.min(initial=0) < 0:
                raise DataError("E403", f"'{column.name}' has values that the input does not have", where=source.name)
            self._domains[column.name] = domain
            self._distributions[column.name] = np.bincount(codes, minlength=domain.size).astype(np.int64)
            self._beside[column.name] = codes.astype(np.int32)

    def _learn(self, name: str, values: pl.Series, codes: Codes) -> None:
        self._met[name] = values, codes
        self._code_of[name] = Lookup(values, codes)

    def _restored(self, values: pl.Series) -> pl.Series:
        """Distinct values as what they were in the input."""
        name = values.name
        wanted = self._types.get(name)
        # Numbers may stand as numbers where the input had their texts, with a decimal sign of its own.
        numbers = self._columns[name].kind == "numeric" and self._stored[name].is_numeric()
        if wanted is not None and not numbers:
            value = restored(name, self._stored[name], wanted, self._source.decimal)
            values = values.to_frame().select(value.alias(name))[name]
        return read_kind(values, self._columns[name], self._source, distinct=True)

    def _encoded(self, values: pl.Series) -> Codes:
        """The codes of distinct values; an error if the input does not have them."""
        name = values.name
        restored_values, column, domain = self._restored(values), self._columns[name], self._domains[name]
        if name == self._reading.raised:
            codes, _ = encode_nodes(restored_values, column, domain)
        else:
            codes = encode_again(restored_values, column, domain)
        if codes.min(initial=0) < 0:
            raise DataError("E403", f"'{name}' has values that the input does not have", where=self._source.name)
        return codes.astype(np.int32)

    def _encoded_anew(self, values: pl.Series, column: Column, counts: Counts) -> tuple[Codes, Domain]:
        """The codes of distinct values of which nothing is known, and what they mean."""
        if column.name == self._reading.raised:
            codes, domain = encode_nodes(self._restored(values), column, None)
        else:
            codes, domain = encode_sensitive(self._restored(values), column, counts)
        return codes.astype(np.int32), domain

    def _codes(self, values: pl.Series) -> Codes:
        """The codes of values as they are stored."""
        name, values = values.name, self._source.cleaned(values)
        codes = self._code_of[name](values)
        if codes.min(initial=0) < 0:  # some are met for the first time
            new = values.filter(pl.Series(codes < 0)).unique()
            known, places = self._met[name]
            self._learn(name, pl.concat([known.cast(new.dtype), new]), np.append(places, self._encoded(new)))
            codes = self._code_of[name](values)
        return codes

    def stats(self, run: Run, goal: Goal, beside: Sequence[str] = ()) -> GroupStats:
        """What is counted in the groups of a run, narrowed down to the rows that are the same in some columns."""
        codes = {name: run.looked_up(name, self._codes) for name in self._columns}
        codes |= {name: known[run.begin : run.begin + run.rows.height] for name, known in self._beside.items()}
        raised = {name: (codes.pop(name), self._domains[name]) for name in [*codes] if name == self._reading.raised}
        sensitive = {name: (codes[name], self._domains[name]) for name in goal.columns if name in codes}
        joint = None
        if goal.joint:
            distinct, code = np.unique(np.column_stack(list(codes.values())), axis=0, return_inverse=True)
            known = tuple(self._domains[name] for name in codes)
            joint = known, code.reshape(-1).astype(np.int32), distinct.astype(np.int32)
        records, tables = run.records(self._reading.count), self._distributions
        if not beside:
            return GroupStats.of_runs(run.starts, sensitive, records, joint=joint, tables=tables, raised=raised)
        group = _alike(run.rows, [self._reading.number, *beside])
        return GroupStats.from_cells(group, records, sensitive, joint=joint, tables=tables, raised=raised)


def _alike(rows: pl.DataFrame, columns: Sequence[str]) -> Codes:
    """A number per row: the same where all of these columns are the same."""
    found = rows.select(columns)
    known = found.unique(maintain_order=True).with_columns(pl.int_range(pl.len(), dtype=pl.Int32).alias(_PLACE))
    return found.join(known, on=list(columns), how="left", nulls_equal=True, maintain_order="left")[_PLACE].to_numpy()
