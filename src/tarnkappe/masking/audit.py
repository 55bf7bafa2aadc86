"""Check masked data that were published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.bundle import Found
from tarnkappe.bundling import BundleAudit, audit_tables, changed_by_hand, manifest_with
from tarnkappe.criteria.base import Verdict
from tarnkappe.errors import JobError, TarnkappeError
from tarnkappe.io import open_source
from tarnkappe.io.folders import JOB, PRIVATE
from tarnkappe.job.masking import KEY, MaskingJob, load_masking_job
from tarnkappe.masks.base import Kept
from tarnkappe.masks.columns import Columns
from tarnkappe.publish.sheets import MAIN


def audit_masking(path: str | Path) -> BundleAudit:
    """Check the folder of masked data, or the table with the manifest beside it.

    What masks leave as it was is a matter of the original: it is recomputed if the job in the private folder, and the
    data it names, are still there. Without them only the table itself is compared with the manifest.
    """
    known = manifest_with(path, KEY)
    if known is None:
        raise JobError("E107", f"'{path}' is no release of masked data", hint="tarnkappe verify FOLDER")
    table, manifest = known
    job = _job(table)

    def check(tables: Mapping[str, pl.DataFrame]) -> Found:
        problems = list(_unlike(tables[MAIN], manifest, table))
        found = () if problems else tuple(_recomputed(tables[MAIN], job))
        problems += [f"not kept: {kept.what}" for kept in found if not kept.ok]
        told = (
            "what masks keep, recomputed from the original" if found else "columns and rows; the original is not here"
        )
        return Found((Verdict("masks", None, told, float(len(found)), not problems, len(problems)),), tuple(problems))

    return audit_tables(table, manifest, check, (MAIN,), "figure", "; ".join(_unseen(manifest, job, table)))


def _unseen(manifest: Mapping[str, Any], job: MaskingJob | None, table: Path) -> Iterator[str]:
    """What was checked when the release was made, and cannot be checked from its table."""
    if job is None:
        yield "what masks keep: the original is not here"
    try:
        promised = [str(one["name"]) for one in (manifest[KEY] or {}).get("criteria", ())]
    except (KeyError, TypeError, AttributeError) as error:
        raise changed_by_hand(table) from error
    for name in promised:
        yield f"{name}, which was measured before the order of records was lost"


def _unlike(frame: pl.DataFrame, manifest: Mapping[str, Any], table: Path) -> Iterator[str]:
    """What is not as the manifest says."""
    try:
        told = manifest["tables"][0]
        rows, columns = int(told["rows"]), list(told["columns"])
        masks = [(str(one["mask"]), list(one["columns"])) for one in manifest["masks"]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise changed_by_hand(table) from error
    if frame.columns != columns or frame.height != rows:
        yield "the table has other columns, or another number of rows, than the manifest says"
    for name, changed in masks:
        if not set(changed) <= set(columns):
            yield f"{name} is said to have changed columns that are not there"


def _job(table: Path) -> MaskingJob | None:
    """The job that the table was made by, if it and its data are still there."""
    file = table.parent.parent / PRIVATE / JOB
    if not file.is_file():
        return None
    try:
        job = load_masking_job(file)
    except TarnkappeError:
        return None
    return job if job.data.path is not None and Path(job.data.path).is_file() else None


def _recomputed(frame: pl.DataFrame, job: MaskingJob | None) -> Iterator[Kept]:
    """All that masks leave as it was, from the table and the original."""
    if job is None or job.data.path is None:
        return
    with open_source(job.data.path, job.data.dialect, job.data.missing) as original:
        written = open_source(frame, missing=job.data.missing)
        written.decimal = original.decimal
        if written.n_rows != original.n_rows:
            yield Kept("the number of records", abs(written.n_rows - original.n_rows))
            return
        for mask in job.masks:
            yield from mask.kept(Columns(original), Columns(written))
