"""All that is said aloud about a job before it is decided, and about a release once it is written."""

from __future__ import annotations

from tarnkappe.errors import Notice
from tarnkappe.goal import Goal
from tarnkappe.guards.identifiers import notices_about_reasons
from tarnkappe.guards.outcome import (
    notices_about_deal,
    notices_about_formulas,
    notices_about_kept,
    notices_about_parts,
    notices_about_plan,
    notices_about_release,
)
from tarnkappe.guards.people import notices_about_people
from tarnkappe.io import Format, Source
from tarnkappe.job import Job
from tarnkappe.parts import PartedPlan, Recounted, outline
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.schema import Schema
from tarnkappe.spellings import notices_about_spellings
from tarnkappe.tally import Tally


def foreseen(job: Job, source: Source, schema: Schema, goal: Goal, tally: Tally) -> tuple[Notice, ...]:
    """What can be said before anything is decided."""
    told = notices_about_people(source, schema, goal, known_by=job.known_by) + notices_about_kept(source, schema, goal)
    if not goal.is_mechanism:  # whatever is said may depend on one record
        told += notices_about_reasons(source, schema.columns) + notices_about_spellings(tally)
    return told


def said_aloud(
    job: Job,
    schema: Schema,
    plan: AnyPlan | PartedPlan,
    source: Source,
    written: Source,
    format_: Format | None = None,
    found: Recounted | None = None,
) -> tuple[Notice, ...]:
    """What follows from the groups formed and from the table written, also about the file if there is one.

    Readers are told too, so it is about the release: a record that was suppressed leaves no trace in it. Of groups that
    are in parts, what was `found` in the table tells.
    """
    risky = format_ == "csv" and not job.output.spreadsheet_safe
    if isinstance(plan, PartedPlan):
        assert found is not None, "the table was recounted in parts"
        told = notices_about_people(source, schema, job.goal, known_by=job.known_by) + notices_about_reasons(
            written, schema.columns
        )
        published = outline([], list(found.tables.values()), [], plan.tally.sensitive_domains)
        told += notices_about_spellings(published) + notices_about_parts(job, plan, found, schema)
        told += notices_about_release(written, schema, job.goal)
        return told + (notices_about_formulas(plan, schema, written) if risky else ())
    if isinstance(plan, DealtPlan):
        told = notices_about_people(source, schema, job.goal, plan, known_by=job.known_by) + notices_about_deal(
            job, plan, schema
        )
        told += notices_about_reasons(written, schema.columns, coarsened=plan.form.coarsens)
        return told + (notices_about_formulas(plan, schema, written) if risky else ())
    told = notices_about_people(source, schema, job.goal, plan, known_by=job.known_by)
    if not job.goal.is_mechanism:
        told += notices_about_reasons(written, schema.columns) + notices_about_spellings(plan.tally, plan)
    told += notices_about_plan(job, plan, schema)
    changed = {name for mask in job.masks for name in mask.changes}  # nobody knows these values of a person
    told += notices_about_release(written, Schema(c for c in schema.columns if c.name not in changed), job.goal)
    if risky:
        told += notices_about_formulas(plan, schema, written)
    return told
