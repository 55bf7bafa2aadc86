"""The homogeneity attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene, Spread
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class Homogeneity(SecretAttack):
    r"""Everybody in a group has the same secret, so that whoever finds the group of a person knows it.

    .. math:: \frac{1}{n} \sum_{G : |\{s \in G\}| = 1} |G|

    Without the release the attacker knows the secret of nobody for certain, unless all people share it. The control
    deals the same secrets to groups of the same sizes at random: so many groups agree by chance. O(groups · values).

    References
    ----------
    .. [MKGV07] Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam. "l-diversity: privacy beyond k-anonymity." TKDD
       2007.
    """

    name: ClassVar = "homogeneity"
    title: ClassVar = "homogeneity attack"
    card: ClassVar = AttackCard(
        attacker="knows which group a person is in, and reads what everybody in it has.",
        success="the secret of the person is known for certain.",
        baseline="what is certain without the release: nothing, unless all people share one value.",
        remedy=Remedy("l-diversity", column="NAME", l=2),
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people in groups with one value."""
        column = self.of(scene)
        spread = scene.spread(column)
        alike = _alike(spread)
        sentence = (
            f"Of {plural(spread.n, 'person', 'people')} in the release, the {column} of {percent(alike / spread.n)} "
            "is known for certain to whoever knows their group."
        )
        control = _alike(spread.shuffled(scene.chance())) / spread.n
        figures = {"groups": int((spread.different == 1).sum()), "of groups": spread.n_groups}
        whole = float(_alike(spread.whole()) > 0)
        return self.found(alike, spread.n, whole, sentence, control=control, column=column, figures=figures)


def _alike(spread: Spread) -> int:
    """People in groups that have one value only."""
    return int(spread.size[spread.different == 1].sum())
