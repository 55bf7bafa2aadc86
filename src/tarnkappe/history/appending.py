"""Batches of new people added to a release, with the promise kept by the batch, and by all together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.errors import DataError
from tarnkappe.history.applying import publish_labelled
from tarnkappe.history.keeping import Memory, foreign, line_of, remembering, residents_of, withdrew
from tarnkappe.history.places import PERSON
from tarnkappe.io import open_source
from tarnkappe.io.folders import ReleaseFolder, dialect_told, read_manifest
from tarnkappe.io.formats import release_format
from tarnkappe.io.sink import Format
from tarnkappe.job import Job
from tarnkappe.job.model import replace_job
from tarnkappe.phases import Progress
from tarnkappe.pipeline import decide
from tarnkappe.release import Release
from tarnkappe.runs import Run
from tarnkappe.wording import plural


def append_batch(
    job: Job,
    data: Any,
    earlier: str | Path,
    folder: str | Path | None,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Publish an earlier release with a batch of new people; rows that were published stay as they were.

    Without a folder the release is made in memory.

    The groups of the batch keep the goal by themselves, so whoever takes the earlier release away from the new one is
    left with groups that keep it. Then both are written as one table, which is read back and checked as a whole.
    People of the batch for whom no group is found are left out, within the limit of the job, and may come again with
    the next batch. With a history, everybody who is in the new release is noted, and none of them may have withdrawn.

    References
    ----------
    .. [PXWW07] Pei, Xu, Wang, Wang, Wang. "Maintaining k-anonymity against incremental updates." SSDBM 2007. (monotone
       incremental release: to whoever has all releases, groups of earlier people never become smaller than the goal)
    .. [FWFP08] Fung, Wang, Fu, Pei. "Anonymity for continuous data publishing." EDBT 2008.
    """
    before, format_ = _published(earlier, job)
    alone = replace_job(job, history=None)  # all that is known about earlier releases comes in below
    batch = decide(alone, data, seed=seed, progress=progress).publish()
    assert batch.draft is not None, "it is in memory"
    made = batch.draft.tables[next(iter(batch.draft.tables))]
    if len(batch.draft.tables) > 1 or made.columns != before.columns:
        raise _foreign(earlier, "has other columns than the batch")
    names = [c.name for c in job.schema([*made.columns, *_further(job, made.columns)]).quasi]
    texts = [pl.col(name).cast(pl.String) for name in names]
    same = [pl.col(n).cast(before.schema[n]) for n in before.columns if n not in names]
    both = pl.concat([before.with_columns(texts), made.with_columns(*texts, *same)])
    with remembering(job, folder) as memory:
        there = _already_there(memory, job, batch.draft.run, earlier)
        told = memory.told(job, batch.draft.run, lambda release: _with_what_was_read(release, batch), there=there)
        written = replace_job(job, output=replace(job.output, format=job.output.format or format_))
        return publish_labelled(written, both, folder, seed=seed, overwrite=overwrite, told=told)


def _with_what_was_read(release: Release, batch: Release) -> Release:
    """The release of everybody, with what is told of data before they were released: only a batch was read."""
    private = {**release.private_manifest, "input": batch.private_manifest["input"]}
    before: dict[str, Any] = {name: getattr(batch, name) for name in ("sizes_before", "unique_before", "exposing")}
    return replace(release, private_manifest=private, **before)


def _already_there(memory: Memory, job: Job, run: Run, earlier: str | Path) -> pl.DataFrame | None:
    """The people of the earlier release, who are in the new one too, with their places."""
    if memory.settings is None or memory.ledger is None:
        return None
    ledger = memory.ledger
    line = line_of(ledger, earlier)
    if line is None:
        raise _foreign(earlier, "is not in the ledger of the job")
    there = ledger.groups_of(line)
    back = there.join(ledger.withdrawn(), on=PERSON, how="semi").height
    if back:
        then = "a batch takes no row away, so publish everybody else anew."
        raise withdrew(back, str(earlier), memory.settings.ledger, then)
    again = residents_of(memory.settings, ledger, job, run).frame.join(there, on=PERSON, how="semi")[PERSON].n_unique()
    if again:
        raise DataError(
            "E446",
            f"{plural(again, 'person', 'people')} of the batch are in the earlier release already",
            where=str(earlier),
            hint="A batch holds people who are new. Remove the others from it, or publish everybody anew.",
        )
    return there


def _further(job: Job, present: list[str]) -> list[str]:
    return [c.name for c in job.columns if c.name not in present]


def _published(earlier: str | Path, job: Job) -> tuple[pl.DataFrame, Format]:
    """The table of an earlier release as it was written, and its format."""
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
        return source.read(source.columns), release_format(table)


def _foreign(earlier: str | Path, why: str) -> DataError:
    return foreign(earlier, why, "Give the folder of the release that this job made.")
