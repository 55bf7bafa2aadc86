"""Guard rails: what is refused, and what is said aloud, before and after a decision."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from tarnkappe.errors import DataError, Notice, RefusedError
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source, is_text
from tarnkappe.io.formulas import any_formula
from tarnkappe.job import Job
from tarnkappe.plan import Plan
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally
from tarnkappe.wording import count, plural

#: Rows looked at to recognise what a column holds.
SAMPLE = 10_000

_FEWEST = 20  # with fewer values a column that is all different means nothing

_NAMES = re.compile(
    r"(^|[_\W])(name|first_?name|last_?name|surname|vorname|nachname|ssn|social_?security|passport|e_?mail|phone|"
    r"mobile|telefon|iban|account_?(no|number)?|patient_?(id|no|number)|person_?(id|no)|insurance_?(id|no|number)|"
    r"versicherungsnummer|steuer(nummer|id)|street|strasse|address|adresse|uuid|guid)($|[_\W])",
    re.IGNORECASE,
)
_ID_NAME = re.compile(r"^(id|.*_id|.*[a-z]Id|nr|no|number|key|index|row(num)?)$")
_PATTERNS = {
    "e-mail addresses": r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$",
    "telephone numbers": r"^\+?[0-9][0-9 ()/\-]{6,}[0-9]$",
    "UUIDs": r"^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$",
}


@dataclass(frozen=True)
class Look:
    """What a column looks like, judged from its name and a sample of its values."""

    identifier: str | None
    free_text: bool
    numeric: bool
    distinct: int
    sample: int
    mean_length: float

    @property
    def uniqueness(self) -> float:
        """Different values per row of the sample."""
        return self.distinct / max(self.sample, 1)


def look_at(name: str, series: pl.Series) -> Look:
    """Judge a column; `identifier` is the reason why it seems to name people directly, or None."""
    known = series.head(SAMPLE).drop_nulls()
    distinct = known.n_unique()
    text = known.cast(pl.String)
    length = float(text.str.len_chars().mean() or 0.0) if len(text) else 0.0  # type: ignore[arg-type]
    numbers = text.str.replace(",", ".", literal=True).cast(pl.Float64, strict=False).drop_nulls()
    numeric = len(text) > 0 and len(numbers) == len(text)
    reason = None
    matches = {what: int(text.str.contains(p).sum()) for what, p in _PATTERNS.items()}
    mostly = [what for what, n in matches.items() if len(text) >= _FEWEST and n > 0.9 * len(text)]
    all_different = len(text) >= _FEWEST and distinct > 0.9 * len(text)
    if _NAMES.search(name):
        reason = "its name is that of a direct identifier"
    elif mostly and (mostly[0] != "telephone numbers" or (all_different and not numeric)):
        reason = f"its values look like {mostly[0]}"
    elif all_different and _ID_NAME.match(name):
        reason = f"{distinct / len(text):.0%} of its values are different and it is called an id"
    elif all_different and is_text(series.dtype) and not numeric:
        reason = f"{distinct / len(text):.0%} of its values are different texts"
    return Look(reason, length > 40, numeric, distinct, len(text), length)


def refuse_identifiers(source: Source, schema: Schema) -> None:
    """Stop before a column that seems to name people directly is published, unless the job says why it may be.

    A quasi-identifier with a taxonomy has been looked at by whoever chose the taxonomy.
    """
    doubtful = [
        c for c in schema.with_role("quasi", "keep") if not c.because and (c.role == "keep" or c.taxonomy is None)
    ]
    if not doubtful:
        return
    sample = source.sample([c.name for c in doubtful], SAMPLE)
    for column in doubtful:
        series = sample[column.name]
        if column.kind == "numeric" and is_text(series.dtype):
            # A text among the numbers makes no name of them; it is refused as such when the column is read.
            series = series.str.strip_chars().cast(pl.Float64, strict=False)
        look = look_at(column.name, series)
        if look.identifier is None and not (column.role == "keep" and look.free_text):
            continue
        reason = look.identifier or f"it is free text (on average {look.mean_length:.0f} characters)"
        raise RefusedError(
            "E604",
            f"column '{column.name}' would be published ({column.role}) but seems to identify people: {reason}",
            where=source.name,
            hint=f'{column.name}: {{role: identifier}}   or say why it is harmless:  because: "reviewed …"',
        )


def require_everybody(tally: Tally, source: Source, population: Source) -> None:
    """Refuse a public table that lacks people who are in the data."""
    lacking = np.maximum(tally.tuple_sizes - tally.tuple_people, 0)
    if lacking.any():
        n = int(lacking.sum())
        raise DataError(
            "E411",
            f"the public table '{population.name}' lacks {n} of the {tally.n_records} people in the data",
            where=source.name,
            details=[
                f"{int((lacking > 0).sum())} of {tally.n_tuples} combinations of quasi-identifiers are rarer there "
                "than in the data.",
                "Values must be written in the same way in both, and everybody in the data must stand in the public "
                "table.",
            ],
            hint="population: {path: REGISTER.csv}   (a table of all people, among them those in the data)",
        )


def notices_about_data(source: Source, schema: Schema, goal: Goal) -> tuple[Notice, ...]:
    """Warnings that need a look at the data."""
    kept = [c.name for c in schema.with_role("keep") if not c.because]
    identifiers = [c.name for c in schema.with_role("identifier", "subject") if c.name not in goal.columns]
    if not kept and not identifiers:
        return ()
    different = source.n_distinct([*kept, *identifiers])
    out = []
    for name in kept:
        if different[name] > max(100, 0.05 * source.n_rows):
            out.append(
                Notice(
                    "W603",
                    f"'{name}' is published unchanged and has {different[name]} different values: "
                    "it may single people out",
                    hint=f"Make it quasi or drop it, or say why it is harmless:  {name}: {{role: keep, because: …}}",
                )
            )
    for name in identifiers:
        several = source.n_rows - different[name]
        if 0 < several < 0.5 * source.n_rows:  # beyond that it is no key of persons
            out.append(
                Notice(
                    "W604",
                    f"{several} rows repeat an earlier value of '{name}': k counts rows, not people",
                    hint=f"{name}: {{role: subject}}   and  - xy-anonymity: {{y: {name}, k: 5}}   count people.",
                )
            )
    return tuple(out)


def notices_about_plan(job: Job, plan: Plan, schema: Schema) -> tuple[Notice, ...]:
    """Warnings that follow from the groups formed."""
    out = []
    if plan.grouping.suppressed:
        share = plan.grouping.suppressed / plan.tally.n_records
        out.append(Notice("W606", f"{plan.grouping.suppressed} records ({share:.2%}) were suppressed"))
    wild = _wildcard_cells(plan)
    if wild:
        out.append(Notice("W607", f"{wild} missing cells were published with the value of their group", internal=True))
    unguarded: list[Column] = []
    if not job.goal.is_mechanism:
        unguarded = [c for c in schema.sensitive if c.name not in job.goal.columns]
    for column in unguarded:
        histogram = GroupStats.of(plan.tally, plan.grouping, [column.name]).histograms[column.name]
        alone = np.diff(histogram.indptr) == 1
        if alone.any():
            out.append(
                Notice(
                    "W605",
                    f"in {plural(int(alone.sum()), 'group')} ({count(int(plan.sizes[alone].sum()))} people) "
                    f"everyone has the same '{column.name}'",
                    hint=f"Add  - l-diversity: {{column: {column.name}, l: 2}}.",
                )
            )
    return tuple(out)


def notices_about_formulas(plan: Plan, schema: Schema, source: Source) -> tuple[Notice, ...]:
    """A warning about texts that a spreadsheet would run when somebody opens the released CSV file with it."""
    texts = {d.name: x.texts for d, x in zip(plan.tally.quasi_domains, plan.labels, strict=True)}
    texts |= {d.name: d.taxonomy.leaves for d in plan.tally.sensitive_domains if d.name in schema.published}
    risky = [name for name, known in texts.items() if any_formula(known)]
    risky += source.with_formulas([c.name for c in schema.with_role("keep")])
    named = [name for name in schema.published if any_formula([name])]
    if not risky and not named:
        return ()
    columns = ", ".join(f"'{name}'" for name in schema.published if name in (*risky, *named))
    return (
        Notice(
            "W620",
            f"the CSV file has texts that a spreadsheet would run as formulas, in {columns}",
            hint="output: {spreadsheet_safe: true}   writes an apostrophe before them.",
        ),
    )


def _wildcard_cells(plan: Plan) -> int:
    kept = plan.grouping.group >= 0
    cells = 0
    for j, domain in enumerate(plan.tally.quasi_domains):
        if domain.wildcard:
            missing = plan.tally.quasi[plan.grouping.cell, j] == domain.missing
            cells += int(plan.grouping.quota[missing & kept].sum())
    return cells
