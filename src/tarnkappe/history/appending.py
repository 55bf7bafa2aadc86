"""Batches of new people added to a release, with the promise kept by the batch, and by all together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.history.applying import publish_labelled
from tarnkappe.history.keeping import remembering
from tarnkappe.io import open_source
from tarnkappe.io.folders import ReleaseFolder, dialect_told, read_manifest
from tarnkappe.job import Job
from tarnkappe.pipeline import decide
from tarnkappe.release import Release


def append_batch(
    job: Job,
    data: Any,
    earlier: str | Path,
    folder: str | Path,
    *,
    seed: int | None = None,
    overwrite: bool = False,
) -> Release:
    """Publish an earlier release with a batch of new people; rows that were published stay as they were.

    The groups of the batch keep the goal by themselves, so whoever takes the earlier release away from the new one is
    left with groups that keep it. Then both are written as one table, which is read back and checked as a whole.
    People of the batch for whom no group is found are left out, within the limit of the job, and may come again with
    the next batch. With a history, the people of the batch are noted.

    References
    ----------
    .. [FWFP08] Fung, Wang, Fu, Pei. "Anonymity for continuous data publishing." EDBT 2008.
    """
    before = _published(earlier, job)
    batch = decide(job, data, seed=seed).publish()
    assert batch.draft is not None, "it is in memory"
    made = batch.draft.tables[next(iter(batch.draft.tables))]
    if len(batch.draft.tables) > 1 or made.columns != before.columns:
        raise _foreign(earlier, "has other columns than the batch")
    names = [c.name for c in job.schema([*made.columns, *_further(job, made.columns)]).quasi]
    texts = [pl.col(name).cast(pl.String) for name in names]
    same = [pl.col(n).cast(before.schema[n]) for n in before.columns if n not in names]
    both = pl.concat([before.with_columns(texts), made.with_columns(*texts, *same)])
    release = publish_labelled(job, both, folder, seed=seed, overwrite=overwrite)
    with remembering(job, folder) as memory:
        memory.told(job, batch.draft.run)(batch)
    return release


def _further(job: Job, present: list[str]) -> list[str]:
    return [c.name for c in job.columns if c.name not in present]


def _published(earlier: str | Path, job: Job) -> pl.DataFrame:
    """The table of an earlier release, as it was written."""
    folder = ReleaseFolder(Path(earlier))
    told, table = read_manifest(folder.manifest), folder.table
    if told is None or table is None or len(told.get("tables", [])) != 1:
        raise _foreign(earlier, "is no release of one table")
    asked = {c.name for c in job.goal.criteria}
    if not asked <= {str(v.get("criterion")) for v in told.get("verdicts", [])}:
        raise _foreign(earlier, "does not keep the criteria of the job")
    dialect, missing = dialect_told(told)
    with open_source(table, dialect, missing) as source:
        if source.sha256 != told.get("sha256"):
            raise _foreign(earlier, "was changed since it was published")
        return source.read(source.columns)


def _foreign(earlier: str | Path, why: str) -> DataError:
    return DataError(
        "E448",
        f"the earlier release {why}",
        where=str(earlier),
        hint="Give the folder of the release that this job made.",
    )
