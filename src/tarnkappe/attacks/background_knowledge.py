"""The background knowledge attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags
from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene, Spread
from tarnkappe.criteria.base import as_fraction
from tarnkappe.params import param
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class BackgroundKnowledge(SecretAttack):
    r"""Whoever can rule out some values for a person is left with few others in the person's group.

    For each person with the value s, the attacker knows that the person does not have the ``excluded`` values that are
    most frequent in the group besides s, and then believes in s with

    .. math:: p = \frac{n_s}{|G| - \sum_{i \le b} n_{(i)}} .

    It succeeds if p is at least ``confidence``. There is no worse knowledge of that much, and recursive
    (c, l)-diversity bounds it: with ``excluded = l - 2`` every p is below c / (1 + c). Beliefs are compared as exact
    fractions.
    O(groups · values · log values).

    Differs from the paper in: the paper bounds the belief in the most frequent value; here every person is attacked
    with the knowledge that is worst for them.

    References
    ----------
    .. [MKGV07] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam. "l-diversity: privacy beyond k-anonymity." TKDD
       2007.
    """

    name: ClassVar = "background-knowledge"
    title: ClassVar = "background knowledge attack"
    card: ClassVar = AttackCard(
        attacker="knows the group of a person, and some values that this person cannot have.",
        success="one value is left, or is as sure as asked for.",
        baseline="the same knowledge, applied to the whole table instead of the group.",
        remedy=Remedy("recursive-cl-diversity", column="NAME", c=3, l=3),
    )

    excluded: int = param(1, doc="How many values the attacker can rule out.", ge=1)
    confidence: float = param(1.0, doc="How sure the attacker must become to succeed.", gt=0, le=1)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people about whom the attacker becomes sure."""
        column = self.of(scene)
        spread = scene.spread(column)
        told = self._told(spread)
        baseline = self._told(spread.whole()) / spread.n
        control = self._told(spread.shuffled(scene.chance())) / spread.n
        sure = "certain" if self.confidence == 1 else f"at least {percent(self.confidence)} sure"
        sentence = (
            f"Whoever can rule out {plural(self.excluded, 'value')} of {column} for a person becomes {sure} of theirs "
            f"for {percent(told / spread.n)} of the people; from the whole table for {percent(baseline)}."
        )
        return self.found(told, spread.n, baseline, sentence, control=control, column=column)

    def _told(self, spread: Spread) -> int:
        """People about whom the attacker becomes sure."""
        return int(spread.count[self._sure(spread)].sum())

    def _sure(self, spread: Spread) -> Flags:
        """Which entries can be told once the most frequent others are ruled out."""
        order = np.lexsort((-spread.count, spread.group))
        count, group = spread.count[order], spread.group[order]
        rank = np.arange(len(order)) - spread.start[group]
        # The sum of the b most frequent entries of each group, and of the b + 1 most frequent.
        total = np.concatenate([[0], np.cumsum(count)])
        first, end = spread.start[:-1], spread.start[1:]
        b = self.excluded
        top = total[np.minimum(first + b, end)] - total[first]
        one_more = total[np.minimum(first + b + 1, end)] - total[first]
        gone = np.where(rank < b, one_more[group] - count, top[group])
        asked = as_fraction(self.confidence)
        sure = count * asked.denominator >= (spread.size[group] - gone) * asked.numerator
        out = np.zeros(len(order), np.bool_)
        out[order] = sure
        return out
