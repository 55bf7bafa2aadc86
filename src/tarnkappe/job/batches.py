"""Jobs about a batch: new people who are added to a release."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tarnkappe.errors import JobError
from tarnkappe.job.files import job_from_data
from tarnkappe.job.model import Job
from tarnkappe.job.sections import resolved, written
from tarnkappe.job.text import apply_settings, read_job_file
from tarnkappe.params import place

#: The key that makes a job file one about a batch.
KEY = "append_to"


@dataclass(frozen=True)
class BatchJob:
    """A batch of new people, and the folder of the release that they are added to."""

    append_to: str
    job: Job


def load_batch_job(path: str | Path, settings: Iterable[str] = ()) -> BatchJob:
    """Read a job file about a batch, with ``key=value`` overrides."""
    with written():
        raw = read_job_file(path)
        apply_settings(raw, settings)
        folder, given = Path(path).parent, raw.get(KEY)
        if not isinstance(given, str) or not given:
            what = f"'{KEY}' is the folder of the release that the batch is added to"
            raise JobError("E110", what, where=place(raw, KEY), hint=f"{KEY}: release-1")
        if raw.get("masks"):
            what = "rows that are out stay as they are, so a batch has no masks"
            raise JobError("E111", what, where=place(raw, "masks"), hint="Remove  masks.")
        rest = {key: value for key, value in raw.items() if key != KEY}
        return BatchJob(resolved(given, folder, place(raw, KEY)) or given, job_from_data(rest, folder))
