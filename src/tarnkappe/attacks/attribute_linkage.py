"""Attribute linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene
from tarnkappe.wording import percent


@dataclass(frozen=True)
class AttributeLinkage(SecretAttack):
    r"""Whoever knows the group of a person guesses the secret that is most frequent in it.

    .. math:: \frac{1}{n} \sum_{G} \max_s |\{r \in G : r[S] = s\}|

    Without the release the best guess is the value that is most frequent in the whole table. The control deals the same
    secrets to groups of the same sizes at random. O(groups · values).

    References
    ----------
    .. [FWCY10] Fung, Wang, Chen, Yu. "Privacy-preserving data publishing: a survey of recent developments." ACM
       Computing Surveys 2010.
    """

    name: ClassVar = "attribute-linkage"
    title: ClassVar = "attribute linkage"
    card: ClassVar = AttackCard(
        attacker="knows which group a person is in, and bets on the most frequent secret there.",
        success="the guess is right.",
        baseline="the share of the secret that is most frequent in the whole table.",
        remedy=Remedy("t-closeness", column="NAME", t=0.2),
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of right guesses."""
        column = self.of(scene)
        spread = scene.spread(column)
        right = int(spread.most.sum())
        baseline = int(spread.table.max()) / spread.n
        control = int(spread.shuffled(scene.chance()).most.sum()) / spread.n
        worst = float((spread.most / spread.size).max())
        sentence = (
            f"Whoever bets on the most frequent {column} of a person's group is right in {percent(right / spread.n)} "
            f"of cases, in {percent(worst)} in the worst group; without the release in {percent(baseline)}."
        )
        figures = {"worst group": worst}
        return self.found(right, spread.n, baseline, sentence, control=control, column=column, figures=figures)
