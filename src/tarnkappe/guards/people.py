"""Several records per person: then a group of k records may be one person."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.engines.encode import encode_quasi, encode_sensitive, read_kind
from tarnkappe.errors import JobError, Notice
from tarnkappe.fixes import Fix, criterion, role
from tarnkappe.goal import Goal
from tarnkappe.io import Source
from tarnkappe.job import Job
from tarnkappe.job.words import meaning_of
from tarnkappe.looks import SAMPLE, Sight
from tarnkappe.looks.identifiers.record_number import is_key_of_people
from tarnkappe.looks.words import words_of
from tarnkappe.plan import Plan
from tarnkappe.schema import Column, Schema

#: Beyond so many records people are not counted group by group unless a criterion asks for it.
_MOST_COUNTED = 20_000_000


def require_people_counted(job: Job, schema: Schema) -> None:
    """Refuse a job that names the key of persons with several records but asks nothing about people.

    A mechanism decides for itself what it can promise to persons.
    """
    subjects = [c.name for c in schema.with_role("subject")]
    if job.goal.is_mechanism or not subjects or any(name in job.goal.columns for name in subjects):
        return
    asked = ", ".join(c.name for c in job.goal.criteria) + (" counts" if len(job.goal.criteria) == 1 else " count")
    raise JobError(
        "E111",
        f"{asked} records, but '{subjects[0]}' says that a person may have several",
        details=["A group of k records could be one person. Let a criterion count people:"],
        hint=_fix(subjects[0], job.goal),
    )


def notices_about_people(source: Source, schema: Schema, goal: Goal, plan: Plan | None = None) -> tuple[Notice, ...]:
    """Says when rows repeat the key of a person and no criterion counts people, and what that did to the groups."""
    if goal.is_mechanism:
        return ()
    keys = [c for c in schema.with_role("identifier", "subject") if c.name not in goal.columns]
    # A key that is dropped is a key still: people have as many records as it says.
    keys += [c for c in schema.with_role("drop") if is_key_of_people(words_of(c.name))]
    sample = source.sample([c.name for c in keys], SAMPLE) if keys else pl.DataFrame()
    keys = [c for c in keys if c.role == "subject" or _may_be_a_key(sample[c.name])]
    different = source.n_distinct([c.name for c in keys]) if keys else {}
    return tuple(
        _notice(source, schema, goal, plan, c, source.n_rows - different[c.name])
        for c in keys
        if 1 < different[c.name] < source.n_rows
    )


def _notice(source: Source, schema: Schema, goal: Goal, plan: Plan | None, key: Column, repeated: int) -> Notice:
    words = f"{repeated} of {source.n_rows} rows repeat an earlier value of '{key.name}': k counts rows, not people"
    people = None
    if plan is not None and source.n_rows <= _MOST_COUNTED:
        people = people_per_group(source, schema, plan, key)
    if people is not None:
        promised = max(goal.min_size, 2)
        few = int((people < promised).sum())
        alone = int((people == 1).sum())
        words += f"; {few} of {len(people)} groups have fewer than {promised} people, {alone} of them only one"
    return Notice(
        "W604",
        words,
        hint=f"{role(key.name, 'subject')}   and under 'criteria':  {_fix(key.name, goal)}",
        internal=True,
    )


def people_per_group(source: Source, schema: Schema, plan: Plan, key: Column) -> Counts | None:
    """How many people each group has at most: values of the key among the records of its cells.

    Where a cell is divided among groups, chance decides who goes where, so its people count in each. None if the
    records cannot be found again among the cells, as where a public table has changed the domains.
    """
    quasi, secret = schema.quasi, schema.sensitive
    cells = source.cells([*(c.name for c in (*quasi, *secret)), key.name])
    frame, weights = cells.frame(), cells.count

    def encoded(column: Column) -> NDArray[Any]:
        values = read_kind(frame[column.name], column, source)
        if column.role == "quasi":
            return encode_quasi(values, column, schema.missing_rule, {}, source.name, weights)[0]
        return encode_sensitive(values, column, weights)[0]

    names = [f"c{j}" for j in range(len(quasi) + len(secret))]
    codes = [encoded(column).astype(np.int32) for column in (*quasi, *secret)]
    people = pl.DataFrame(dict(zip(names, codes, strict=True))).with_columns(
        frame[key.name].cast(pl.String).alias("person"), pl.Series("records", weights)
    )
    known = np.column_stack([plan.tally.quasi, plan.tally.sensitive[:, : len(secret)]]).astype(np.int32)
    tally = pl.DataFrame(known, schema=names, orient="row").with_columns(
        pl.Series("cell", np.arange(plan.tally.n_cells)), pl.Series("n", plan.tally.count)
    )
    found = people.join(tally, on=names)
    again = found.group_by("cell", "n").agg(pl.col("records").sum())
    if again.height != tally.height or not bool((again["records"] == again["n"]).all()):
        return None
    pieces = pl.DataFrame({"cell": plan.grouping.cell.astype(np.int64), "group": plan.grouping.group})
    per_group = found.join(pieces.filter(pl.col("group") >= 0), on="cell").group_by("group")
    counted = per_group.agg(pl.col("person").n_unique())
    out = np.zeros(plan.n_groups, np.int64)
    out[counted["group"].to_numpy()] = counted["person"].to_numpy()
    return out


def _may_be_a_key(sample: pl.Series) -> bool:
    """Whether an identifier may be the key of a person: no amount, no answer, nothing that its name explains."""
    sight = Sight.of(sample.name, sample)
    return not (sight.is_measure or sight.is_answer or meaning_of(sample.name) is not None)


def _fix(key: str, goal: Goal) -> Fix:
    return criterion("xy-anonymity", "XYAnonymity", y=key, k=max(goal.min_size, 2))
