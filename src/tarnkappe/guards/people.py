"""Several records per person: then a group of k records may be one person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
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
from tarnkappe.looks import SAMPLE, Sight, findings
from tarnkappe.looks.base import ALL_DIFFERENT
from tarnkappe.looks.identifiers.bank_account import BankAccount
from tarnkappe.looks.identifiers.email import Email
from tarnkappe.looks.identifiers.key import Key
from tarnkappe.looks.identifiers.national_id import NationalId
from tarnkappe.looks.identifiers.record_number import is_key_of_people
from tarnkappe.looks.identifiers.telephone import Telephone
from tarnkappe.looks.words import words_of
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.schema import KEYS, Column, Schema
from tarnkappe.wording import count

#: What people share who have a number in it each.
_SHARED = {"household", "hh", "family", "dwelling", "haushalt", "familie", "menage", "foyer", "hogar", "famiglia"}

#: What one person has, and nobody else: whoever drops it may have several records of somebody.
_NUMBERED = {NationalId.name, BankAccount.name, Email.name, Telephone.name, Key.name}

#: Roles whose columns readers see.
_PUBLISHED = ("quasi", "sensitive", "keep")

#: Rows that show what kind of values a column has which nobody publishes.
_GLANCE = 1000

#: Columns of which pairs are looked at.
_MOST_PAIRED = 6

#: Beyond so many records people are not counted group by group unless a criterion asks for it.
_MOST_COUNTED = 20_000_000


def require_people_counted(job: Job, schema: Schema) -> None:
    """Refuse a job that names the key of persons with several records but asks nothing about people.

    A mechanism decides for itself what it can promise to persons.
    """
    subjects = [c.name for c in schema.with_role(*KEYS)]
    if job.goal.is_mechanism or not subjects or any(name in job.goal.columns for name in subjects):
        return
    asked = ", ".join(c.name for c in job.goal.criteria) + (" counts" if len(job.goal.criteria) == 1 else " count")
    raise JobError(
        "E111",
        f"{asked} records, but '{subjects[0]}' says that a person may have several",
        details=["A group of k records could be one person. Let a criterion count people:"],
        hint=_fix(subjects[0], job.goal),
    )


def notices_about_people(
    source: Source, schema: Schema, goal: Goal, plan: AnyPlan | None = None, *, known_by: str | None = None
) -> tuple[Notice, ...]:
    """Says when rows repeat the key of a person and no criterion counts people, and what that did to the groups.

    People are `known_by` a column if the job says so elsewhere.
    """
    if goal.is_mechanism:
        return ()
    keys = repeated_keys(source, [c for c in schema.columns if c.name not in goal.columns], known_by)
    return tuple(_notice(source, schema, goal, plan, names, source.n_rows - n) for names, n in keys)


def repeated_keys(
    source: Source, columns: Iterable[Column], known_by: str | None = None
) -> list[tuple[tuple[str, ...], int]]:
    """The columns, or two of them together, that seem to be keys of people and repeat, with how many people they tell.

    Rows without a value in a key repeat nobody: that somebody has no telephone does not make two people one.
    A key is a key in every role: if it is dropped, people have as many records as it says, whether its name tells that
    or its values; if it is published, it joins them besides. People are `known_by` a column if somebody said so.
    """
    named = [(c, words_of(c.name)) for c in columns if c.name not in source.odd]  # what is dropped may be of any kind
    looked_at = [c.name for c, words in named if c.role == "drop" and not is_key_of_people(words)]
    seen = source.sample(looked_at, _GLANCE) if looked_at else pl.DataFrame()
    found_out = {s.name for s in seen if any(f.kind in _NUMBERED for f in findings(Sight.of(s.name, s)))}
    published = {c.name for c, words in named if c.role in _PUBLISHED and is_key_of_people(words)}
    keys = [
        c
        for c, words in named
        if c.role in ("identifier", *KEYS)
        or c.name in published
        or c.name in found_out
        or c.name == known_by
        or (c.role == "drop" and (is_key_of_people(words) or _SHARED.intersection(words)))
    ]
    if not keys:
        return []
    sample = source.sample([c.name for c in keys], SAMPLE)
    keys = [c for c in keys if c.name not in published or _is_numbered(sample[c.name])]
    different = source.n_distinct([c.name for c in keys]) if keys else {}
    names = [c.name for c in keys if 1 < different[c.name] < source.n_rows]
    missing = source.n_missing(names) if names else {}  # a pass that tables without repeated keys do not need
    people = {name: different[name] + max(missing[name] - 1, 0) for name in names}
    repeating = [c for c in keys if people.get(c.name, source.n_rows) < source.n_rows]
    found: list[tuple[tuple[str, ...], int]] = [
        ((c.name,), people[c.name])
        for c in repeating
        if c.role in KEYS or c.name == known_by or _may_be_a_key(sample[c.name])
    ]
    parts = [c.name for c in repeating if not Sight.of(c.name, sample[c.name]).is_measure]
    pair = _key_of_two(source, parts, different)
    return found if pair is None else [*found, pair]


def notices_about_open_keys(source: Source, columns: Iterable[Column]) -> Iterator[Notice]:
    """Warnings about keys of people that are published as they are, where there are no groups: `columns` are left."""
    for key, people in repeated_keys(source, columns):
        names = " and ".join(f"'{name}'" for name in key)
        words = f"{count(source.n_rows - people)} of {count(source.n_rows)} rows repeat an earlier value of {names}"
        words += ", which no mask changes: it joins the records of a person"
        yield Notice("W604", words, hint=str(role(key[0], "drop")))


def _key_of_two(
    source: Source, names: Sequence[str], different: Mapping[str, int]
) -> tuple[tuple[str, str], int] | None:
    """Two columns that tell more people apart than either does, and still repeat, as a household and a number in it."""
    pairs = []
    for one, other in combinations(names[:_MOST_PAIRED], 2):
        n = sum(source.repeats([one, other]).values())
        if max(different[one], different[other]) < n < source.n_rows:
            pairs.append(((one, other), n))
    return max(pairs, key=lambda found: found[1], default=None)


def _notice(
    source: Source, schema: Schema, goal: Goal, plan: AnyPlan | None, key: tuple[str, ...], repeated: int
) -> Notice:
    what = f"value of '{key[0]}'" if len(key) == 1 else f"combination of '{key[0]}' and '{key[1]}'"
    words = f"{count(repeated)} of {count(source.n_rows)} rows repeat an earlier {what}: k counts rows, not people"
    people = None
    if plan is not None and source.n_rows <= _MOST_COUNTED:
        people = people_per_group(source, schema, plan, key)
    if people is not None:
        promised = max(goal.min_size, 2)
        few = int((people < promised).sum())
        alone = int((people == 1).sum())
        # Namesakes are two people: what was counted are values, and that is what the sentence says.
        told = f"{count(few)} of {count(len(people))} groups have fewer than {promised} people, {count(alone)} of them"
        words += f"; as far as it tells people apart, {told} only one"
    name = "-".join(key)
    hint = f"{role(name, 'subject')}   and under 'criteria':  {_fix(name, goal)}"
    if len(key) > 1:
        hint = f"Join both into one column '{name}' of the data; then  {hint}"
    return Notice("W604", words, hint=hint, internal=True)


def people_per_group(source: Source, schema: Schema, plan: AnyPlan, key: Sequence[str]) -> Counts | None:
    """How many people each group has at most: values of the key, one column or several, among the records of its cells.

    Where a cell is divided among groups, chance decides who goes where, so its people count in each. None if the
    records cannot be found again among the cells, as where a public table has changed the domains.
    """
    quasi, secret = schema.quasi, schema.sensitive
    cells = source.cells(list(dict.fromkeys([*(c.name for c in (*quasi, *secret)), *key])))
    frame, weights = cells.frame(), cells.count

    def encoded(column: Column) -> NDArray[Any]:
        values = read_kind(frame[column.name], column, source)
        if column.role == "quasi":
            return encode_quasi(values, column, schema.missing_rule, {}, source.name, weights)[0]
        return encode_sensitive(values, column, weights)[0]

    names = [f"c{j}" for j in range(len(quasi) + len(secret))]
    codes = [encoded(column).astype(np.int32) for column in (*quasi, *secret)]
    people = pl.DataFrame(dict(zip(names, codes, strict=True))).with_columns(
        frame.select(pl.struct(pl.col(name).cast(pl.String) for name in key).alias("person"))["person"],
        pl.Series("records", weights),
    )
    known = np.column_stack([plan.tally.quasi, plan.tally.sensitive[:, : len(secret)]]).astype(np.int32)
    tally = pl.DataFrame(known, schema=names, orient="row").with_columns(
        pl.Series("cell", np.arange(plan.tally.n_cells)), pl.Series("n", plan.tally.count)
    )
    found = people.join(tally, on=names)
    again = found.group_by("cell", "n").agg(pl.col("records").sum())
    if again.height != tally.height or not bool((again["records"] == again["n"]).all()):
        return None
    if isinstance(plan, DealtPlan):
        cell, group = plan.deal.cell, np.repeat(np.arange(plan.n_groups, dtype=np.int32), plan.deal.size)
    else:
        cell, group = plan.grouping.cell, plan.grouping.group
    pieces = pl.DataFrame({"cell": cell.astype(np.int64), "group": group}).unique()
    per_group = found.join(pieces.filter(pl.col("group") >= 0), on="cell").group_by("group")
    counted = per_group.agg(pl.col("person").n_unique())
    out = np.zeros(plan.n_groups, np.int64)
    out[counted["group"].to_numpy()] = counted["person"].to_numpy()
    return out


def _may_be_a_key(sample: pl.Series) -> bool:
    """Whether an identifier may be the key of a person: no amount, no answer, nothing that its name explains."""
    sight = Sight.of(sample.name, sample)
    return not (sight.is_measure or sight.is_answer or meaning_of(sample.name) is not None)


def _is_numbered(sample: pl.Series) -> bool:
    """Whether values are numbers or codes, as keys are: a `subject` that is published may be one taught at school."""
    return Sight.of(sample.name, sample).share(r".*\d.*") >= ALL_DIFFERENT


def _fix(key: str, goal: Goal) -> Fix:
    return criterion("xy-anonymity", "XYAnonymity", y=key, k=max(goal.min_size, 2))
