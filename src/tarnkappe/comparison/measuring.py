"""One point of a comparison: decided and measured, with cells that are counted once for all points that share them."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from tarnkappe.algorithms.watch import Watch
from tarnkappe.comparison.grid import Point
from tarnkappe.deciding import decide_cells
from tarnkappe.errors import TarnkappeError
from tarnkappe.job import Job
from tarnkappe.metrics import score_plan
from tarnkappe.pipeline import counted
from tarnkappe.plan import AnyPlan
from tarnkappe.tally import Tally

#: As many different ways of counting are kept at a time.
_MOST_KEPT = 4


@dataclass(frozen=True)
class Measured:
    """The figures of one point; `error` says why there is no release."""

    key: str
    algorithm: str
    varied: dict[str, Any]
    seed: int
    scores: dict[str, float] = field(default_factory=dict)
    #: The risk that a record is found, of an average record and of the most exposed; none if the form hides nobody.
    risks: dict[str, float] | None = None
    groups: int = 0
    suppressed: int = 0
    published: int = 0
    smallest: int = 0
    #: Processor seconds of the decision.
    seconds: float = 0.0
    error: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data, for a line of JSON."""
        return asdict(self)


class Measurer:
    """Measures points on the same data; whoever shares the cells shares the reading and the counting."""

    def __init__(self, data: Any = None) -> None:
        """Nothing is read yet; `data` stand for those of the job."""
        self.data = data
        self._tallies: dict[object, Tally] = {}

    def tally(self, job: Job) -> Tally:
        """The cells of a job."""
        key = counting(job)
        if key not in self._tallies:
            if len(self._tallies) >= _MOST_KEPT:
                del self._tallies[next(iter(self._tallies))]
            self._tallies[key] = counted(job, self.data).tally
        return self._tallies[key]

    def measure(self, point: Point, key: str) -> Measured:
        """Decide a point and measure its groups; what cannot be decided is told, not raised."""
        told: dict[str, Any] = {"key": key, "algorithm": point.algorithm, "varied": dict(point.varied)}
        job = point.job
        try:
            job.algorithm.require_kept(job.goal)
            tally = self.tally(job)
            begun = time.process_time()
            plan = decide_cells(job, tally, point.seed, Watch(seconds=job.time_limit))[2]
            seconds = time.process_time() - begun
        except TarnkappeError as error:
            return Measured(**told, seed=point.seed, error=f"{error.code} {error.message}")
        return Measured(
            **told,
            seed=point.seed,
            scores=score_plan(plan, job.algorithm.predicted_column),
            risks=risks_of(plan),
            groups=plan.n_groups,
            suppressed=plan.suppressed,
            published=plan.n_published,
            smallest=int(plan.sizes.min()),
            seconds=round(seconds, 4),
        )


def risks_of(plan: AnyPlan) -> dict[str, float] | None:
    """The risk of being found by the quasi-identifiers, if a release hides who a record is about.

    Somebody who knows that a person is in the release, and finds the group, guesses right once in as many times as the
    group has records. The mean over all records is the number of groups over that of records.
    """
    if "identity" not in plan.form.hides or plan.n_published == 0:
        return None
    return {"highest": 1 / int(np.min(plan.sizes)), "average": plan.n_groups / plan.n_published}


def counting(job: Job) -> object:
    """What decides about the cells of a job, and whether they are admitted: everything but thresholds and seeds.

    Algorithms that publish whole levels count numbers by levels, too; some look at further columns.
    """
    looks = tuple((c.name, c.columns, c.sensitive_column, c.measured_by) for c in job.goal.criteria)
    parts = (job.columns, job.rest, job.missing_rule, job.data, job.population, job.engine)
    algorithm = (job.algorithm.publishes_levels, job.algorithm.publishes, job.algorithm.columns)
    return repr((parts, looks, job.goal.is_mechanism, algorithm))
