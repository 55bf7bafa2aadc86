"""What follows from the groups that were formed, and from the table that was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.distances import distances_of
from tarnkappe.errors import DataError, Notice
from tarnkappe.fixes import role
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source
from tarnkappe.io.formulas import any_formula
from tarnkappe.job import Job
from tarnkappe.looks.facts import uniqueness
from tarnkappe.parts import PartedPlan, Recounted, same_for_all, wildcard_cells
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally
from tarnkappe.wording import count, percent, plural

#: A sensitive column is worth a word if more than this share of the records have a value that no other record has.
_MANY_ALONE = 0.05

#: Numbers that are nearer than this, in standard deviations, are almost equal.
_HAIR = 0.01

#: Columns that a message names.
_MOST_NAMED = 5


def require_everybody(tally: Tally, source: Source, population: Source) -> None:
    """Refuse a public table that lacks people who are in the data."""
    lacking = np.maximum(tally.tuple_sizes - tally.tuple_people, 0)
    if lacking.any():
        n = int(lacking.sum())
        raise DataError(
            "E411",
            f"the public table '{population.name}' lacks {count(n)} of the {count(tally.n_records)} people in the data",
            where=source.name,
            details=[
                f"{count(int((lacking > 0).sum()))} of {count(tally.n_tuples)} combinations of quasi-identifiers are "
                "rarer there than in the data.",
                "Values must be written in the same way in both, and everybody in the data must stand in the public "
                "table.",
            ],
            hint="population: {path: REGISTER.csv}   (a table of all people, among them those in the data)",
        )


def notices_about_plan(job: Job, plan: Plan, schema: Schema) -> tuple[Notice, ...]:
    """Warnings that follow from the groups formed."""
    out = []
    if plan.grouping.suppressed:
        share = plan.grouping.suppressed / plan.tally.n_records
        out.append(Notice("W606", f"{plural(plan.grouping.suppressed, 'record')} ({percent(share)}) suppressed"))
    out += _wildcards(wildcard_cells(plan))
    unguarded: list[Column] = []
    if not job.goal.is_mechanism:
        unguarded = [c for c in schema.sensitive if c.name not in job.goal.columns]
    for column in unguarded:
        histogram = GroupStats.of(plan.tally, plan.grouping, [column.name]).histograms[column.name]
        out += _all_the_same(column.name, *same_for_all(histogram, plan.sizes))
    if job.goal.is_mechanism:
        out.extend(_counted_as_missing(plan.tally))
    else:
        changed = {name for mask in job.masks for name in mask.changes}  # nobody knows these values of a person
        unchanged = [column for column in schema.sensitive if column.name not in changed]
        kept = plan.grouping.group >= 0
        for column in unchanged:
            values = plan.tally.sensitive[plan.grouping.cell[kept], plan.tally.sensitive_index(column.name)]
            out += _told_apart(column, np.bincount(values, plan.grouping.quota[kept]), plan.n_published)
    return (*out, *_almost_equal(plan))


def notices_about_parts(job: Job, plan: PartedPlan, found: Recounted, schema: Schema) -> tuple[Notice, ...]:
    """Warnings that follow from groups of which no machine has seen all: what the recount found in all parts."""
    out = []
    if plan.suppressed:
        share = plan.suppressed / plan.tally.n_records
        out.append(Notice("W606", f"{plural(plan.suppressed, 'record')} ({percent(share)}) suppressed"))
    out += _wildcards(plan.figures.wildcards)
    for name, alike in found.same_for_all.items():
        out += _all_the_same(name, *alike)
    for column in schema.sensitive:
        out += _told_apart(column, found.tables[column.name], plan.n_published)
    return tuple(out)


def _wildcards(cells: int) -> Iterator[Notice]:
    if cells:
        yield Notice("W607", f"{cells} missing cells were published with the value of their group", internal=True)


def _all_the_same(column: str, groups: int, records: int) -> Iterator[Notice]:
    """A warning if some groups of so many records have one value of a column that no criterion looks at."""
    if groups:
        yield Notice(
            "W605",
            f"in {plural(groups, 'group')} ({plural(records, 'record')}) everyone has the same '{column}'",
            hint=f"Add  - l-diversity: {{column: {column}, l: 2}}.",
        )


def _almost_equal(plan: Plan) -> list[Notice]:
    """A warning if the centre of many records is the value of all records of their group, but for a hair."""
    out = []
    tally, guarded = plan.tally, plan.goal.centre_columns
    domains = {d.name: (j, d) for j, d in enumerate(tally.quasi_domains) if d.name not in guarded}
    for name, found in distances_of(tally, plan.grouping, domains).items():
        j, domain = domains[name]
        counts = tally.value_counts[j][domain.known]
        place = domain.positions[domain.known]
        mean = np.average(place, weights=counts)
        hair = _HAIR * float(np.sqrt(np.average((place - mean) ** 2, weights=counts)))
        size = np.bincount(found.group, found.records, plan.n_groups)
        far = np.bincount(found.group, found.records * (found.off >= hair), plan.n_groups)
        told = int(size[(far == 0) & (size > 0)].sum())
        if told > _MANY_ALONE * plan.n_published:
            share = f"{percent(told / plan.n_published)} of the records"
            words = f"{share} are in groups whose centre of '{name}' is, but for a hair, the value of all of them"
            hint = f"Add  - security-ratio: {{column: {name}, epsilon: {hair:.3g}, gamma: 0.5}}."
            out.append(Notice("W629", words, hint=hint, internal=True))
    return out


def notices_about_deal(job: Job, plan: DealtPlan, schema: Schema) -> tuple[Notice, ...]:
    """Warnings that follow from records dealt to numbered groups."""
    out = []
    if plan.suppressed:
        share = plan.suppressed / plan.tally.n_records
        out.append(Notice("W606", f"{plural(plan.suppressed, 'record')} ({percent(share)}) suppressed"))
    if "identity" not in plan.form.hides:
        words = (
            "quasi-identifiers are published as they are: who a record is about is not hidden, only who has which "
            + " and ".join(c.name for c in schema.sensitive)
        )
        quasi = {c.name for c in schema.quasi}
        if any(quasi <= set(strand.columns) for strand in plan.form.strands(schema)):  # else no reader can count it
            alone = int((plan.tally.per_tuple(plan.published) == 1).sum())
            words += f"; {count(alone)} of {plural(plan.n_published, 'record')} are the only ones with theirs"
        out.append(Notice("W621", words, hint="An algorithm that generalises hides both:  algorithm: mondrian"))
    out += _falsified(plan)
    for column in schema.sensitive:
        if column.name not in job.goal.columns:
            out.append(
                Notice(
                    "W605",
                    f"no criterion looks at '{column.name}', which is published with the groups",
                    hint=f"Add  - l-diversity: {{column: {column.name}, l: 2}}.",
                )
            )
    return (*out, *_told_beside(job, plan, schema))


def _told_beside(job: Job, plan: DealtPlan, schema: Schema) -> Iterator[Notice]:
    """Warnings about secrets that tell records apart and stay with others: whoever knows the one reads the others."""
    changed = {name for mask in job.masks for name in mask.changes}
    together = [strand.of_data for strand in plan.form.strands(schema)]
    for column in schema.sensitive:
        beside = list(dict.fromkeys(n for names in together if column.name in names for n in names if n != column.name))
        if beside and column.name not in changed:
            values = plan.tally.sensitive[plan.deal.cell, plan.tally.sensitive_index(column.name)]
            yield from _told_apart(column, np.bincount(values), plan.n_published, f"reads {_named(beside)} beside it")


def _falsified(plan: DealtPlan) -> Iterator[Notice]:
    """That values are not true, for everybody; how many, for whoever made the release."""
    domain, deal = plan.form.falsifies, plan.deal
    if domain is None or deal.told is None:
        return
    secret = plan.tally.sensitive[:, plan.tally.sensitive_index(domain.name)]
    n = int((secret[deal.told] != secret[deal.cell]).sum())
    yield Notice(
        "W648",
        f"values of '{domain.name}' may be falsified: in groups with too many guarded ones some were replaced",
        hint="Do not count guarded values in the release.",
    )
    share = percent(n / max(plan.n_published, 1))
    yield Notice("W649", f"{plural(n, 'value')} of '{domain.name}' falsified ({share} of all)", internal=True)


def _counted_as_missing(tally: Tally) -> Iterator[Notice]:
    """For whoever made the release: how many records have no value that their column can hold."""
    for j, domain in enumerate(tally.quasi_domains):
        if domain.missing >= 0:
            n = int(tally.value_counts[j][domain.missing])
            yield Notice(
                "W630",
                f"'{domain.name}' is missing in {count(n)} of {plural(tally.n_records, 'record')}, or is no number, "
                "no date or not in its taxonomy there",
                internal=True,
            )


def _told_apart(
    column: Column, published: Counts | Floats, n_published: int, then: str = "finds the person"
) -> Iterator[Notice]:
    """A warning if a sensitive value, which is published unchanged, often belongs to one published record only.

    `published` says how many records have each value.
    """
    alone = int((published == 1).sum())
    if alone <= _MANY_ALONE * n_published:
        return
    having = f"{count(alone)} of {plural(n_published, 'record')} have a value of their own"
    words = f"'{column.name}' is published unchanged, and {having}: whoever knows it {then}"
    coarse = "numeric" if column.kind == "numeric" else "suppress"
    yield Notice("W603", words, hint=f"Coarsen it:  {role(column.name, 'quasi', coarse)}")


def notices_about_release(written: Source, schema: Schema, goal: Goal) -> tuple[Notice, ...]:
    """What somebody can do who knows the kept columns too: all that the written table shows of a person, together."""
    kept = [c.name for c in schema.with_role("keep")]
    words = "whoever also knows {names}, published unchanged, finds"
    return _singled_out(written, [*(c.name for c in schema.quasi), *kept], kept, goal, words)


def notices_about_kept(source: Source, schema: Schema, goal: Goal) -> tuple[Notice, ...]:
    """What the kept columns tell by themselves, before anything is decided: with the others it can only be more."""
    kept = [c.name for c in schema.with_role("keep")]
    return _singled_out(source, kept, kept, goal, "whoever knows {names}, published unchanged, finds")


def _singled_out(table: Source, known: list[str], kept: list[str], goal: Goal, who_finds: str) -> tuple[Notice, ...]:
    """A warning if the columns that somebody knows make groups smaller than was promised."""
    if not kept or goal.is_mechanism:
        return ()
    promised = max(goal.min_size, 2)
    found = uniqueness(table, known, promised)
    if not found.in_small_groups:
        return ()
    return (
        Notice(
            "W603",
            f"{who_finds.format(names=_named(kept))} {count(found.in_small_groups)} of "
            f"{plural(table.n_rows, 'record')} in groups of fewer than {promised}, {count(found.unique)} of them alone",
            hint=f"{kept[0]}: {{role: quasi, taxonomy: suppress}}   or  {{role: drop}}",
        ),
    )


def _named(columns: Sequence[str]) -> str:
    """The first columns by name, and how many more there are."""
    quoted = [f"'{name}'" for name in columns[:_MOST_NAMED]]
    more = [f"{len(columns) - _MOST_NAMED} more"] * (len(columns) > _MOST_NAMED)
    *first, last = [*quoted, *more]
    return f"{', '.join(first)} and {last}" if first else last


def notices_about_formulas(plan: AnyPlan | PartedPlan, schema: Schema, written: Source) -> tuple[Notice, ...]:
    """A warning about texts that a spreadsheet would run when somebody opens the released CSV file with it."""
    here = [c.name for c in schema.columns if c.name in written.columns]
    texts: dict[str, Sequence[str]] = {}
    tally, told = plan.tally, None
    if isinstance(plan, DealtPlan):
        told = np.flatnonzero(plan.published).astype(np.int32)
    else:
        texts = {d.name: plan.published_in(j)[1].texts for j, d in enumerate(tally.quasi_domains)}
    if isinstance(plan, Plan):
        # What stands in the sensitive columns was compared with the plan: no need to read the file once more.
        told = plan.grouping.cell[plan.grouping.group >= 0]
    for s, domain in enumerate(tally.sensitive_domains if told is not None else ()):
        # The sensitive columns of a plan by numbers may stand in another table.
        if domain.name in schema.published and (isinstance(plan, Plan) or domain.name not in here):
            codes = np.flatnonzero(np.bincount(tally.sensitive[told, s]))
            texts[domain.name] = [domain.taxonomy.leaves[code] for code in codes]
    risky = [name for name, known in texts.items() if any_formula(known)]
    risky += written.with_formulas([name for name in here if name not in texts])
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
