"""The unsorted matching attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.attacks.base import Attack, AttackCard, Finding, Need
from tarnkappe.attacks.people import Ground, Looks, overlap_by_row, overlapping
from tarnkappe.attacks.scene import Scene
from tarnkappe.schema import Column
from tarnkappe.wording import percent, plural


@dataclass(frozen=True)
class UnsortedMatching(Attack):
    r"""Two releases of the same people, or a release and its data, stand in the same order: rows can be put together.

    The n-th row of one and the n-th row of the other are about the same person only if what both say in the columns
    that they share can be true at once. The rate is the share of rows of which it can. In a random order it would be
    the share of all pairs of rows, which is the baseline,

    .. math:: \frac{|\{(i, j) : a_i \sim b_j\}|}{n \cdot m} .

    The control compares the rows after one of the tables was shuffled. The other table is another release, or the data
    themselves in their own order. O(different rows · different rows · columns) at worst.

    Differs from the paper in: the paper gives an example; the test of an order is ours.

    References
    ----------
    .. [Swe02] Sweeney. "k-anonymity: a model for protecting privacy." International Journal on Uncertainty, Fuzziness
       and Knowledge-based Systems 2002.
    """

    name: ClassVar = "unsorted-matching"
    title: ClassVar = "unsorted matching attack"
    card: ClassVar = AttackCard(
        attacker="has two releases of the same people, and puts the first row beside the first, the second beside the "
        "second.",
        success="what both rows say fits together, far more often than rows of a random order would.",
        baseline="the share of all pairs of rows that fit together.",
        remedy="shuffle the rows of every release, as Tarnkappe does",
    )
    needs: ClassVar = ("quasi", "whole")
    finds: ClassVar = "identity"
    by_chance: ClassVar = True

    def lacks(self, scene: Scene) -> Need | None:
        """Another release, or the data in their order."""
        missing = super().lacks(scene)
        return missing or (None if scene.others or (scene.in_order and scene.has("known")) else "other")

    def carry_out(self, scene: Scene) -> Finding:
        """The share of rows that fit together as they stand."""
        release = scene.release.frame
        other = scene.others[0].frame if scene.others else scene.known
        assert other is not None
        where = scene.others[0].name if scene.others else "the data"
        shared = [c for c in scene.quasi if c.name in release.columns and c.name in other.columns]
        shared += [
            Column(c.name, "keep") for c in scene.sensitive if c.name in release.columns and c.name in other.columns
        ]
        tables = [(scene.release.name, release, scene.release.decimal)]
        people = [] if scene.others else [other]
        if scene.others:
            tables.append((where, other, scene.others[0].decimal))
        ground = Ground.of(shared, people, tables)
        ours, theirs = ground.looks(release, scene.release.name), ground.looks(other, where)
        together = overlap_by_row(ours, theirs)
        n, fit = len(together), int(together.sum())
        baseline = overlapping(ours, theirs)
        order = scene.chance().permutation(len(ours.of))
        mixed = Looks(ours.of[order], ours.count, ours.look, ours.lo, ours.hi)
        control = float(overlap_by_row(mixed, theirs).mean())
        names = ", ".join(c.name for c in shared)
        sentence = (
            f"Of {plural(n, 'pair of rows', 'pairs of rows')} in the same place, {percent(fit / n)} can be about the "
            f"same person by {names}; in a random order {percent(baseline)} could."
        )
        return self.found(fit, n, baseline, sentence, control=control)
