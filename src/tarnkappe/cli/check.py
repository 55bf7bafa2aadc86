"""``tarnkappe check``."""

from __future__ import annotations

from dataclasses import asdict

from tarnkappe.cli import screen
from tarnkappe.cli.options import AsJson, Debug, JobFile, MaybeData, Settings


def check(
    job: JobFile, data: MaybeData = None, settings: Settings = None, as_json: AsJson = False, debug: Debug = False
) -> None:
    """Validate a job with its data and taxonomies, and say whether a release exists and what it takes to find one.

    Nothing is written. A job that passes can be run.

    [bold]Example:[/bold]  tarnkappe check census.yaml
    """
    from tarnkappe import pipeline
    from tarnkappe.cli.bundles import next_row
    from tarnkappe.cli.jobs import command_for, fixes_for, job_for
    from tarnkappe.cli.progress import Working
    from tarnkappe.summary import checked_rows

    check_other = command_for("check", job)
    if check_other is not None:
        check_other(job, data, settings or [], as_json=as_json)
        return
    loaded = job_for(job, data, settings)
    with Working("read") as progress, fixes_for(job, loaded):
        progress("read")
        checked = pipeline.check(loaded, loaded.data.path)
        expected = pipeline.foresee(loaded, checked)
    tally = checked.tally
    if as_json:
        screen.print_json(
            {
                "ok": True,
                "data": checked.source.description,
                "rows": tally.n_records,
                "roles": {c.name: c.role for c in checked.schema.columns},
                "criteria": [{"name": c.name, **c.get_params()} for c in loaded.goal.criteria],
                "unique": int((tally.tuple_sizes == 1).sum()),
                "combinations": tally.n_tuples,
                "cells": tally.n_cells,
                "estimate": asdict(expected),
                "notices": [asdict(n) for n in checked.notices],
            }
        )
        return
    console = screen.stdout()
    screen.rows(console, checked_rows(checked, loaded.goal, expected))
    screen.notices(console, checked.notices)
    screen.rows(console, [next_row(job, data)])
