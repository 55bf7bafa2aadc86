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

from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.criteria.base import Criterion, Verdict
from tarnkappe.distances import Distances
from tarnkappe.engines.encode import encode_again, encode_sensitive, read_kind
from tarnkappe.engines.ledger import Ledger
from tarnkappe.engines.measures import measured
from tarnkappe.errors import DataError, JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Cells, Source, is_text
from tarnkappe.io.cells import Step
from tarnkappe.io.kept import restored
from tarnkappe.parts import Recounted
from tarnkappe.plan import Plan
from tarnkappe.schema import KEYS, Column
from tarnkappe.tally import Domain
from tarnkappe.truth import as_words, untrue_cells
from tarnkappe.wording import count, figure, plural

#: By column: the different values that stand in it, and which of them every row has.
ReadBack = Mapping[str, tuple[pl.Series, Codes]]


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


def as_they_were(cells: Cells, types: Mapping[str, pl.DataType], decimal: str) -> ReadBack:
    """What stands in the columns of a table, in the types of the input where a file holds their texts."""
    return {name: _as_it_was(*cells.used(name), types.get(name), decimal) for name in cells.names}


def encoded(
    read: ReadBack,
    records: Counts,
    needed: Sequence[Column],
    source: Source,
    domains: Mapping[str, Domain] | None = None,
) -> dict[str, tuple[Codes, Domain]]:
    """The codes of columns of a published table, and what they mean: what they meant in the input if that is known.

    What a text means is asked once per text, not once per row.
    """
    counted: dict[str, tuple[Codes, Domain]] = {}
    for column in needed:
        values, code = read[column.name]
        series = read_kind(values, column, source, distinct=column.name in source.columns)
        if domains is None or column.role in KEYS:  # people go under other numbers in each release
            weights = np.bincount(code, records, len(values)).astype(np.int64)
            codes, domain = encode_sensitive(series, column, weights)
        else:
            domain = domains[column.name]
            codes = encode_again(series, column, domain)
            if codes.min(initial=0) < 0:
                raise _failed(source.name, [f"'{column.name}' has values that the input does not have"])
        counted[column.name] = codes.astype(np.int32)[code], domain
    return counted


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
        raise _failed(where, [f"{n} records, but the unpublished columns have {witness.height}"])
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
        raise _failed(source.name, ["the numbers that centres stand for are not those of the records"])
    out = {}
    for column in columns:
        if column not in quasi or original_name(column) not in told.columns:
            raise _failed(source.name, [f"nothing says which numbers the centres of '{column}' stand for"])
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


def _as_it_was(values: pl.Series, code: Codes, type_: pl.DataType | None, decimal: str) -> tuple[pl.Series, Codes]:
    """Distinct values of a column, and which of them every row has; in the type that it had, if that was not text."""
    if type_ is None or is_text(type_):
        return values, code
    typed = values.to_frame("value").select(restored("value", values.dtype, type_, decimal).alias("value"))
    listed = typed.unique(maintain_order=True).with_row_index("place")
    place = typed.join(listed, on="value", how="left", nulls_equal=True, maintain_order="left")["place"]
    return listed["value"].alias(values.name), place.to_numpy().astype(np.int32)[code]


def numbered(columns: ReadBack) -> tuple[pl.DataFrame, Codes]:
    """The different rows of some columns, and which of them every row is; both found by Polars."""
    words = pl.DataFrame([pl.Series(word) for word in as_words([(code, len(v)) for v, code in columns.values()])])
    words.columns = keys = [f"_word{i}" for i in range(words.width)]
    first = words.with_row_index("_row").unique(keys, keep="first", maintain_order=True)
    numbered = first.select(keys).with_row_index("_group")
    group = words.join(numbered, on=keys, how="left", maintain_order="left")["_group"].to_numpy().astype(np.int32)
    at = first["_row"].to_numpy()
    labels = [_compact(values.gather(code[at])).alias(name) for name, (values, code) in columns.items()]
    return pl.DataFrame(labels), group


def _compact(series: pl.Series) -> pl.Series:
    """Texts as categories: the same groups for a fraction of the memory."""
    return series.cast(pl.Categorical) if is_text(series.dtype) else series


def recounted(
    labels: pl.DataFrame,
    group: Codes,
    records: Counts,
    counted: Mapping[str, tuple[Codes, Domain]],
    goal: Goal,
    population: pl.DataFrame | None,
    wildcard: bool = False,
    tables: Mapping[str, Counts] | None = None,
) -> tuple[GroupStats, pl.DataFrame]:
    """Gather the rows of each group: row ``i`` stands for ``records[i]`` records of group ``group[i]``.

    Returns what was counted and the labels of the groups. Where these are not all rows of a table, `tables` says how
    often each value occurs in it.
    """
    names = labels.columns
    quasi = [f"_quasi{j}" for j in range(labels.width)]  # names of our own, whatever the columns are called
    labels = labels.rename(dict(zip(names, quasi, strict=True)))
    codes = {name: values for name, (values, _) in counted.items()}
    if wildcard:
        row, group = _could_be(labels, group)
        records, codes = records[row], {name: values[row] for name, values in codes.items()}
    people = None
    if population is not None:
        n_groups = labels.height
        labels, per_group = _people(labels, population, names)
        absent = len(per_group) - n_groups  # groups of people none of whom is in the table
        group = np.append(group, np.arange(n_groups, len(per_group), dtype=np.int32))
        records = np.append(records, np.zeros(absent, np.int64))
        codes = {name: np.append(values, np.zeros(absent, np.int32)) for name, values in codes.items()}
        people = np.zeros(len(group), np.int64)
        people[np.unique(group, return_index=True)[1]] = per_group
    domains = {name: domain for name, (_, domain) in counted.items()}
    combined = None
    if goal.joint and codes:
        distinct, code = np.unique(np.column_stack(list(codes.values())), axis=0, return_inverse=True)
        combined = tuple(domains.values()), code.reshape(-1).astype(np.int32), distinct.astype(np.int32)
    numbers = np.column_stack([_numbers(labels[q]) for q in quasi]) if "projection" in goal.scopes else None
    sensitive = {name: (codes[name], domains[name]) for name in domains}
    stats = GroupStats.from_cells(
        group, records, sensitive, joint=combined, tables=tables, population=people, keys=numbers, quasi=names
    )
    return stats, labels.rename(dict(zip(quasi, names, strict=True)))


def _could_be(labels: pl.DataFrame, group: Codes) -> tuple[Codes, Codes]:
    """Which rows could belong to which groups if a missing label may be any: row and group of every such pair.

    Labels are joined pattern by pattern, a pattern being the columns that are missing; there are few of them.
    """
    numbered = labels.with_row_index("_group")
    patterns = _by_pattern(numbered, labels.columns)
    pairs = []
    for missing, some in patterns:
        for also_missing, others in patterns:
            on = [q for q in labels.columns if q not in missing and q not in also_missing]
            there = others.select(pl.col("_group").alias("_could"), *on)
            joined = some.join(there, on=on) if on else some.join(there, how="cross")
            pairs.append(joined.select("_group", "_could"))
    could = pl.concat(pairs).sort("_group", "_could")
    rows = pl.DataFrame({"_row": np.arange(len(group), dtype=np.int64), "_group": group.astype(np.uint32)})
    matched = rows.join(could, on="_group")
    return matched["_row"].to_numpy(), matched["_could"].to_numpy().astype(np.int32)


def _by_pattern(numbered: pl.DataFrame, columns: Sequence[str]) -> list[tuple[list[str], pl.DataFrame]]:
    """The rows in parts that lack the same columns, with those columns."""
    lacking = numbered.select(pl.concat_list(pl.col(q).is_null() for q in columns)).to_series()
    parts = []
    for pattern in lacking.unique().to_list():
        missing = [q for q, is_null in zip(columns, pattern, strict=True) if is_null]
        alike = numbered.filter(
            pl.all_horizontal(pl.col(q).is_null() if q in missing else pl.col(q).is_not_null() for q in columns)
        )
        parts.append((missing, alike))
    return parts


def _people(labels: pl.DataFrame, population: pl.DataFrame, names: Sequence[str]) -> tuple[pl.DataFrame, Counts]:
    """People of the public table per group; groups that only the public table has follow after the others."""
    found = labels.cast(pl.String)
    public = population.select(
        *(pl.col(name).cast(pl.String).alias(q) for q, name in zip(labels.columns, names, strict=True)),
        pl.first().cast(pl.Int64).alias("_people"),
    )
    public = public.group_by(labels.columns).agg(pl.col("_people").sum())
    matched = found.join(public, on=labels.columns, how="left", nulls_equal=True, maintain_order="left")
    absent = public.join(found, on=labels.columns, how="anti", nulls_equal=True)
    people = pl.concat([matched["_people"].fill_null(0), absent["_people"]])
    return pl.concat([found, absent.select(labels.columns)]), people.to_numpy()


def _numbers(labels: pl.Series) -> Codes:
    """The same number for the same label, 0 for a missing one."""
    physical = labels.cast(pl.String).cast(pl.Categorical).to_physical().cast(pl.Int64) + 1
    return np.unique(physical.fill_null(0).to_numpy(), return_inverse=True)[1].astype(np.int32)


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
        raise _failed(where, problems)


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


def _failed(where: str, problems: Sequence[str]) -> VerificationError:
    return VerificationError(
        "E501",
        "verification failed: the release was NOT written",
        where=where,
        details=problems,
        hint="This is a bug in Tarnkappe or a damaged disk. Please report it; no file was left behind.",
    )


def unreadable(where: str, error: DataError) -> VerificationError:
    """The failure of a written table that cannot even be read."""
    return _failed(where, [f"the written file cannot be read back: {error.message}"])
