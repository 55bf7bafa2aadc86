"""Membership inference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding
from tarnkappe.attacks.scene import Scene
from tarnkappe.attacks.table_linkage import beliefs
from tarnkappe.params import param
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Membership(Attack):
    r"""Whoever has a public table says about people that they are in the data, and is rarely wrong about others.

    People are ordered by how likely they are in the data (see table linkage), and the attacker accuses the likeliest
    until the share ``false_alarms`` of those who are not in the data would be accused too. The rate is the share of
    people in the data who are accused then; where many are equally likely, the part of them that is left is drawn by
    lot. Guessing at random accuses as many of both, so the baseline is ``false_alarms``. A release with the same
    δ-presence in every group leaves it there.

    The area under the curve (AUC) is the probability that somebody in the data looks likelier than somebody who is not.

    Differs from other tools in: no accuracy is given, because it says little about rare and certain successes.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    .. [CCNS22] Carlini, Chien, Nasr, Song, Terzis, Tramèr. "Membership inference attacks from first principles." IEEE
       Symposium on Security and Privacy 2022.
    """

    name: ClassVar = "membership"
    title: ClassVar = "membership inference"
    card: ClassVar = AttackCard(
        attacker="has a public table of everybody, and accuses those who are likeliest to be in the data.",
        success="somebody who is in the data is accused, with hardly any false alarm.",
        baseline="as many of those in the data as of the others.",
        remedy="delta-presence: {delta_max: 0.5}",
    )
    needs: ClassVar = ("quasi", "population", "whole")
    finds: ClassVar = "presence"

    false_alarms: float = param(
        0.01, doc="Share of the people who are not in the data that may be accused.", gt=0, le=1, example=0.01
    )

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people in the data who are accused."""
        belief, people = beliefs(scene)
        ins, outs = belief * people, (1 - belief) * people
        right, auc = ranked(belief, ins, outs, self.false_alarms)
        n = scene.release.n_rows
        sentence = (
            f"Whoever accuses {percent(self.false_alarms)} of those who are not in the data by mistake finds "
            f"{percent(right)} of those who are."
        )
        figures = {"area under the curve": auc}
        return self.found(right * n, n, self.false_alarms, sentence, figures=figures)


def ranked(score: Floats, ins: Floats, outs: Floats, false_alarms: float) -> tuple[float, float]:
    """The share of those who are in that are found at some share of false alarms, and the area under the curve."""
    levels, at = np.unique(-score, return_inverse=True)
    found = np.bincount(at, ins, len(levels)) / max(ins.sum(), 1e-300)
    alarms = np.bincount(at, outs, len(levels)) / max(outs.sum(), 1e-300)
    if outs.sum() <= 0:  # everybody is in the data, and nobody can be accused by mistake
        return 1.0, 1.0
    right = np.concatenate([[0.0], np.cumsum(found)])
    wrong = np.concatenate([[0.0], np.cumsum(alarms)])
    at_limit = float(np.interp(false_alarms, wrong, right))
    if (wrong == 0).sum() > 1:  # those that are found without any false alarm
        at_limit = max(at_limit, float(right[np.flatnonzero(wrong <= 0)[-1]]))
    return at_limit, float(np.sum(alarms * (right[:-1] + right[1:]) / 2))
