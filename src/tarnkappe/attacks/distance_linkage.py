"""Record linkage by distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags
from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need, Remedy
from tarnkappe.attacks.comparing import Comparison
from tarnkappe.attacks.scene import Scene
from tarnkappe.kernels.attacks.matching import rank_by_distance
from tarnkappe.threads import share_out
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class DistanceLinkage(Attack):
    r"""Every person is linked to the record that is nearest to what is known about them, even if none fits.

    .. math:: \arg \min_{r} \sum_j d_j(x_j, r_j)^2

    Numbers are measured in standard deviations from the middle of a label, other values by whether the label says just
    them (0), them among others (in between), or excludes them (1). A link is right if it is the person's own record,
    which a key tells, and no other record is as near. This is the usual measure for averaged and perturbed numbers,
    which no label covers. In a k-anonymous release k records are always equally near. The baseline is a random pick.
    O(people · different records · columns) at worst; most records are given up at the first columns.

    References
    ----------
    .. [DoTo01] Domingo-Ferrer, Torra. "A quantitative comparison of disclosure control methods for microdata." In:
       Confidentiality, Disclosure and Data Access, 2001.
    """

    name: ClassVar = "distance-linkage"
    title: ClassVar = "record linkage by distance"
    card: ClassVar = AttackCard(
        attacker="has a table of people, and takes the record that is nearest to each of them.",
        success="the nearest record is the person's own, and no other is as near.",
        baseline="a record picked at random.",
        remedy=Remedy("k-anonymity", k=5),
    )
    needs: ClassVar[tuple[Need, ...]] = ("quasi", "known", "key", "whole")
    finds: ClassVar = "identity"

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people who are linked to their own record."""
        compared = Comparison.of(scene)
        beaten, ties = np.zeros(len(compared.own), np.bool_), np.zeros(len(compared.own), np.int64)
        tables = compared.distance, compared.offset, compared.width, compared.codes, compared.labels

        def task(begin: int, end: int) -> None:
            rank_by_distance(*tables, compared.count, compared.own, begin, end, beaten, ties)

        share_out(task, np.arange(len(compared.own) + 1, dtype=np.int64) * max(len(compared.labels), 1))
        return linked(self, scene, beaten, ties)


def linked(attack: Attack, scene: Scene, beaten: Flags, ties: Counts) -> Finding:
    """What came of linking people with the record that scores best: `ties` records score like their own."""
    assert scene.known is not None
    n, rows = scene.known.height, scene.release.n_rows
    right = int((~beaten & (ties == 1)).sum())
    expected = float((1 / ties[~beaten]).sum() / n)
    how = "nearest" if attack.name == DistanceLinkage.name else "likeliest"
    sentence = (
        f"Of {plural(n, 'person', 'people')}, {percent(right / n)} have their own record as the only one that is "
        f"{how}; a random pick would find {percent(1 / rows)}."
    )
    figures = {"expected share of right picks among the best": expected}
    return attack.found(right, n, 1 / rows, sentence, figures=figures)
