"""Groups pooled with their neighbours until all of them are as large as they must be; none is ever cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tarnkappe.arrays import Codes, Flags
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, say
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.kernels.hilbert import hilbert_keys
from tarnkappe.pipeline import Decided
from tarnkappe.plan import AnyPlan, Plan
from tarnkappe.publish.boxes import BoxForm
from tarnkappe.tally import Tally

_CURVE_BITS = 62


def pooled(decided: Decided, goal: Goal, satisfied: Callable[[AnyPlan], Flags] | None = None) -> Decided:
    """The same groups, pooled until they satisfy a goal; every old group lies in one of the new ones.

    Groups are laid out along a curve through the quasi-identifiers, and one that does not satisfy the goal is pooled
    with the next, in pairs and as often as it takes. What it says covers what they said. `satisfied` may ask more of
    the groups of a plan. What even all records together do not satisfy is an exception of the plan.
    """
    plan = decided.plan
    if not isinstance(plan, Plan) or not isinstance(plan.grouping.form, BoxForm):
        what = f"groups of {decided.run.algorithm.name} cannot be pooled: they do not publish boxes"
        raise JobError("E111", what, hint=say("Choose an algorithm that generalises:  {}", algorithm("mondrian")))
    tally, base, form = plan.tally, plan.grouping, plan.grouping.form
    order = np.argsort(_along_curve(tally, base), kind="stable")
    run = np.empty(base.n_groups, np.int32)
    run[order] = np.arange(base.n_groups)
    while True:
        n = int(run.max(initial=-1)) + 1
        group = np.append(run, np.int32(SUPPRESSED))[base.group]
        said = form.united(run, n, tally.quasi_domains)
        grouping = Grouping(base.cell, group, base.quota, n, said, base.notes)
        ok = goal.satisfied(goal.stats(tally, grouping, keys=_keys(tally, grouping)))
        if ok.all() and satisfied is not None:
            made = decided.regrouped(Plan.of(tally, goal, grouping))
            wanted = satisfied(made.plan)
            if wanted.all():
                return made
            ok = _of_runs(made.plan, wanted, grouping)
        elif ok.all() or n == 1:
            return decided.regrouped(Plan.of(tally, goal, grouping))
        if n == 1:
            return decided.regrouped(Plan.of(tally, goal, grouping))
        run = _pooled_in_pairs(ok)[run]


def _pooled_in_pairs(ok: Flags) -> Codes:
    """The new number of every run: each that is not good goes with the next, unless the one before came to it.

    In pairs, because where several in a row are too small, all of them together would be far larger than they must be.
    """
    at = np.arange(len(ok))
    first = at - np.maximum.accumulate(np.where(ok, at, -1)) - 1  # how many before it are not good, in a row
    border = ok | (first % 2 == 1)
    if not border[-1] and len(ok) > 1:  # the last run has no next one, and goes with the one before
        border[-2] = False
    run: Codes = (np.cumsum(border) - border).astype(np.int32)
    return run


def _of_runs(plan: AnyPlan, wanted: Flags, grouping: Grouping) -> Flags:
    """Which runs of groups are good, by the groups of the plan, which pools those that look alike."""
    assert isinstance(plan, Plan)
    ok = np.ones(grouping.n_groups, np.bool_)
    bad = ~np.append(wanted, True)[plan.grouping.group]  # pieces of both come in the same order
    held = grouping.group[bad]
    ok[held[held >= 0]] = False
    return ok


def _keys(tally: Tally, grouping: Grouping) -> Codes:
    return grouping.boxes(tally).keys(tally.quasi_domains)


def _along_curve(tally: Tally, grouping: Grouping) -> Codes:
    """Where the middle of each group lies."""
    boxes = grouping.boxes(tally)
    q = max(1, min(boxes.lo.shape[1], _CURVE_BITS))
    bits = min(16, _CURVE_BITS // q)
    size = np.array([max(2 * d.size - 2, 1) for d in tally.quasi_domains[:q]])
    middle = np.maximum(boxes.lo[:, :q].astype(np.int64) + boxes.hi[:, :q], 0)
    grid = np.minimum(middle, size) * ((1 << bits) - 1) // size
    return hilbert_keys(np.ascontiguousarray(grid.astype(np.uint32)), bits).astype(np.int64)
