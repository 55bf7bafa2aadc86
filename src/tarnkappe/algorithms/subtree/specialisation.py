"""Top-down specialisation: the part that all its variants share.

Whoever holds columns is a `Party`. It knows its own columns, the target, and which records are in one group, and it
offers the best specialisation of its columns. `specialise` compares the offers, asks whether the best one is allowed,
and has it carried out. One party that holds all columns is ordinary top-down specialisation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.recoding import recode
from tarnkappe.algorithms.subtree.party import SCORES, Party, Step
from tarnkappe.algorithms.subtree.target import entropy
from tarnkappe.arrays import Codes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally

#: Says which pieces of a specialisation satisfy the goal, or None if it is not allowed.
Judge = Callable[[Party, Step], "NDArray[np.bool_] | None"]


def specialise(parties: Sequence[Party], judge: Judge) -> None:
    """Carry out the best specialisation that is allowed until there is none; what is not is never tried again."""
    while True:
        offers = [(found, party) for party in parties if (found := party.best()) is not None]
        if not offers:
            return
        (_, candidate), winner = max(offers, key=lambda offer: offer[0][0])  # of equal ones the first
        step = winner.step(candidate)
        ok = judge(winner, step)
        if ok is None:
            winner.drop(candidate)
            continue
        message = winner.carry_out(step, ok)
        for party in parties:
            if party is not winner:
                party.follow(message)


def by_size(party: Party, step: Step) -> NDArray[np.bool_]:
    """The judge for goals that sizes decide: a party offers only what leaves out few enough records."""
    return step.pieces.size >= party.groups.min_size


def judge_of(party: Party, tally: Tally, goal: Goal) -> Judge:
    """The judge for any monotone goal; groups that violate it from the start are left out.

    Groups are judged by themselves where that is enough: only those that a specialisation makes. A criterion that needs
    all groups, or a table that shifts with what is left out, is asked about the whole release.
    """
    shifting = goal.compares_with_table and goal.budget(tally.n_records) > 0
    if not goal.scopes <= {"group"} or shifting:
        return _by_release(party, tally, goal)
    tables = goal.table_distributions(tally)
    ok = goal.satisfied(goal.stats(tally, party.groups.grouping(party.groups.whole), tables))
    party.leave_out(np.flatnonzero(~ok))

    def judge(party: Party, step: Step) -> NDArray[np.bool_] | None:
        ok = goal.satisfied(goal.stats(tally, party.groups.grouping(step.pieces), tables))
        return ok if party.is_worth(step, int(step.pieces.size[~ok].sum())) else None

    return by_size if goal.decided_by_size else judge


def _by_release(party: Party, tally: Tally, goal: Goal) -> Judge:
    start = suppress_leftovers(tally, party.groups.grouping(party.groups.whole), goal, party.groups.labels)
    suppressed = allowed = 0 if start is None else start.suppressed
    steps = party.groups.step

    def judge(party: Party, step: Step) -> NDArray[np.bool_] | None:
        nonlocal suppressed, allowed, steps
        if party.groups.step > steps:  # what was allowed last has been carried out
            suppressed, steps = allowed, party.groups.step
        grouping, labels = party.groups.release(tally, step.pieces, step.column, step.value_of)
        settled = suppress_leftovers(tally, grouping, goal, labels)
        if settled is None or not party.is_worth(step, max(settled.suppressed - suppressed, 0)):
            return None
        allowed = settled.suppressed
        return np.ones(len(step.pieces.size), np.bool_)  # what is left out may differ next time

    return judge


def everybody_together(tally: Tally, goal: Goal) -> None:
    """Refuse a goal that is out of reach even if all records look the same."""
    if tally.n_cells:
        everyone = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        if suppress_leftovers(tally, everyone, goal, np.zeros((1, len(tally.quasi_domains)), np.int32)) is not None:
            return
    raise goal.infeasible(tally)


def release_of(party: Party, tally: Tally, goal: Goal) -> Grouping:
    """The groups of a party that holds all columns, without what violates the goal."""
    settled = suppress_leftovers(tally, recode(tally, party.cuts()), goal)
    if settled is None:
        raise goal.infeasible(tally)
    return settled


def specialised(
    tally: Tally,
    goal: Goal,
    classes: tuple[Codes, int],
    *,
    score: str = SCORES[0],
    granularity: str = "sibling",
    sets: Sequence[Sequence[int]] = (),
    start: Sequence[Codes] | None = None,
    attempts: int = 1,
) -> Grouping:
    """Top-down specialisation of a tally towards a class of every cell, by default from the top.

    `start` is the node that each leaf of each column is published as in the beginning; the goal must hold for it.

    Greedy steps may lead into a corner. So the first of the `attempts` asks for nothing but the goal from the start,
    the others first go as far as they can with groups 2, 4, 8, … times as large, and relax then. The release that
    tells most about the classes is taken.
    """
    budget = goal.budget(tally.n_records)

    def attempt(factor: int) -> Grouping:
        party = Party(
            tally.quasi,
            tally.quasi_domains,
            tally.count,
            classes,
            min_size=factor * goal.min_size,
            budget=budget if factor == 1 else 0,
            score=score,
            granularity=granularity,
            sets=sets,
            start=start,
        )
        judge = judge_of(party, tally, goal)
        specialise([party], judge)
        if factor > 1:
            party.relax(goal.min_size, budget)
            specialise([party], judge)
        return release_of(party, tally, goal)

    factors = [2**i for i in range(attempts)]
    feasible = [f for f in factors if f == 1 or 2 * f * goal.min_size <= tally.n_records]
    return max((attempt(f) for f in feasible), key=lambda grouping: _information(grouping, *classes))


def _information(grouping: Grouping, classes: Codes, n_classes: int) -> float:
    """Records times bits that the groups tell about the class; suppressed records tell nothing.

    Small groups seem to tell more than they do: on average half a unit of entropy per group and class too much
    [Mill55]_, which is taken off.

    .. [Mill55] Miller. "Note on the bias of information estimates." Information Theory in Psychology, 1955.
    """
    kept = grouping.group >= 0
    key = grouping.group[kept].astype(np.int64) * n_classes + classes[grouping.cell[kept]]
    counts = np.bincount(key, weights=grouping.quota[kept], minlength=grouping.n_groups * n_classes)
    counts = counts.reshape(grouping.n_groups, n_classes)
    whole = counts.sum(axis=0)
    told = whole.sum() * entropy(whole) - (counts.sum(axis=1) * entropy(counts)).sum()
    return float(told - (grouping.n_groups - 1) * (np.count_nonzero(whole) - 1) / (2 * np.log(2)))
