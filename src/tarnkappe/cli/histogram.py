"""What the commands do about noisy counts."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.errors import JobError

if TYPE_CHECKING:
    from tarnkappe.histograms import HistogramRelease
    from tarnkappe.job.histogram import HistogramJob


def run_about_histogram(
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
    """``tarnkappe run`` for a job about noisy counts."""
    from tarnkappe.cli.bundles import named
    from tarnkappe.cli.progress import Working
    from tarnkappe.histograms.release import count_in_memory, run_histogram
    from tarnkappe.io.folders import ReleaseFolder

    job = _job(path, data, settings)
    with Working(quiet=quiet) as progress, named(path):
        if dry_run:
            job = job if seed is None else dataclasses.replace(job, seed=seed)
            release = count_in_memory(job, job.data.path, progress=progress)
        else:
            own = [] if ReleaseFolder.keeps(path) else [path]
            release = run_histogram(job, None, output, seed=seed, overwrite=overwrite, progress=progress, inputs=own)
    if as_json:
        screen.print_json({**release.as_dict(), "dry_run": dry_run})
    elif not quiet:
        console = screen.stdout()
        screen.rows(console, _release_rows(job, release))
        screen.notices(console, release.notices)


def check_about_histogram(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job about noisy counts: nothing is counted, so nothing is spent."""
    from tarnkappe.cli.bundles import named

    with named(path):
        job = _job(path, data, settings)
    asked = job.histogram
    cells = [math.prod(asked.bins[name].size for name in table) for table in asked.wanted]
    if as_json:
        screen.print_json({"ok": True, "cells": cells, "epsilon": asked.spent, "half_width_95": asked.half_width})
        return
    console = screen.stdout()
    screen.rows(
        console,
        [
            ("Data", str(job.data.path)),
            ("Tables", " · ".join(_words(t, n) for t, n in zip(asked.wanted, cells, strict=True))),
            ("Goal", _goal(job)),
            ("Noise", f"at most {asked.half_width} in 19 of 20 cells"),
            ("Next", shlex.join(["tarnkappe", "run", screen.shown_path(path), *([data] if data else [])])),
        ],
    )
    screen.notices(console, job.notices())


def _job(path: Path, data: str | None, settings: Iterable[str]) -> HistogramJob:
    from tarnkappe.job.histogram import load_histogram_job

    job = load_histogram_job(path, settings)
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


def _words(table: tuple[str, ...], cells: int) -> str:
    return f"{' × '.join(table) or 'everybody'} ({screen.plural(cells, 'cell')})"


def _goal(job: HistogramJob) -> str:
    asked = job.histogram
    who = f"a person ({asked.person}, at most {screen.plural(asked.most, 'record')})" if asked.person else "a record"
    return f"ε ≤ {asked.epsilon:g} for {who}, all tables together"


def _release_rows(job: HistogramJob, release: HistogramRelease) -> list[tuple[str, str]]:
    from tarnkappe.cli.bundles import bundle_wrote_rows

    asked = job.histogram
    checked = "re-counted the tables in memory" if release.folder is None else "re-read what was written"
    cells = sum(t["rows"] for t in release.public_manifest["tables"])
    rows = [
        ("Data", str(release.private_manifest["input"]["description"])),
        ("Goal", _goal(job)),
        ("Result", f"{screen.plural(cells, 'cell')} · noise at most {asked.half_width} in 19 of 20 of them"),
        ("Verify", f"{checked} ✓ the cells that the job fixes ✓ the counts that were drawn"),
    ]
    return [*rows, *bundle_wrote_rows(release)]
