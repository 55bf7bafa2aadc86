"""A further release about the same people, coarse enough that all releases joined keep what it promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tarnkappe.arrays import Flags
from tarnkappe.errors import JobError
from tarnkappe.groups import SUPPRESSED
from tarnkappe.history.joint import violating
from tarnkappe.history.keeping import residents_of
from tarnkappe.history.ledger import Ledger
from tarnkappe.history.places import CELL, PERSON
from tarnkappe.history.pooling import pooled
from tarnkappe.job import Job
from tarnkappe.job.history import HISTORY_FIX
from tarnkappe.phases import Progress
from tarnkappe.pipeline import decide
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.release import Release


def publish_after_others(
    job: Job,
    data: Any,
    folder: str | Path,
    *,
    seed: int | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Release:
    """Publish other columns of people who are in earlier releases, so that the join of all of them keeps the goal.

    The ledger of the job knows the groups of everybody in every release. Those who join the releases by persons see
    the intersections: the criteria of the job, such as k-anonymity or (X, Y)-privacy, are asked about those. Groups of
    the new release are pooled until they hold. In the end all records are one group, and the intersections are those
    of the earlier releases: so a goal that they keep can be reached.

    References
    ----------
    .. [WaFu06] Wang, Fung. "Anonymizing sequential releases." KDD 2006.
    """
    if job.history is None:
        raise JobError("E103", "the job names no ledger of earlier releases", hint=HISTORY_FIX)
    decided = decide(job, data, seed=seed, progress=progress)
    run = decided.run
    with Ledger.opened(job.history.ledger, folder) as ledger:
        now = residents_of(job.history, ledger, job, run)
        frames = [(line.number, ledger.groups_of(line)) for line in ledger.releases]
        earlier = [(n, frame) for n, frame in frames if frame.join(now.frame, on=PERSON, how="semi").height]
    if not earlier or not isinstance(decided.plan, Plan):  # what is not pooled is refused if it breaks the goal
        return decided.publish(folder, overwrite=overwrite)

    def satisfied(plan: AnyPlan) -> Flags:
        assert isinstance(plan, Plan)
        people = violating(now, now.placed(plan.grouping), earlier, plan.goal)
        cells = now.frame.join(people, on=PERSON, how="semi")[CELL].unique().to_numpy()
        ok = np.ones(plan.n_groups, np.bool_)
        touched = plan.grouping.group[np.isin(plan.grouping.cell, cells)]
        ok[touched[touched != SUPPRESSED]] = False
        return ok

    return pooled(decided, decided.plan.goal, satisfied).publish(folder, overwrite=overwrite)
