"""Table linkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Floats
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Remedy
from tarnkappe.attacks.people import covering_looks, inside
from tarnkappe.attacks.scene import Scene
from tarnkappe.params import param
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class TableLinkage(Attack):
    r"""A public table tells who could be behind a group; if the release holds as many, they are all in it.

    How likely a person of the public table P is in the data T is the share of its group that is,

    .. math:: b = \frac{|T \cap G|}{|P \cap G|},

    and the sum of these shares where labels of several groups fit. The attack succeeds for those people in the data for
    whom b is at least ``confidence``. δ-presence bounds b. The baseline is what the size of the release says about
    anybody. O(different people · different records · columns) at worst.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    """

    name: ClassVar = "table-linkage"
    title: ClassVar = "table linkage"
    card: ClassVar = AttackCard(
        attacker="has a public table of everybody, and compares how many people and how many records a group has.",
        success="it is certain, or as sure as asked for, that a person is in the data.",
        baseline="what the sizes of the two tables say about anybody.",
        remedy=Remedy("delta-presence", delta_max=0.5),
    )
    needs: ClassVar = ("quasi", "population", "whole")
    finds: ClassVar = "presence"

    confidence: float = param(1.0, doc="How sure the attacker must become to succeed.", gt=0, le=1)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people in the data who are known to be in them."""
        belief, people = beliefs(scene)
        sure = belief >= self.confidence - 1e-12
        n, found = scene.release.n_rows, float((belief * people)[sure].sum())
        share = n / int(people.sum())
        everybody = plural(int(people.sum()), "person", "people")
        sentence = (
            f"Of {plural(n, 'person', 'people')} in the data, {percent(min(found / n, 1.0))} are at least "
            f"{percent(self.confidence)} sure to be in them, by a public table of {everybody}."
        )
        figures = {"largest belief": float(belief.max(initial=0)), "belief without the release": share}
        return self.found(min(found, n), n, float(share >= self.confidence), sentence, figures=figures)


def beliefs(scene: Scene) -> tuple[Floats, Counts]:
    """How likely it is that people of the public table are in the data, and how many there are of each kind."""
    assert scene.population is not None
    ground = scene.ground
    people = ground.people(scene.population)
    looks = ground.looks(scene.release.frame, scene.release.name)
    candidates = inside(people, looks)
    share = looks.count / np.maximum(candidates, 1)
    start, look = covering_looks(people, looks)
    person = np.repeat(np.arange(len(people.codes)), np.diff(start))
    belief = np.bincount(person, share[look], len(people.codes))
    return np.minimum(belief, 1.0), people.count
