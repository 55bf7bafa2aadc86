"""The skewness attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene, Spread
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Skewness(SecretAttack):
    r"""A value that is rare in the table is frequent in a group: suspicion falls on everybody there.

    The attacker accuses all people of the group G of having the value s for which the release says most:

    .. math:: \max_{G, s} \; p_s(G) - q_s

    The rate is :math:`p_s(G)`, the share of those accused who have it, the baseline :math:`q_s`, that in the whole
    table. A table that is t-close by the variational distance keeps the difference at t or below. The control is the
    same in groups of the same sizes to which secrets are dealt at random: small groups are skewed by chance.
    O(groups · values).

    References
    ----------
    .. [LiLV07] Li, Li, Venkatasubramanian. "t-closeness: privacy beyond k-anonymity and l-diversity." ICDE 2007.
    """

    name: ClassVar = "skewness"
    title: ClassVar = "skewness attack"
    card: ClassVar = AttackCard(
        attacker="knows the group of a person, and how frequent every secret is everywhere.",
        success="a person of the group has the value that is suspiciously frequent there.",
        baseline="the share of that value in the whole table.",
        remedy=Remedy("t-closeness", column="NAME", t=0.2),
    )

    value: str | None = param(
        None, doc="The value to suspect people of; the worst one if not given.", refers_to="value"
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of the value in the group in which it is most suspicious."""
        column = self.of(scene)
        spread = scene.spread(column)
        wanted = None
        if self.value is not None:
            if self.value not in spread.values:
                raise JobError(
                    "E105",
                    f"'{column}' has no such value as the one that skewness looks for",
                    hint=Fix("skewness: {}", "Skewness()"),
                )
            wanted = spread.values.index(self.value)
        at = _worst(spread, wanted)
        share = spread.count / spread.of_entry
        before = spread.table[spread.code[at]] / spread.n
        dealt = spread.shuffled(scene.chance())
        chance = _worst(dealt, wanted)
        by_chance = dealt.count[chance] / dealt.of_entry[chance] - dealt.table[dealt.code[chance]] / dealt.n
        own = share - spread.table[spread.code] / spread.n
        sentence = (
            f"In one group, a value of {column} that {percent(before)} of all people have is that of "
            f"{percent(share[at])}: whoever is in it is suspected of having it."
        )
        figures = {
            "rise": share[at] - before,
            "times as likely": share[at] / before,
            "people whose value became more likely by 0.1": spread.count[own > 0.1].sum() / spread.n,
        }
        size = int(spread.of_entry[at])
        control = min(before + by_chance, 1.0)
        return self.found(spread.count[at], size, before, sentence, control=control, column=column, figures=figures)


def _worst(spread: Spread, code: int | None) -> int:
    """The entry whose share in its group exceeds that in the table most; the first of them."""
    rise = spread.count / spread.of_entry - spread.table[spread.code] / spread.n
    if code is not None:
        rise = np.where(spread.code == code, rise, -np.inf)
    return int(np.argmax(rise))
