"""How far Spark has come, told by the main thread, which can be interrupted while Spark works."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from tarnkappe.io.cells import Step

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

R = TypeVar("R")

_SECONDS = 0.5


def watched(spark: SparkSession, work: Callable[[], R], total: int, step: Step | None = None) -> R:
    """Run a job of Spark in a thread of its own and call `step` with how many of `total` records it has dealt with.

    An interrupt, or an exception of `step`, cancels the job.
    """
    results: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="tarnkappe-spark", daemon=True)
    thread.start()
    reached = 0.0
    try:
        while thread.is_alive():
            thread.join(_SECONDS)
            if step is not None and thread.is_alive():
                reached = max(reached, _share_done(spark.sparkContext))
                step(int(reached * total), total)
    except BaseException:
        spark.sparkContext.cancelAllJobs()
        raise
    if errors:
        raise errors[0]
    return results[0]


def _share_done(context: SparkContext) -> float:
    """Which share of the tasks of the stages at work is done."""
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    tasks = sum(stage.numTasks for stage in stages if stage is not None)
    done = sum(stage.numCompletedTasks for stage in stages if stage is not None)
    return done / tasks if tasks else 0.0
