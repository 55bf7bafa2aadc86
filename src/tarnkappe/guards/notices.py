"""All that is said aloud about a job before it is decided, and about a release once it is written."""

from __future__ import annotations

from tarnkappe.errors import Notice
from tarnkappe.goal import Goal
from tarnkappe.guards.outcome import (
    notices_about_deal,
    notices_about_formulas,
    notices_about_kept,
    notices_about_plan,
    notices_about_release,
)
from tarnkappe.guards.people import notices_about_people
from tarnkappe.io import Format, Source
from tarnkappe.job import Job
from tarnkappe.plan import AnyPlan, DealtPlan
from tarnkappe.schema import Schema


def foreseen(source: Source, schema: Schema, goal: Goal) -> tuple[Notice, ...]:
    """What can be said before anything is decided."""
    return notices_about_people(source, schema, goal) + notices_about_kept(source, schema, goal)


def said_aloud(
    job: Job, schema: Schema, plan: AnyPlan, source: Source, written: Source, format_: Format | None = None
) -> tuple[Notice, ...]:
    """What follows from the groups formed and from the table written, also about the file if there is one."""
    if isinstance(plan, DealtPlan):
        told = notices_about_deal(job, plan, schema)
        risky = format_ == "csv" and not job.output.spreadsheet_safe
        return told + (notices_about_formulas(plan, schema, source) if risky else ())
    told = notices_about_people(source, schema, job.goal, plan)
    told += notices_about_plan(job, plan, schema)
    told += notices_about_release(written, schema, job.goal)
    if format_ == "csv" and not job.output.spreadsheet_safe:
        told += notices_about_formulas(plan, schema, source)
    return told
