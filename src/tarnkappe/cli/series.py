"""What the commands do about a series of releases."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen

if TYPE_CHECKING:
    from tarnkappe.history.drafting import SeriesRelease
    from tarnkappe.job.series import SeriesJob


def run_about_series(
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
    """``tarnkappe run`` for a job about a series."""
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.history.series import anonymize_series, run_series
    from tarnkappe.io.folders import ReleaseFolder
    from tarnkappe.job.model import replace_job
    from tarnkappe.job.series import load_series_job

    job = load_series_job(path, settings)
    if data is not None:
        inner = replace_job(job.job, data=dataclasses.replace(job.job.data, path=data))
        job = dataclasses.replace(job, job=inner)
    with Working(quiet=quiet) as progress, named(path):
        if dry_run:
            release = anonymize_series(job, job.job.data.path, seed=seed, progress=progress)
        else:
            own = [] if ReleaseFolder.keeps(path) else [path]
            release = run_series(job, None, output, seed=seed, overwrite=overwrite, progress=progress, inputs=own)
    if as_json:
        screen.print_json({**release.as_dict(), "dry_run": dry_run})
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, _rows(job, release))
        screen.notices(console, release.notices)


def _rows(job: SeriesJob, release: SeriesRelease) -> list[tuple[str, str]]:
    from tarnkappe.cli.bundles import bundle_wrote_rows
    from tarnkappe.summary import verdict_words

    kept, told = release.private_manifest, release.public_manifest
    people = screen.plural(kept["people"], "person", "people")
    checked = "re-counted the tables in memory" if release.folder is None else "re-read what was written"
    rows = [
        ("Data", str(kept["input"]["description"])),
        ("People", f"{people} · {screen.count(kept['people_before'])} of them published before"),
        ("Goal", job.series.asked),
        (
            "Result",
            f"{screen.plural(told['counterfeits'], 'counterfeit')} in {screen.count(told['tables'][0]['rows'])} rows",
        ),
        (
            "Verify",
            " ".join([checked, *(f"✓ {verdict_words(v)}" for v in release.verdicts), "✓ the same secrets as before"]),
        ),
    ]
    return [*rows, *bundle_wrote_rows(release)]
