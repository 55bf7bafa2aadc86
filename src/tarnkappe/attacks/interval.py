"""The interval attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need
from tarnkappe.attacks.scene import Scene, as_floats
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Interval(Attack):
    r"""A number that was averaged with its neighbours is still close to what is published in its place.

    In a column that keeps its order, the i-th smallest published number stands for the i-th smallest of the people. The
    attacker says that a person's number lies within the share ``within`` of the column's range from the published one:

    .. math:: |x_{(i)} - y_{(i)}| \le w \cdot (\max x - \min x)

    The rate is over all people and columns. The baseline says so about a published number picked at random. A column
    with one average for everybody does not beat it. O(columns · people · log people).

    References
    ----------
    .. [DoTo01] Domingo-Ferrer, Torra. "A quantitative comparison of disclosure control methods for microdata." In:
       Confidentiality, Disclosure and Data Access, 2001.
    """

    name: ClassVar = "interval"
    title: ClassVar = "interval attack"
    card: ClassVar = AttackCard(
        attacker="finds the published number that has the same rank as a person's number.",
        success="the person's number is that close to the published one.",
        baseline="the same about a published number picked at random.",
        remedy="larger groups, or averages of all columns together (algorithm: mdav)",
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "known", "numbers")

    within: float = param(0.01, doc="How close, as a share of the range of the column.", gt=0, le=1, example=0.01)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of numbers that are close to what is published for them."""
        assert scene.known is not None
        close = trials = 0
        chance = 0.0
        for name in scene.numeric:
            ours = np.sort(as_floats(scene.known[name]))
            told = np.sort(as_floats(scene.release.frame[name]))
            ours, told = ours[~np.isnan(ours)], told[~np.isnan(told)]
            if not len(ours) or not len(told):
                continue
            reach = self.within * float(np.ptp(ours)) * (1 + 1e-12)
            # With records left out, ranks are those of the same share of the people.
            at = (np.arange(len(ours)) * len(told)) // len(ours)
            close += int((np.abs(ours - told[at]) <= reach).sum())
            trials += len(ours)
            near = np.searchsorted(told, ours + reach, "right") - np.searchsorted(told, ours - reach)
            chance += float(near.sum()) / len(told)
        baseline, rate = (chance / trials, close / trials) if trials else (0.0, 0.0)
        sentence = (
            f"{percent(rate)} of the numbers lie within {percent(self.within)} of the range of their column from what "
            f"is published for their rank; from one picked at random {percent(baseline)} do."
        )
        return self.found(close, trials, baseline, sentence)
