"""Deciding and recounting in parts: what runs where the parts lie, and what is made of their answers.

A part of the table is a tally like any other, so that groups are decided by the same code as everywhere. Parts know how
the whole table is distributed. Groups of different parts may look the same; then they are one group for everybody who
reads the release. Pooling groups that satisfy a monotone goal gives groups that satisfy it, so nothing else is decided
in parts, and the recount regroups the written table by its texts in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np
import polars as pl

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.last_resort import planned
from tarnkappe.algorithms.timed import decide_in_time
from tarnkappe.algorithms.watch import Watch
from tarnkappe.arrays import Counts
from tarnkappe.engines.parts import RECORDS, Parts
from tarnkappe.goal import Goal
from tarnkappe.io import Cells, Source
from tarnkappe.io.frames import FrameSource
from tarnkappe.parts import PartedPlan, PartFigures, Recounted, same_for_all
from tarnkappe.plan import Plan, size_distribution
from tarnkappe.recounting import as_they_were, encoded, numbered, recounted
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Domain, Tally
from tarnkappe.truth import untrue_labels
from tarnkappe.verification import Verification

#: What chance is for, besides what `tarnkappe.runs` draws: parts of a table, each with a stream of its own.
_PARTS = 4


def why_not(algorithm: Algorithm, goal: Goal) -> str | None:
    """Why a job cannot be decided in parts, in words; None if it can."""
    if not algorithm.decides_parts or algorithm.publishes_centres:
        return f"{algorithm.name} has to see all cells at once"
    if not goal.monotone:
        return "pooling groups of different parts may break what is asked for"
    if goal.scopes != {"group"} or goal.joint or goal.needs_population or goal.centre_columns:
        return "single groups do not decide about what is asked for"
    if goal.compares_with_table and goal.max_suppressed:
        return "groups are compared with the table, and which records of it are left out is known too late"
    return None


@dataclass(frozen=True, eq=False)
class PartDecider:
    """Decides about the cells of one part."""

    algorithm: Algorithm
    goal: Goal
    #: The texts that stand for a missing value.
    missing: tuple[str, ...]
    seed: int
    seconds: float | None

    def __call__(self, number: int, tally: Tally) -> tuple[Plan, PartFigures]:
        """The plan of a part, and what is told about it."""
        rng = np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=(_PARTS, number))))
        watch = Watch(seconds=self.seconds)
        decide = partial(decide_in_time, self.algorithm, tally, self.goal, rng, watch)
        plan = planned(self.algorithm, tally, self.goal, decide, self.missing)
        return plan, PartFigures.of(plan, untrue_labels(plan, self.missing))


def plan_in_parts(parts: Parts, decider: PartDecider) -> PartedPlan:
    """Decide all parts of a table."""
    told: list[PartFigures] = parts.decide(decider.goal, decider)
    return PartedPlan.of(parts.outline, decider.goal, told, parts.size_counts())


@dataclass(frozen=True, eq=False)
class PartJudge:
    """Judges whole groups of a written table by their texts, and holds them to what was planned."""

    goal: Goal
    quasi: tuple[str, ...]
    sensitive: tuple[Column, ...]
    domains: Mapping[str, Domain]
    types: Mapping[str, pl.DataType]
    decimal: str
    #: How often each value of a sensitive column is published.
    tables: Mapping[str, Counts]

    def __call__(self, frame: pl.DataFrame, records: Counts, plans: pl.DataFrame) -> Recounted:
        """What was found in some groups."""
        source = FrameSource(frame, ())
        source.decimal = self.decimal
        read = as_they_were(replace(Cells.of_rows(frame), count=records), self.types, self.decimal)
        found = encoded(read, records, self.sensitive, source, self.domains)
        tables = {name: self.tables[name] for name in found}
        labels, group = numbered({name: read[name] for name in self.quasi})
        stats, labels = recounted(labels, group, records, found, self.goal, None, tables=tables)
        unguarded = [name for name in found if name not in self.goal.columns]
        seen = labels[group].with_columns(
            *(pl.Series(name, codes) for name, (codes, _) in found.items()), pl.Series(RECORDS, records)
        )
        as_planned = _sums(seen, self.quasi, list(found)).equals(_sums(plans, self.quasi, list(found)))
        return Recounted(
            int(records.sum()),
            self.goal.verdicts(stats),
            dict(size_distribution(stats.size)),
            {name: same_for_all(stats.histograms[name], stats.size) for name in unguarded},
            () if as_planned else ("labels and sensitive values are not those that were planned together",),
        )


def recount_parts(
    parts: Parts, plan: PartedPlan, written: Source, schema: Schema, types: Mapping[str, pl.DataType]
) -> Verification:
    """Regroup a written table where it lies; what comes here are figures."""
    domains = {d.name: d for d in plan.tally.sensitive_domains}
    counts: dict[str, Counts] = {}
    for column in schema.sensitive:
        series, often = parts.table(written, column.name)
        series, often = series.filter(often > 0), often[often > 0]  # nobody may have the missing value
        read = as_they_were(replace(Cells.of_rows(series.to_frame()), count=often), types, written.decimal)
        codes = encoded(read, often, [column], written, domains)[column.name][0]
        counts[column.name] = np.bincount(codes, often, domains[column.name].size).astype(np.int64)
    quasi = tuple(c.name for c in schema.quasi)
    judge = PartJudge(plan.goal, quasi, schema.sensitive, domains, types, written.decimal, counts)
    told: list[Recounted] = parts.recount(written, schema, judge)
    found = reduce(partial(Recounted.with_more, goal=plan.goal), told)
    found = replace(found, tables=counts)
    sizes = np.repeat(*np.array(sorted(found.size_counts.items()), np.int64).T)
    untrue = (*plan.figures.untrue, *found.untrue)
    return Verification(written.columns, found.n_records, sizes, found.verdicts, untrue=untrue, in_parts=found)


def _sums(rows: pl.DataFrame, labels: Sequence[str], codes: Sequence[str]) -> pl.DataFrame:
    """How many records have each combination of labels and codes."""
    typed = rows.select(
        *(pl.col(n).cast(pl.String) for n in labels), *(pl.col(n).cast(pl.Int64) for n in (*codes, RECORDS))
    )
    key = [*labels, *codes]
    return typed.group_by(key).agg(pl.col(RECORDS).sum()).sort(key)
