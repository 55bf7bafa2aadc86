"""``tarnkappe run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import (
    AsJson,
    Debug,
    EngineName,
    JobFile,
    Master,
    MaybeData,
    Memory,
    Overwrite,
    ProgressAs,
    Quiet,
    Seed,
    Settings,
)


def run(
    job: JobFile,
    data: MaybeData = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="Folder of the release, instead of the job's.", show_default=False
        ),
    ] = None,
    seed: Seed = None,
    settings: Settings = None,
    engine: EngineName = None,
    master: Master = None,
    memory: Memory = None,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", metavar="", help="Do everything in memory and say what came out; write nothing."),
    ] = False,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    progress_as: ProgressAs = "text",
    debug: Debug = False,
) -> None:
    """Anonymise, verify, and write the release with its reports.

    The written file is read back and checked; a release that does not keep its promise never appears.

    [bold]Example:[/bold]  tarnkappe run census.yaml --set criteria.k=10
    """
    from tarnkappe.cli.bundles import HowToRun, show_release
    from tarnkappe.cli.jobs import command_for, fixes_for, job_for
    from tarnkappe.cli.progress import Working
    from tarnkappe.history.running import run_job
    from tarnkappe.pipeline import anonymize

    chosen = {"engine": engine, "master": master, "memory": memory}
    given = [f"{key}={value}" for key, value in chosen.items() if value is not None]
    changes = [*given, *(settings or [])]
    run_other = command_for("run", job)
    if run_other is not None:
        run_other(job, data, output, changes, HowToRun(seed, overwrite, dry_run, as_json, quiet, progress_as))
        return
    loaded = job_for(job, data, changes)
    with Working(quiet=quiet, style=progress_as) as progress, fixes_for(job, loaded):
        if dry_run:
            release = anonymize(loaded, loaded.data.path, seed=seed, progress=progress)
        else:
            release = run_job(loaded, None, output, seed=seed, overwrite=overwrite, progress=progress, inputs=_own(job))
    if as_json:
        screen.print_json({**release.as_dict(), "dry_run": dry_run})
    elif not quiet:
        show_release(release, dry_run=dry_run)


def _own(job: Path) -> list[Path]:
    """The job file, which no release may replace; the one that is part of a release comes back with the next."""
    from tarnkappe.io.folders import ReleaseFolder

    return [] if ReleaseFolder.keeps(job) else [job]
