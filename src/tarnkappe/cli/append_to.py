"""What the commands do about a batch of new people."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, named, show_release


def run_about_append_to(
    path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun
) -> None:
    """``tarnkappe run`` for a job about a batch."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.history.appending import append_batch
    from tarnkappe.job.batches import load_batch_job
    from tarnkappe.job.given import data_and_folder

    with Working(quiet=how.quiet, style=how.progress) as progress, named(path):
        made = load_batch_job(path, settings)
        given, target = data_and_folder(data, output, made.job.data, made.job.output)
        release = append_batch(
            made.job,
            given,
            made.append_to,
            None if how.dry_run else target,
            seed=how.seed,
            overwrite=how.overwrite,
            progress=progress,
        )
    if how.as_json:
        screen.print_json({**release.as_dict(), "dry_run": how.dry_run})
    elif not how.quiet:
        before = ("Appended", f"to {screen.shown_path(Path(made.append_to))}, whose rows stay as they are")
        show_release(release, dry_run=how.dry_run, before=[before])
