"""What the commands do about jobs that only mask."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.job.masking import MaskingJob
    from tarnkappe.masking import MaskedRelease


def run_about_masks(
    path: Path,
    data: str | None,
    output: str | None,
    settings: Iterable[str],
    *,
    seed: int | None,
    overwrite: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """``tarnkappe run`` for a job that only masks."""
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.io.folders import ReleaseFolder
    from tarnkappe.masking.flow import mask_in_memory, run_masking

    job = _job(path, data, settings)
    with Working(quiet=quiet) as progress, named(path):
        if dry_run:
            job = job if seed is None else dataclasses.replace(job, seed=seed)
            release = mask_in_memory(job, job.data.path, progress=progress)
        else:
            own = [] if ReleaseFolder.keeps(path) else [path]
            release = run_masking(job, None, output, seed=seed, overwrite=overwrite, progress=progress, inputs=own)
    if as_json:
        screen.print_json({**release.as_dict(), "dry_run": dry_run})
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, _release_rows(job, release))
        screen.notices(console, release.notices)


def check_about_masks(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job that only masks: everything but writing."""
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.masking.flow import mask_in_memory

    job = _job(path, data, settings)
    with Working("read") as progress, named(path):
        release = mask_in_memory(job, job.data.path, progress=progress)
    if as_json:
        screen.print_json({"ok": True, "data": release.private_manifest["input"]["description"]})
        return
    console = screen.stdout()
    rows = _release_rows(job, release)[:-1]
    screen.rows(
        console, [*rows, ("Next", shlex.join(["tarnkappe", "run", screen.shown_path(path), *([data] if data else [])]))]
    )
    screen.notices(console, release.notices)


def _job(path: Path, data: str | None, settings: Iterable[str]) -> MaskingJob:
    from tarnkappe.job.masking import load_masking_job

    job = load_masking_job(path, settings)
    if data is not None:
        job = dataclasses.replace(job, data=dataclasses.replace(job.data, path=data))
    if job.data.path is None:
        raise JobError(
            "E103",
            "the job names no data file",
            where=str(path),
            hint=f"Add  data: {{path: DATA.csv}}  or give the file:  tarnkappe run {shlex.quote(str(path))} DATA.csv",
        )
    return job


def _release_rows(job: MaskingJob, release: MaskedRelease) -> list[tuple[str, str]]:
    from tarnkappe.cli.bundles import bundle_wrote_rows

    checked = "compared the table in memory" if release.folder is None else "re-read what was written"
    kept = [f"✓ {word}" for mask in job.masks for word in mask.keeps]
    links = [f"{way} {screen.percent(share)}" for way, share in release.private_manifest.get("linkage", {}).items()]
    return [
        ("Data", str(release.private_manifest["input"]["description"])),
        *(("Mask" if i == 0 else "", f"{', '.join(m.changes)}: {m.done}") for i, m in enumerate(job.masks)),
        ("Verify", " ".join([checked, *kept])),
        *([("Links", f"{job.linkage.asked} · right links by {', '.join(links)}")] if job.linkage else []),
        *bundle_wrote_rows(release),
    ]
