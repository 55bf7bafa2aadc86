"""The proximity attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts
from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene, Spread
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Proximity(SecretAttack):
    r"""The numbers of a group are different and spread wide, but most of them lie close together.

    The attacker guesses the number of the group that has most others within ``within`` of it, and is right if the
    person's is one of them:

    .. math:: \frac{1}{n} \sum_{G} \max_{s \in G} |\{r \in G : |r[S] - s| \le \varepsilon\}|

    (k, e)-anonymity does not look at this. (ε, m)-anonymity with the same ε keeps every group at 1/m or below. Without
    the release the guess is the one that is best for the whole table. O(groups · values · log values).

    References
    ----------
    .. [LiTX08] Li, Tao, Xiao. "Preservation of proximity privacy in publishing numerical sensitive data." SIGMOD 2008.
    """

    name: ClassVar = "proximity"
    title: ClassVar = "proximity attack"
    card: ClassVar = AttackCard(
        attacker="knows the group of a person, and guesses the number that most of its numbers are close to.",
        success="the person's number is that close to the guess.",
        baseline="the best guess of that kind from the whole table.",
        remedy=Remedy("epsilon-m-anonymity", column="NAME", epsilon=1000, m=2),
    )

    within: float = param(0.0, doc="How far off a guess may be.", ge=0, example=1000)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of guesses that are close enough."""
        column = self.of(scene)
        spread = scene.spread(column)
        if np.isnan(spread.numbers).all():
            raise JobError(
                "E111",
                f"'{column}' holds no numbers, so that none can be close",
                hint=Fix("--sensitive  a column of numbers", "a column of numbers in  sensitive"),
            )
        best = _most_near(spread, self.within)
        baseline = int(_most_near(spread.whole(), self.within).sum()) / spread.n
        control = int(_most_near(spread.shuffled(scene.chance()), self.within).sum()) / spread.n
        right, worst = int(best.sum()), float((best / spread.size).max())
        sentence = (
            f"One guess per group comes as close as {self.within:g} to the {column} of {percent(right / spread.n)} of "
            f"the people, of {percent(worst)} in the worst group; one guess for all to that of {percent(baseline)}."
        )
        figures = {"worst group": worst}
        return self.found(right, spread.n, baseline, sentence, control=control, column=column, figures=figures)


def _most_near(spread: Spread, within: float) -> Counts:
    """Per group, the most records that are near one of its numbers; missing ones are near to none."""
    number = spread.numbers[spread.code]
    known = ~np.isnan(number)
    number, group, count = number[known], spread.group[known], spread.count[known]
    order = np.lexsort((number, group))
    number, group, count = number[order], group[order], count[order]
    total = np.concatenate([[0], np.cumsum(count)])
    # Groups one after the other on one long line, further apart than anything is near.
    reach = float(np.ptp(number)) if len(number) else 0.0
    line = (number - (number.min() if len(number) else 0.0)) + group * (reach + 2 * within + 1)
    slack = 1e-9 * max(reach, 1.0)
    near = (
        total[np.searchsorted(line, line + within + slack, "right")]
        - total[np.searchsorted(line, line - within - slack)]
    )
    out = np.zeros(spread.n_groups, np.int64)
    np.maximum.at(out, group, near)
    return out
