"""What the commands do about a series of releases."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, run_bundle

if TYPE_CHECKING:
    from tarnkappe.history.drafting import SeriesRelease
    from tarnkappe.job.series import SeriesJob


def run_about_series(path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun) -> None:
    """``tarnkappe run`` for a job about a series."""
    from tarnkappe.history.series import anonymize_series, run_series
    from tarnkappe.job.model import replace_job
    from tarnkappe.job.series import load_series_job

    job = load_series_job(path, settings)
    if data is not None:
        inner = replace_job(job.job, data=dataclasses.replace(job.job.data, path=data))
        job = dataclasses.replace(job, job=inner)
    kept: dict[str, Any] = {"seed": how.seed, "overwrite": how.overwrite}
    run_bundle(
        path,
        how,
        lambda progress: anonymize_series(job, job.job.data.path, seed=how.seed, progress=progress),
        lambda progress, own: run_series(job, None, output, **kept, progress=progress, inputs=own),
        lambda release: _rows(job, release),
    )


def _rows(job: SeriesJob, release: SeriesRelease) -> Rows:
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
