"""Carry out a job that may know earlier releases of the same people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tarnkappe import pipeline
from tarnkappe.fixes import Fix
from tarnkappe.history.earlier import with_earlier
from tarnkappe.history.sequential import publish_after_others
from tarnkappe.io.staging import require_apart
from tarnkappe.job import Job
from tarnkappe.job.given import data_and_folder, one_of
from tarnkappe.phases import Progress
from tarnkappe.release import Release


def run_job(
    job: Job,
    data: Any = None,
    folder: str | Path | None = None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    inputs: Iterable[str | Path] = (),
) -> Release:
    """Anonymise into a folder: nothing appears there unless the written table was read back and satisfies the goal.

    The folder is refused if it holds the data, a taxonomy of the job, or one of the further `inputs`. Earlier releases
    that the job names are entered into its ledger first. If they and this one are together below the goal, it is
    refused, or its groups are pooled until they are not, as the job says.
    """
    one_of(job, "job", Job, Fix("tarnkappe run job.yaml", 'run_job(Job.from_yaml("job.yaml"))'))
    how: dict[str, Any] = {"seed": seed, "overwrite": overwrite, "progress": progress}
    if job.history is not None:
        data, folder = data_and_folder(data, folder, job.data, job.output)
        with_earlier(job, folder)
        if job.history.together == "pool":
            if "://" not in str(folder):
                require_apart(Path(folder).expanduser().resolve(), [Path(path).resolve() for path in inputs])
            return publish_after_others(job, data, folder, **how)
    return pipeline.run_job(job, data, folder, **how, inputs=inputs)
