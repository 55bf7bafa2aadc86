"""Jobs about editions: one table for different readers, each edition coarser than the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tarnkappe.criteria import Criterion
from tarnkappe.errors import JobError
from tarnkappe.io.folders import RESERVED
from tarnkappe.job.files import job_from_data
from tarnkappe.job.model import Job, require_column
from tarnkappe.job.sections import at, criteria_listed, written
from tarnkappe.job.text import apply_settings, read_job_file
from tarnkappe.params import place
from tarnkappe.schema import Schema

#: The key that makes a job file one about editions.
KEY = "editions"

_EXAMPLE = "editions: {on-site: {}, open: {criteria: [{k-anonymity: {k: 50}}]}}"


@dataclass(frozen=True)
class EditionsJob:
    """A job, what its own edition is called, and the criteria of the coarser ones by name, the coarsest last."""

    job: Job
    finest: str
    coarser: Mapping[str, tuple[Criterion, ...]]


def load_editions_job(path: str | Path, settings: Iterable[str] = ()) -> EditionsJob:
    """Read a job file about editions, with ``key=value`` overrides."""
    with written():
        raw = read_job_file(path)
        apply_settings(raw, settings)
        folder, given = Path(path).parent, raw.get(KEY)
        if not isinstance(given, Mapping) or len(given) < 2:
            what = f"'{KEY}' names at least two, from the finest to the coarsest"
            raise JobError("E110", what, where=place(raw, KEY), hint=_EXAMPLE)
        job = job_from_data({key: value for key, value in raw.items() if key != KEY}, folder)
        named = {str(name): _criteria(str(name), body, given, job) for name, body in given.items()}
        (finest, own), *coarser = named.items()
        if own:
            what = f"the first edition, '{finest}', keeps the criteria of the job, and has none of its own"
            raise JobError("E110", what, where=place(given, finest), hint=f"{finest}: {{}}")
        for name, criteria in coarser:
            if not criteria:
                what = f"edition '{name}' needs criteria of its own"
                hint = f"{name}: {{criteria: [{{k-anonymity: {{k: 50}}}}]}}"
                raise JobError("E110", what, where=place(given, name), hint=hint)
        return EditionsJob(job, finest, dict(coarser))


def require_edition_name(name: str, where: str | None = None) -> None:
    """Refuse a name that is not one of a folder, or is that of the folder in a release that may be shared, or not."""
    if not name.strip(".") or Path(name).name != name or "\\" in name or "\0" in name:
        raise JobError("E110", f"an edition is called like a folder, not {name!r}", where=where, hint=_EXAMPLE)
    if name.casefold() in RESERVED:
        what = f"no edition is called '{name}': a folder in every edition is, and one would be shared for the other"
        raise JobError("E110", what, where=where, hint=_EXAMPLE)


def _criteria(name: str, body: Any, given: Mapping[str, Any], job: Job) -> tuple[Criterion, ...]:
    """The criteria of one edition, whose name is that of a folder."""
    where = place(given, name)
    require_edition_name(name, where)
    if body is not None and (not isinstance(body, Mapping) or set(body) - {"criteria"}):
        raise JobError("E110", f"edition '{name}' has 'criteria' and nothing else", where=where, hint=_EXAMPLE)
    found = []
    for criterion, stands in criteria_listed(body) if body else ():
        with at(stands):
            require_column(criterion, Schema(job.columns))
        found.append(criterion)
    return tuple(found)
