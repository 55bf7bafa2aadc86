"""Top-Down Disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.party import Party, Step
from tarnkappe.algorithms.subtree.specialisation import everybody_together, release_of
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Floats, Tally


@dataclass(frozen=True)
class TopDownDisclosure(Algorithm):
    r"""Suppress every value, then disclose one value after another, the most telling per privacy lost first.

    .. math::

        \mathrm{Score}(v) = \frac{\mathrm{InfoGain}(v)}{\mathrm{PrivLoss}(v) + 1}

    InfoGain is the information about the target won by telling the records that have :math:`v` from the others of its
    column that are still suppressed. PrivLoss is how much worse the worst group becomes, as the mean over the
    criteria of the goal: with confidence bounding it is the rise of the highest confidence. A value is disclosed in
    all records or in none. It may be disclosed if the goal holds afterwards; if not, it never may, because groups
    only fall apart further.

    In a taxonomy the values right below the root come first; once a node is disclosed, its children may be, one by one.
    What is not disclosed is published as its nearest disclosed ancestor, or as the root. Records are not suppressed.
    O(steps · candidates tried · cells that have them).

    Differs from the paper in: the paper's values have no taxonomy (here: a taxonomy of one level); the templates are
    the criteria of any monotone goal; values that gain no information are disclosed too, after all others.

    References
    ----------
    .. [WaFY07] Wang, Fung, Yu. "Handicapping attacker's confidence: an alternative to k-anonymization." Knowledge and
       Information Systems 11(3), 2007.
    """

    name: ClassVar = "tdd"
    title: ClassVar = "Top-Down Disclosure"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Suppresses values, not records: discloses those that predict a target and harm least."
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection"})

    target: str = param(doc="The column that readers of the release want to predict.")

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Disclose until nothing is allowed any more."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        everybody_together(tally, goal)
        party = Party(
            tally.quasi,
            tally.quasi_domains,
            tally.count,
            classes,
            min_size=goal.min_size,
            score="gain",
            granularity="sibling",
            ranges="single values",
        )
        disclosure = _Disclosure(tally, goal, party)
        while (candidate := disclosure.best()) is not None:
            disclosure.carry_out(candidate)
        return release_of(party, tally, goal)


class _Disclosure:
    """How exposed the worst group is, now and after each candidate; only groups that changed are looked at again."""

    def __init__(self, tally: Tally, goal: Goal, party: Party) -> None:
        self.tally = tally
        self.goal = goal
        self.party = party
        self.tables = goal.table_distributions(tally)
        self.single_groups = goal.scopes <= {"group"}
        self.now = self._worst(goal.together(tally))
        #: Per candidate, the worst level of the groups it makes, and the last step that was looked at.
        self.seen: dict[tuple[int, int], tuple[Floats, int]] = {}

    def _worst(self, stats: GroupStats) -> Floats:
        """The level of the most exposed group by each criterion, turned so that more is worse."""
        return np.array(
            [-c.worst_level(stats) if c.sense == "at least" else c.worst_level(stats) for c in self.goal.criteria]
        )

    def best(self) -> int | None:
        """The candidate with the best score that is allowed; the others are tried only while they could be better."""
        candidates = self.party.candidates()
        gain, detail = self.party.gains(candidates)
        found: tuple[float, int] | None = None
        for i in np.lexsort((-detail, -gain)):
            if found is not None and gain[i] <= found[0]:  # a loss of privacy only lowers the score
                break
            step = self.party.step(int(candidates[i]))
            after = self._after(step)
            if after is None:
                self.party.drop(step.candidate)
                continue
            with np.errstate(invalid="ignore"):  # both may be infinite
                loss = np.maximum(after - self.now, 0)
            score = float(gain[i] / (np.mean(np.where(np.isfinite(loss), loss, 0)) + 1))
            if found is None or score > found[0]:
                found = score, step.candidate
        return None if found is None else found[1]

    def _after(self, step: Step) -> Floats | None:
        """The worst levels after a step, or None if it is not allowed."""
        groups = self.party.groups
        if not self.single_groups:
            grouping, labels = groups.release(self.tally, step.pieces, step.column, step.value_of)
            stats = self.goal.stats(self.tally, grouping, self.tables, labels)
            return np.maximum(self.now, self._worst(stats)) if self.goal.satisfied(stats).all() else None
        key = step.candidate, int(np.count_nonzero(step.value_of == len(self.party.values)))
        worst, looked_at = self.seen.get(key, (self.now, -1))
        fresh = step.pieces.is_part & (groups.born[step.pieces.group] > looked_at)
        if fresh.any():
            stats = self.goal.stats(self.tally, groups.grouping(step.pieces.only(fresh)), self.tables)
            if not self.goal.satisfied(stats).all():
                return None
            worst = np.maximum(worst, self._worst(stats))
        self.seen[key] = worst, groups.step
        return np.maximum(self.now, worst)

    def carry_out(self, candidate: int) -> None:
        """Disclose a value."""
        step = self.party.step(candidate)  # made anew: trying others has put cells into another order
        after = self._after(step)
        assert after is not None, "only what is allowed is carried out"
        self.now = after
        self.party.carry_out(step, np.ones(len(step.pieces.size), np.bool_))
