"""What the commands do about noisy counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tarnkappe.cli import screen
from tarnkappe.cli.bundles import HowToRun, Rows, bundle_wrote_rows, loaded, named, next_row, run_bundle

if TYPE_CHECKING:
    from tarnkappe.histograms import HistogramRelease
    from tarnkappe.job.histogram import HistogramJob


def run_about_histogram(
    path: Path, data: str | None, output: str | None, settings: Iterable[str], how: HowToRun
) -> None:
    """``tarnkappe run`` for a job about noisy counts."""
    from tarnkappe.histograms.release import count_in_memory, run_histogram
    from tarnkappe.job.histogram import load_histogram_job

    job = loaded(load_histogram_job, path, data, settings, how.seed)
    run_bundle(
        path,
        how,
        lambda progress: count_in_memory(job, job.data.path, progress=progress),
        lambda progress, own: run_histogram(job, None, output, overwrite=how.overwrite, progress=progress, inputs=own),
        lambda release: _release_rows(job, release),
    )


def check_about_histogram(path: Path, data: str | None, settings: Iterable[str], *, as_json: bool) -> None:
    """``tarnkappe check`` for a job about noisy counts: nothing is counted, so nothing is spent."""
    from tarnkappe.job.histogram import load_histogram_job

    with named(path):
        job = loaded(load_histogram_job, path, data, settings)
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
            next_row(path, data),
        ],
    )
    screen.notices(console, job.notices())


def _words(table: tuple[str, ...], cells: int) -> str:
    return f"{' × '.join(table) or 'everybody'} ({screen.plural(cells, 'cell')})"


def _goal(job: HistogramJob) -> str:
    asked = job.histogram
    who = f"a person ({asked.person}, at most {screen.plural(asked.most, 'record')})" if asked.person else "a record"
    return f"ε ≤ {asked.epsilon:g} for {who}, all tables together"


def _release_rows(job: HistogramJob, release: HistogramRelease) -> Rows:

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
