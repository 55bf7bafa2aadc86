"""The laws of loss metrics."""

from __future__ import annotations

import math

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.anatomize import Anatomize
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.microaggregation.mdav import MDAV
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.criteria.k_anonymity import KAnonymity
from tarnkappe.criteria.l_diversity import LDiversity
from tarnkappe.engines.memory import MemoryEngine
from tarnkappe.goal import Goal
from tarnkappe.metrics.base import ColumnLoss, Metric
from tarnkappe.plan import AnyPlan, DealtPlan, Plan
from tarnkappe.tally import Tally
from tarnkappe.testing.shared import require
from tarnkappe.testing.tables import job_about, random_table

#: What the random releases are made by, and what they promise.
_RELEASES: tuple[tuple[Algorithm, Goal], ...] = (
    (Mondrian(), Goal([KAnonymity(4)])),
    (MDAV(), Goal([KAnonymity(4)])),
    (Anatomize(), Goal([LDiversity("disease", l=2)])),
)


def check_metric(metric: Metric, *, seed: int = 0, tables: int = 5) -> None:
    """Check a loss metric on random releases of boxes, of centres and of buckets; raises an `AssertionError`.

    Checked are: it is a number, the same whenever it is asked for; and what it measures by column is never better for
    one group of everybody than for many groups.

    >>> from tarnkappe.metrics.lm import LossMetric
    >>> check_metric(LossMetric(), tables=1)
    """
    rng = np.random.default_rng(seed)
    measured = 0
    for _ in range(tables):
        tally = _tally(rng)
        for algorithm, goal in _RELEASES:
            plan = _plan(algorithm, tally, goal)
            if not metric.applies(plan):
                continue
            measured += 1
            score = metric.score(plan)
            require(math.isfinite(score), f"{metric.name} is no number: {score}")
            require(metric.score(plan) == score, f"{metric.name} measures the same release in two ways")
            require(bool(metric.say(score, plan)), f"{metric.name} has no words for its figure")
            together = algorithm.all_in_one(tally)
            if isinstance(metric, ColumnLoss) and together is not None:
                all_in_one = metric.score(Plan.of(tally, goal, together))
                better = score < all_in_one + 1e-9 if metric.goal == "minimise" else score > all_in_one - 1e-9
                require(better, f"{metric.name} finds one group of everybody better than many")
    require(measured > 0, f"{metric.name} applies to none of the random releases")


def _plan(algorithm: Algorithm, tally: Tally, goal: Goal) -> AnyPlan:
    rng = np.random.default_rng(1)
    if isinstance(algorithm, Bucketization):
        return DealtPlan.of(tally, goal, algorithm.deal(tally, goal, rng=rng))
    return Plan.of(tally, goal, algorithm.decide(tally, goal, rng=rng))


def _tally(rng: np.random.Generator) -> Tally:
    table = random_table(rng, int(rng.integers(30, 120)))
    engine = MemoryEngine()
    return engine.count(engine.open(table), job_about([KAnonymity(2)]).schema(table.columns))
