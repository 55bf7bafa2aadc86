"""All records in one group: what is left where an algorithm finds nothing, so that "no release" is true."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.deals import Deal
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import DealtPlan, Plan
from tarnkappe.tally import Tally

#: What the notes of a search say if it found nothing else.
LAST_RESORT = "last resort"


def dealt(algorithm: Bucketization, tally: Tally, goal: Goal, deal: Callable[[], Deal]) -> DealtPlan:
    """The plan of what was dealt, or of one group of all records if that is the only thing that satisfies the goal."""
    try:
        return DealtPlan.of(tally, goal, deal())
    except InfeasibleError:
        together = algorithm.all_in_one_deal(tally) if tally.n_cells else None
        if together is None or not goal.satisfied(goal.together(tally)).all():
            raise
        told = f"{algorithm.name} found nothing but all records in one group"
        return DealtPlan.of(tally, goal, replace(together, notes={LAST_RESORT: told}))


def planned(
    algorithm: Algorithm, tally: Tally, goal: Goal, decide: Callable[[], Grouping], missing: Collection[str] = ()
) -> Plan:
    """The plan of what was decided, or of one group of all records if that is the only thing that satisfies the goal.

    An algorithm may end in a place from which no step leads further, and groups that look the same are pooled after it,
    which criteria that are not monotone need not survive. Neither means that there is no release.
    """
    try:
        return Plan.of(tally, goal, decide(), missing)
    except InfeasibleError as nothing:
        together = algorithm.all_in_one(tally) if tally.n_cells else None
        if together is None or not goal.satisfied(goal.together(tally)).all():
            raise
        told = f"{algorithm.name} found nothing but all records in one group"
        try:
            return Plan.of(tally, goal, replace(together, notes={LAST_RESORT: told}), missing)
        except InfeasibleError:  # one group would be above a highest level
            raise nothing from None
