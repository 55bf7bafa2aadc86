"""Any algorithm within a time: the best valid result so far."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.ceilings import decide_below_ceilings
from tarnkappe.algorithms.multidimensional.mondrian import Mondrian
from tarnkappe.algorithms.watch import TimeOver, Watch
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError, LimitError
from tarnkappe.fixes import setting
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.tally import Tally

#: What the notes of a search say if it was stopped.
STOPPED = "stopped"


def decide_in_time(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator, watch: Watch) -> Grouping:
    """What an algorithm decides, or the best it has when its time is over.

    Algorithms that improve a valid result ask the watch themselves. All others ask the goal about groups between
    pieces of work, and are ended there: a search of the lattice with the best node so far, one that has nothing yet in
    favour of Mondrian, which is quick at any size. A kernel that is at work is not interrupted.
    """
    paced = goal if algorithm.asks_watch else Goal(goal.criteria, goal.max_suppressed, watch.pause)
    by = algorithm.name
    try:
        grouping = decide_below_ceilings(algorithm.watched(watch), tally, paced, rng)
    except TimeOver:
        grouping, by = _quickly(algorithm, tally, goal, rng), Mondrian.name
    return replace(grouping, notes={**grouping.notes, **_told(watch, by)})


def deal_in_time(algorithm: Bucketization, tally: Tally, goal: Goal, rng: np.random.Generator, watch: Watch) -> Deal:
    """What an algorithm deals; where it looks for people who are alike, that search ends when its time is over."""
    deal = algorithm.watched(watch).deal(tally, goal, rng=rng)
    return replace(deal, notes={**deal.notes, **_told(watch, algorithm.name)})


def _told(watch: Watch, by: str) -> dict[str, Note]:
    """The note about a search that was stopped, if it was."""
    ended = "by hand" if watch.hurried else "by the time limit"
    told = f"{ended}; these are groups of {by}, and how good they are depends on the machine"
    return {STOPPED: told} if watch.stopped else {}


def _quickly(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator) -> Grouping:
    """Groups that take no time to speak of; an error if the goal asks for more than they can promise."""
    quick = Mondrian()
    try:
        quick.require_supported(tally, goal)
    except JobError as error:
        raise LimitError(
            "E705",
            f"{algorithm.name} found no release within the time limit, and no quicker algorithm keeps this promise",
            details=[error.message],
            hint=setting("limits: {time: 1h}", "time_limit", "1h"),
        ) from None
    return decide_below_ceilings(quick, tally, goal, rng)
