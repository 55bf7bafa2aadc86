"""What a job and its data must be before anything is counted."""

from __future__ import annotations

from tarnkappe.errors import JobError
from tarnkappe.fixes import role, say
from tarnkappe.guards.identifiers import refuse_identifiers
from tarnkappe.guards.people import require_people_counted
from tarnkappe.io import Source
from tarnkappe.io.formats import require_writer
from tarnkappe.job import Job
from tarnkappe.looks.facts import column_facts
from tarnkappe.publish.numbered import Numbered
from tarnkappe.schema import Schema, undecided_error

#: Columns without a role that are looked at, to say what was seen.
_MOST_LOOKED_AT = 8


def admitted(job: Job, source: Source) -> Schema:
    """The columns of the data with their roles: all decided, people counted where asked, nobody pointed at unseen."""
    undecided = job.undecided(source.columns)
    if undecided:
        seen = [f.words for f in column_facts(source, undecided[:_MOST_LOOKED_AT])]
        absent = [c.name for c in job.columns if c.name not in source.columns]
        raise undecided_error(undecided, seen, source.name, absent)
    if job.output.format is not None and job.output.database is None:
        require_writer(job.output.format)  # before the hours that counting may take
    schema = job.schema(source.columns, source.name)
    require_people_counted(job, schema)
    _refuse_kept(job, schema)
    # A mechanism publishes no value that only few have, whatever it is; and no record may decide about the release.
    by_name = job.goal.is_mechanism
    coarsens = job.algorithm.publishes.coarsens
    floored = [c for c in schema.columns if c.min_level]  # coarsened by whatever is published; the written table tells
    others = [c for c in schema.columns if not c.min_level]
    refuse_identifiers(source, others, coarsened=coarsens, by_name=by_name)
    refuse_identifiers(source, floored, by_name=by_name)
    return schema


def _refuse_kept(job: Job, schema: Schema) -> None:
    """Refuse columns that pass through where tables follow from the groups alone, which know nothing of them."""
    kept = schema.with_role("keep")
    if kept and issubclass(job.algorithm.publishes, Numbered):
        name = kept[0].name
        raise JobError(
            "E111",
            f"'{name}' is to be kept, but {job.algorithm.name} publishes quasi-identifiers and sensitive columns only",
            hint=say("{}   or  {}", role(name, "sensitive"), role(name, "drop")),
        )
