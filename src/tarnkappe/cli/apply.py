"""``tarnkappe apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, Overwrite, Quiet, Seed, Settings


def apply(
    recoding: Annotated[
        Path,
        typer.Argument(
            help="The folder of an earlier release, or its recoding.csv.",
            metavar="RECODING",
            readable=False,
            show_default=False,
        ),
    ],
    data: Annotated[str, typer.Argument(help="The new data.", metavar="DATA", show_default=False)],
    job: Annotated[
        Path,
        typer.Option(
            "--job", metavar="JOB", help="The job: roles, criteria and limits.", readable=False, show_default=False
        ),
    ],
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="PATH", help="Folder of the release, instead of the job's."),
    ] = None,
    unseen: Annotated[
        str,
        typer.Option(
            "--unseen", metavar="WHAT", help="Records with a value that no label covers: refuse, or suppress them."
        ),
    ] = "refuse",
    seed: Seed = None,
    settings: Settings = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Publish new data with the labels of an earlier release.

    Groups that the labels make too small are suppressed; the criteria are checked on the written file as always.

    [bold]Example:[/bold]  tarnkappe apply release-2025 2026.csv --job census.yaml -o release-2026
    """
    from tarnkappe.cli.jobs import fixes_for, job_for
    from tarnkappe.cli.progress import Working
    from tarnkappe.history.applying import apply_recoding
    from tarnkappe.summary import release_rows, wrote_rows

    loaded = job_for(job, data, settings or [])
    how: dict[str, Any] = {"unseen": unseen, "seed": seed, "overwrite": overwrite}
    with Working(quiet=quiet) as progress, fixes_for(job, loaded):
        release = apply_recoding(recoding, loaded, data, output, progress=progress, **how)
    if as_json:
        screen.print_json(release.as_dict())
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, [*release_rows(release), *wrote_rows(release)])
        screen.notices(console, release.notices)
