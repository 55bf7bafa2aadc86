"""Top-Down Disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.subtree.party import Party, Step
from tarnkappe.algorithms.subtree.specialisation import everybody_together, judge_of, release_of
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.algorithms.subtree.values import VALUE
from tarnkappe.arrays import Floats
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class TopDownDisclosure(Algorithm):
    r"""Suppress every value, then disclose one after another, the one that tells most about a target per privacy lost.

    .. math:: \mathrm{Score}(v) = \frac{\mathrm{InfoGain}(v)}{\mathrm{PrivLoss}(v) + 1}

    InfoGain is the information about the target won by telling the records that have :math:`v` from the others of its
    column that are still suppressed. PrivLoss is how much worse the worst group becomes, as the mean over the
    criteria of the goal: with `confidence-bounding` (each a template) that is the rise of the highest confidence
    (in units of its bound), with k-anonymity the fall of k.

    A value is either published by name in all records or not at all; taxonomies are not used. What is not disclosed
    stands as the root of its column. A value may be disclosed if the goal holds afterwards; if not, it never may,
    because groups only fall apart further. O(steps · candidates tried · cells that have them).

    Differs from the paper in: the templates are the criteria of any monotone goal; records may be suppressed within the
    limit; values that gain no information are disclosed too, after all others.

    References
    ----------
    .. [WaFY07] Wang, Fung, Yu. "Handicapping attacker's confidence: an alternative to k-anonymization." Knowledge and
       Information Systems 11(3), 2007.
    """

    name: ClassVar = "tdd"
    title: ClassVar = "Top-Down Disclosure"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Suppresses single values everywhere, as few as the goal and a target column ask for."
    generalises: ClassVar = False
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table"})

    target: str = param(doc="The column that readers of the release want to predict.", refers_to="predicted")

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
            budget=goal.budget(tally.n_records),
            granularity=VALUE,
        )
        disclosure = _Disclosure(tally, goal, party)
        while disclosure.proceed():
            pass
        return release_of(party, tally, goal)


class _Disclosure:
    """Tries what may be disclosed next, and keeps how exposed the worst group is by each criterion."""

    def __init__(self, tally: Tally, goal: Goal, party: Party) -> None:
        self.tally = tally
        self.goal = goal
        self.party = party
        self.tables = goal.table_distributions(tally)
        self.judge = judge_of(party, tally, goal)
        self.exposure = self._worst(goal.together(tally))

    def _worst(self, stats: GroupStats) -> Floats:
        """The level of the most exposed group by each criterion, turned so that more is worse."""
        return np.array(
            [-c.worst_level(stats) if c.compared == "at least" else c.worst_level(stats) for c in self.goal.criteria]
        )

    def proceed(self) -> bool:
        """Disclose the value with the best score that is allowed; whether there was one.

        Others are tried only while they could be better: a loss of privacy only lowers the score.
        """
        candidates = self.party.candidates()
        gain, detail = self.party.gains(candidates)
        found: tuple[float, int] | None = None
        for i in np.lexsort((-detail, -gain)):
            if found is not None and gain[i] <= found[0]:
                break
            step = self.party.step(int(candidates[i]))
            ok = self.judge(self.party, step)
            if ok is None:
                self.party.drop(step.candidate)
                continue
            score = float(gain[i] / (self._loss(self._after(step, ok)) + 1))
            if found is None or score > found[0]:
                found = score, step.candidate
        if found is None:
            return False
        step = self.party.step(found[1])  # made anew: trying others has put cells into another order
        ok = self.judge(self.party, step)
        assert ok is not None, "what was allowed is allowed"
        self.exposure = self._after(step, ok)
        self.party.carry_out(step, ok)
        return True

    def _after(self, step: Step, ok: NDArray[np.bool_]) -> Floats:
        """How exposed the worst group is after a step; groups that it does not touch stay as exposed as they are."""
        groups, kept = self.party.groups, step.pieces.only(step.pieces.is_part & ok)
        if not self.goal.scopes <= {"group"}:
            grouping, labels = groups.release(self.tally, step.pieces, step.column, step.value_of)
            return np.maximum(self.exposure, self._worst(self.goal.stats(self.tally, grouping, self.tables, labels)))
        if not len(kept.size):
            return self.exposure
        return np.maximum(self.exposure, self._worst(self.goal.stats(self.tally, groups.grouping(kept), self.tables)))

    def _loss(self, after: Floats) -> float:
        """The mean over the criteria of how much worse the worst group becomes; what is infinite already cannot."""
        with np.errstate(invalid="ignore"):
            loss = after - self.exposure
        return float(np.mean(np.where(np.isfinite(loss), loss, 0.0)))
