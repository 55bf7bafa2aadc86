"""Editions of one table for different readers, each coarser than the last: all together say what the finest says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tarnkappe.criteria import Criterion
from tarnkappe.errors import JobError
from tarnkappe.goal import Goal
from tarnkappe.guards.people import require_people_counted
from tarnkappe.history.pooling import pooled
from tarnkappe.job import Job
from tarnkappe.job.editions import require_edition_name
from tarnkappe.job.model import replace_job
from tarnkappe.phases import Progress
from tarnkappe.pipeline import decide
from tarnkappe.release import Release


def nested_editions(
    job: Job,
    data: Any,
    folder: str | Path | None,
    coarser: Mapping[str, Iterable[Criterion]],
    *,
    finest: str = "finest",
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> dict[str, Release]:
    """Publish a job, and coarser editions of it, each in a folder of its own below `folder`, or in memory.

    `coarser` names further editions with their criteria, from the finest to the coarsest. The groups of each edition
    are whole groups of the one before it, pooled. So whoever puts editions side by side learns what the finest of
    them says, and nothing else. All are decided on the same records; the coarsest one is written first.

    >>> import tempfile
    >>> import polars as pl
    >>> import tarnkappe as tk
    >>> table = pl.DataFrame({"age": list(range(20, 60))})
    >>> job = tk.Job(quasi={"age": tk.numeric()}, criteria=[tk.KAnonymity(2)], seed=1)
    >>> made = nested_editions(job, table, tempfile.mkdtemp(), {"open": [tk.KAnonymity(10)]}, finest="on-site")
    >>> sorted(made), made["open"].verdicts[0].reached >= 10
    (['on-site', 'open'], True)
    """
    for name in (finest, *coarser):
        require_edition_name(name)
    goals = {name: Goal([*criteria], job.goal.max_suppressed) for name, criteria in coarser.items()}
    for goal in (job.goal, *goals.values()):
        if goal.is_mechanism:
            what = f"editions pool the groups that the data have, which {goal.asked} does not allow"
            raise JobError("E111", what, hint="Publish it by a job of its own, without  editions.")
    further = [criterion for goal in goals.values() for criterion in goal.criteria]
    step = decide(job, data, seed=seed, progress=progress, further=further)
    editions = [(finest, step)]
    for name, goal in goals.items():
        own = replace_job(job, goal=goal)
        require_people_counted(own, step.schema)
        step = replace(pooled(step, goal), job=own)
        editions.append((name, step))
    place = None if folder is None else Path(folder)
    return {
        name: made.publish(None if place is None else place / name, overwrite=overwrite)
        for name, made in reversed(editions)
    }
