"""What the commands do about jobs that only mask."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, loaded, named, next_row, run_bundle

if TYPE_CHECKING:
    from tarnkappe.job.masking import MaskingJob
    from tarnkappe.masking import MaskedRelease


def run_about_masks(path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun) -> None:
    """``tarnkappe run`` for a job that only masks."""
    from tarnkappe.job.masking import load_masking_job
    from tarnkappe.masking.flow import mask_in_memory, run_masking

    job = loaded(load_masking_job, path, data, settings, how.seed)
    run_bundle(
        path,
        how,
        lambda progress: mask_in_memory(job, job.data.path, progress=progress),
        lambda progress, own: run_masking(job, None, output, overwrite=how.overwrite, progress=progress, inputs=own),
        lambda release: _release_rows(job, release),
    )


def check_about_masks(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job that only masks: everything but writing."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.job.masking import load_masking_job
    from tarnkappe.masking.flow import mask_in_memory

    job = loaded(load_masking_job, path, data, settings)
    with Working("read") as progress, named(path):
        release = mask_in_memory(job, job.data.path, progress=progress)
    if as_json:
        screen.print_json({"ok": True, "data": release.private_manifest["input"]["description"]})
        return
    console = screen.stdout()
    rows = _release_rows(job, release)[:-1]
    screen.rows(console, [*rows, next_row(path, data)])
    screen.notices(console, release.notices)


def _release_rows(job: MaskingJob, release: MaskedRelease) -> Rows:

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
