"""What the commands do about editions of one table."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, named, show_release


def run_about_editions(
    path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun
) -> None:
    """``tarnkappe run`` for a job about editions."""
    from tarnkappe.cli.progress import Working
    from tarnkappe.history.editions import nested_editions
    from tarnkappe.job.editions import load_editions_job
    from tarnkappe.job.given import data_and_folder

    with Working(quiet=how.quiet, style=how.progress) as progress, named(path):
        made = load_editions_job(path, settings)
        given, target = data_and_folder(data, output, made.job.data, made.job.output)
        releases = nested_editions(
            made.job,
            given,
            None if how.dry_run else target,
            made.coarser,
            finest=made.finest,
            seed=how.seed,
            overwrite=how.overwrite,
            progress=progress,
        )
    if how.as_json:
        told = {name: release.as_dict() for name, release in releases.items()}
        screen.print_json({"editions": told, "dry_run": how.dry_run})
    elif not how.quiet:
        for name, release in releases.items():
            show_release(release, dry_run=how.dry_run, before=[("Edition", name)])
