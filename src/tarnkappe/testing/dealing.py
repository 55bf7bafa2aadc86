"""The laws of algorithms that deal records to numbered groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.last_resort import dealt
from tarnkappe.deals import Deal
from tarnkappe.errors import InfeasibleError, JobError, VerificationError
from tarnkappe.goal import Goal
from tarnkappe.plan import DealtPlan
from tarnkappe.tally import Tally
from tarnkappe.testing.shared import attempted, require, same


def check_dealing(algorithm: Bucketization, goal: Goal, random: Callable[[], Tally], *, seed: int, tables: int) -> None:
    """Check an algorithm on random tables; raises an `AssertionError`.

    Checked are: what its form cannot keep is refused; no record is invented, and no more are left out than the limit
    allows; every group satisfies the goal; groups put in another order still do; the same seed gives the same deal;
    the tally is left alone; what cannot be done raises an `InfeasibleError`, and what one group of all records
    satisfies is done.
    """
    name = algorithm.name
    if any(c.protects - algorithm.publishes.hides for c in goal.criteria):
        _check_refused(algorithm, goal)
        return
    for i in range(tables):
        tally = random()
        before: list[NDArray[Any]] = [tally.quasi.copy(), tally.sensitive.copy(), tally.count.copy()]
        try:
            deal = _deal(algorithm, tally, goal, seed + i)
        except JobError:
            return  # it says that it cannot promise this
        except InfeasibleError:
            _check_last_resort(algorithm, tally, goal, seed + i)
            continue
        after: list[NDArray[Any]] = [tally.quasi, tally.sensitive, tally.count]
        require(same(before, after), f"{name} changes the tally it is given")
        _check_deal(name, tally, goal, deal)
        _check_deal(name, tally, goal, deal.mixed(np.random.default_rng(seed)))
        again = _deal(algorithm, tally, goal, seed + i)
        alike = np.array_equal(deal.cell, again.cell) and np.array_equal(deal.size, again.size)
        require(alike, f"{name} deals differently with the same seed")


def _deal(algorithm: Bucketization, tally: Tally, goal: Goal, seed: int) -> Deal:
    rng = np.random.default_rng(seed)
    return attempted(algorithm.name, tally.n_records, lambda: algorithm.deal(tally, goal, rng=rng))


def _check_deal(name: str, tally: Tally, goal: Goal, deal: Deal) -> None:
    try:
        plan = DealtPlan.of(tally, goal, deal)
    except VerificationError as error:
        raise AssertionError(f"{name}: {error.message}") from error
    except InfeasibleError as error:
        raise AssertionError(f"what {name} dealt violates the goal or its limit") from error
    pieces = deal.grouping(tally)
    pieces.require_whole(tally)
    require(pieces.suppressed == plan.suppressed, f"{name} loses records on the way")


def _check_refused(algorithm: Bucketization, goal: Goal) -> None:
    try:
        algorithm.require_kept(goal)
    except JobError:
        return
    raise AssertionError(f"{algorithm.name} publishes what the goal protects, but does not refuse it")


def _check_last_resort(algorithm: Bucketization, tally: Tally, goal: Goal, seed: int) -> None:
    """Where one group of all records satisfies the goal, there is a release."""
    if not tally.n_cells or not goal.satisfied(goal.together(tally)).all():
        return
    try:
        plan = dealt(algorithm, tally, goal, lambda: _deal(algorithm, tally, goal, seed))
    except InfeasibleError as error:
        raise AssertionError(f"{algorithm.name} finds no release where one group of all records is one") from error
    _check_deal(algorithm.name, tally, goal, plan.deal)
