"""The independent check: recounts a published table from its own values and evaluates the goal again.

Groups are found by Polars from the texts that stand in the table, not by the kernels that formed them, and nothing of
the plan is used for that, so a mistake in deciding, labelling or writing shows. Only then is what was found compared
with what was planned (see `tarnkappe.truth`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts, Flags
from tarnkappe.criteria.base import Criterion, Verdict
from tarnkappe.distances import Distances
from tarnkappe.engines.ledger import Ledger
from tarnkappe.engines.measures import measured
from tarnkappe.errors import DataError, JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Cells, Source
from tarnkappe.io.cells import Step
from tarnkappe.parts import Recounted
from tarnkappe.plan import Plan
from tarnkappe.recounting import as_they_were, encoded, failed, numbered, recounted
from tarnkappe.schema import KEYS, Column
from tarnkappe.tally import Domain
from tarnkappe.truth import untrue_cells
from tarnkappe.wording import count, figure, plural


@dataclass(frozen=True, eq=False, repr=False)
class Verification:
    """What was found in a published table."""

    columns: tuple[str, ...]
    n_records: int
    sizes: Counts
    verdicts: tuple[Verdict, ...]
    #: People of the public table, if there is one.
    n_people: int = 0
    #: What was counted in each group, and the labels of the groups in the same order.
    stats: GroupStats | None = None
    labels: pl.DataFrame | None = None
    #: Records that were left out because they say nothing but that they are suppressed.
    n_suppressed: int = 0
    #: What is not as it was planned, in words; empty if there is no plan to compare with.
    untrue: tuple[str, ...] = ()
    #: What else was checked in the table itself and found to be so, in words.
    proved: tuple[str, ...] = ()
    #: What parts of the table told, where no machine has seen all of it.
    in_parts: Recounted | None = None

    @property
    def ok(self) -> bool:
        """Whether every criterion holds in every group, and all is as it was planned if there is a plan."""
        return all(v.ok for v in self.verdicts) and not self.untrue

    def __str__(self) -> str:
        smallest = f" · smallest {count(int(self.sizes.min()))}" if len(self.sizes) else ""
        lines = [f"{plural(self.n_records, 'record')} in {plural(len(self.sizes), 'group')}{smallest}"]
        for v in self.verdicts:
            column = f" ({v.column})" if v.column else ""
            lines.append(f"{'✓' if v.ok else '✗'} {v.asked}{column}: {figure(v.reached)}")
        return "\n  ".join([*lines, *(f"✗ {what}" for what in self.untrue), *(f"✓ {what}" for what in self.proved)])

    def __repr__(self) -> str:
        kept = sum(v.ok for v in self.verdicts)
        found = f"{plural(self.n_records, 'record')} in {plural(len(self.sizes), 'group')}"
        return f"<Verification: {found}, {kept} of {len(self.verdicts)} criteria hold>"

    @property
    def table(self) -> pl.DataFrame:
        """What was found about every criterion, one row each."""
        rows = [(v.criterion, v.column, v.asked, v.reached, v.ok, v.violating_groups) for v in self.verdicts]
        head = ("criterion", "column", "asked", "reached", "ok", "violating groups")
        return pl.DataFrame(rows, head, orient="row", infer_schema_length=None)

    def _repr_html_(self) -> str:
        return self.table._repr_html_()


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a verifier needs beside the published table, and its readers do not get.

    `witness` holds columns that criteria look at but that are not published, one row per published record and in the
    same order. `population` is the public table as generalised by the release: how many people (first column) have
    which labels (the quasi-identifiers). The `ledger` tells a run what its records carry; it is never written.
    `originals` says how many records (first column) with which labels have which numbers where centres are published.
    """

    witness: pl.DataFrame | None = None
    population: pl.DataFrame | None = None
    ledger: Ledger | None = None
    originals: pl.DataFrame | None = None

    def lacks(self, criterion: Criterion, published: Sequence[str]) -> str | None:
        """What a criterion cannot be checked without, in words, if that is not there."""
        hidden = [] if self.witness is None else self.witness.columns
        absent = [c for c in criterion.columns if c not in published and c not in hidden]
        if absent:
            return f"the column '{absent[0]}', which is not published"
        if criterion.centre_column is not None and self.originals is None:
            return f"the numbers that the centres of '{criterion.centre_column}' stand for"
        return "the public table" if criterion.needs_population and self.population is None else None


def verify_table(
    source: Source,
    quasi: Sequence[str],
    columns: Sequence[Column],
    goal: Goal,
    domains: Mapping[str, Domain] | None = None,
    evidence: Evidence | None = None,
    step: Step | None = None,
    *,
    wildcard: bool = False,
    suppressed: str | None = None,
    plan: Plan | None = None,
    types: Mapping[str, pl.DataType] | None = None,
) -> Verification:
    """Regroup a table by the values of its quasi-identifiers and check every criterion of the goal.

    `columns` are those that criteria look at. A missing cell is a value of its own here: whoever reads the table sees
    that it is empty. With `wildcard` it may be any value, so that a group is everybody who could have its labels;
    groups then overlap. Records with the text `suppressed` in every quasi-identifier are left out. `domains` are those
    of the input, if it is known: they fix the taxonomies, and no other value may have appeared. With the `plan` of the
    table, what stands in it is compared with what was planned, cell by cell; this comes after the groups have been
    found from the texts alone. `types` are those that columns had in the input, where a file may hold their texts.
    """
    evidence = evidence or Evidence()
    told = plan is not None or goal.joint
    needed = [c for c in columns if c.name in goal.columns or (told and c.role == "sensitive")]
    if domains is None:
        needed = measured(needed, goal, source)
    shown = [*quasi, *(c.name for c in needed if c.name in source.columns)]
    hidden = [c.name for c in needed if c.name not in source.columns]
    if hidden:  # they stand beside the rows, so every row counts by itself
        frame = source.read(shown)
        cells = Cells.of_rows(
            pl.concat([frame, rows_of(evidence, hidden, frame.height, source.name)], how="horizontal")
        )
    else:
        cells = source.cells(shown, step)
    n_records = int(cells.count.sum())
    if suppressed is not None:
        cells = cells.only(_says_more_than(suppressed, cells, quasi))
    records = cells.count
    read = as_they_were(cells, types or {}, source.decimal)
    labels, group = numbered({name: read[name] for name in quasi})
    counted = encoded(read, records, needed, source, domains)
    untrue: list[str] = []
    if plan is not None:
        same = {c.name: counted[c.name][0] for c in needed if c.role not in KEYS}
        untrue = untrue_cells(plan, source, labels, group, records, same)
    looked_at = {name: found for name, found in counted.items() if name in goal.columns or goal.joint}
    stats, labels = recounted(labels, group, records, looked_at, goal, evidence.population, wildcard)
    if goal.centre_columns:
        stats = replace(stats, distances=_distances(stats, labels, evidence, goal.centre_columns, source))
    people = 0 if stats.population is None else int(stats.population.sum())
    sizes = stats.size[stats.size > 0]
    left_out = n_records - int(records.sum())
    verdicts = goal.verdicts(stats)
    return Verification(source.columns, n_records, sizes, verdicts, people, stats, labels, left_out, tuple(untrue))


def rows_of(evidence: Evidence, hidden: list[str], n: int, where: str) -> pl.DataFrame:
    """The unpublished columns, if they are those of the records at hand."""
    witness = evidence.witness
    absent = hidden if witness is None else [name for name in hidden if name not in witness.columns]
    if witness is None or absent:
        raise DataError(
            "E410",
            f"'{where}' has no column '{absent[0]}', and nothing else says what its records have there",
            where=where,
            hint="Check the release folder, which holds what is not published:  tarnkappe verify FOLDER",
        )
    if witness.height != n:
        raise failed(where, [f"{n} records, but the unpublished columns have {witness.height}"])
    return witness.select(hidden)


def original_name(column: str) -> str:
    """What the original numbers of a column are called beside those that are published."""
    return f"{column} (original)"


def _distances(
    stats: GroupStats, labels: pl.DataFrame, evidence: Evidence, columns: Sequence[str], source: Source
) -> dict[str, Distances]:
    """How far the records of each group are from what it publishes, as it is written.

    The numbers that centres stand for come with their labels. Every group must have as many of them as records.
    """
    told = evidence.originals
    if told is None:
        raise JobError(
            "E108",
            f"nothing says which numbers the centres of '{columns[0]}' stand for",
            where=source.name,
            hint="Check the release folder, with its private folder:  tarnkappe verify FOLDER",
        )
    quasi, records = labels.columns, told.columns[0]
    numeric = [q for q in quasi if told.schema[q].is_numeric()]

    def comparable(frame: pl.DataFrame, own: bool) -> pl.DataFrame:
        shown = [source.numeric(frame[q]).cast(pl.Float64) + 0.0 if own and q in numeric else frame[q] for q in quasi]
        kinds = [pl.Float64 if q in numeric else pl.String for q in quasi]
        return pl.DataFrame([x.cast(kind).alias(f"q{i}") for i, (x, kind) in enumerate(zip(shown, kinds, strict=True))])

    keys = [f"q{i}" for i in range(len(quasi))]
    groups = comparable(labels, own=True).with_row_index("_group")
    rows = comparable(told, own=False).with_columns(told[records].alias("_records"))
    found = rows.join(groups, on=keys, how="left", nulls_equal=True, maintain_order="left")["_group"]
    strange = found.null_count() > 0
    group = found.fill_null(0).to_numpy().astype(np.int32)
    count = told[records].to_numpy().astype(np.int64)
    if strange or not np.array_equal(np.bincount(group, count, stats.n_groups).astype(np.int64), stats.size):
        raise failed(source.name, ["the numbers that centres stand for are not those of the records"])
    out = {}
    for column in columns:
        if column not in quasi or original_name(column) not in told.columns:
            raise failed(source.name, [f"nothing says which numbers the centres of '{column}' stand for"])
        centre = (source.numeric(labels[column]).cast(pl.Float64)).fill_null(float("nan")).to_numpy()
        value = told[original_name(column)].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        known = ~np.isnan(value)
        off = np.abs(value[known] - centre[group[known]])
        # What a group does not publish tells nothing.
        out[column] = Distances(group[known], np.where(np.isnan(off), np.inf, off), count[known])
    return out


def _says_more_than(suppressed: str, cells: Cells, quasi: Sequence[str]) -> Flags:
    """Which rows have something else than a text in some quasi-identifier."""
    said = np.zeros(len(cells.count), np.bool_)
    for name in quasi:
        values, code = cells.used(name)
        said |= values.cast(pl.String).ne_missing(suppressed).to_numpy()[code]
    return said


def require_release(
    found: Verification, published: Sequence[str], sizes: Counts, where: str, population: Source | None = None
) -> None:
    """Refuse a written table that breaks a promise or is not what was planned: columns, records, groups, criteria."""
    problems = []
    if population is not None and found.n_people > population.n_rows:
        problems.append(f"{found.n_people} people of a public table of {population.n_rows}")
    problems += unplanned(found, published, sizes)
    for v in found.verdicts:
        if not v.ok:
            on = f" on '{v.column}'" if v.column else ""
            violating = plural(v.violating_groups, "group violates", "groups violate")
            problems.append(f"{violating} {v.asked}{on} (worst: {v.reached:.4g})")
    problems += found.untrue
    if problems:
        raise failed(where, problems)


def unplanned(found: Verification, published: Sequence[str], sizes: Counts) -> list[str]:
    """What is otherwise than planned in a written table: columns, records, groups."""
    problems = []
    if found.columns != tuple(published):
        problems.append(f"columns are {', '.join(found.columns)} instead of {', '.join(published)}")
    if found.n_records != int(sizes.sum()):
        problems.append(f"{found.n_records} records instead of {int(sizes.sum())}")
    elif not (np.array_equal(found.sizes, sizes) or np.array_equal(np.sort(found.sizes), np.sort(sizes))):
        problems.append("the groups found are not the groups planned")
    return problems


def unreadable(where: str, error: DataError) -> VerificationError:
    """The failure of a written table that cannot even be read."""
    return failed(where, [f"the written file cannot be read back: {error.message}"])
