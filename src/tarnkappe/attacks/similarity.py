"""The similarity attack."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Flags
from tarnkappe.attacks.base import AttackCard, Finding, Remedy, SecretAttack
from tarnkappe.attacks.scene import Scene, Spread
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.params import param
from tarnkappe.schema import Column
from tarnkappe.taxonomy.tree import Taxonomy
from tarnkappe.wording import percent


@dataclass(frozen=True)
class Similarity(SecretAttack):
    r"""The secrets of a group differ, but mean the same: all are kinds of cancer, or all incomes are low.

    A group gives its people away if one node of the taxonomy, at least ``depth`` below the root, covers all its values,
    or if they are numbers and no two differ by more than ``within``. Succeeds for

    .. math:: \frac{1}{n} \sum_{G \text{ similar}} |G|

    of the people. A group that lies below one child c of the root is at least :math:`1 - q_c` away from the table by
    the hierarchical distance, so t-closeness with a smaller t rules it out. The control deals secrets to groups of the
    same sizes at random. O(groups · values · depth).

    References
    ----------
    .. [LiLV07] Li, Li, Venkatasubramanian. "t-closeness: privacy beyond k-anonymity and l-diversity." ICDE 2007.
    """

    name: ClassVar = "similarity"
    title: ClassVar = "similarity attack"
    card: ClassVar = AttackCard(
        attacker="knows the group of a person, and that all its secrets are of one kind.",
        success="the kind of the person's secret, or its size, is known for certain.",
        baseline="what is certain without the release: nothing, unless the whole table is of one kind.",
        remedy=Remedy("t-closeness", column="NAME", t=0.2, distance="hierarchical"),
    )

    within: float | None = param(None, doc="Numbers that differ by no more than this are similar.", ge=0, example=1000)
    depth: int = param(1, doc="How far below the root of the taxonomy a kind must be.", ge=1)

    def carry_out(self, scene: Scene) -> Finding:
        """The share of people in groups whose values are similar."""
        column = self.of(scene)
        spread = scene.spread(column)
        declared = next((c for c in scene.sensitive if c.name == column), Column(column, "sensitive"))
        if self.within is None and declared.taxonomy is None:
            raise JobError(
                "E111",
                f"nothing tells which values of '{column}' are similar: it has no taxonomy, and no difference is given",
                hint=Fix(
                    "similarity:within=1000   for numbers, or a job file that gives the column a taxonomy",
                    "Similarity(within=1000)   for numbers, or a  job  that gives the column a taxonomy",
                ),
            )
        nodes = None if self.within is not None else self._nodes(spread, declared)

        def exposed(of: Spread) -> int:
            alike = _near(of, self.within) if nodes is None else _same_kind(of, nodes, self.depth)
            return int(of.size[alike].sum())

        told = exposed(spread)
        baseline = float(exposed(spread.whole()) > 0)
        control = exposed(spread.shuffled(scene.chance())) / spread.n
        what = "kind" if nodes is not None else "size"
        sentence = (
            f"The {what} of the {column} of {percent(told / spread.n)} of the people is known for certain to whoever "
            "knows their group: all values in it are similar."
        )
        return self.found(told, spread.n, baseline, sentence, control=control, column=column)

    def _nodes(self, spread: Spread, column: Column) -> tuple[Taxonomy, Codes]:
        """The taxonomy cut at the depth that counts as a kind: the leaf of every value in it."""
        assert column.taxonomy is not None
        texts = [v for v in spread.values if v is not None]
        given = spread.numbers[~np.isnan(spread.numbers)] if column.taxonomy.numeric else texts
        tree = column.taxonomy.build(given, column.name, spread.table[[v is not None for v in spread.values]])
        leaf = {label: i for i, label in enumerate(tree.leaves)}
        shown = column.taxonomy.published(given)
        place = iter(shown)
        return tree, np.array([-1 if v is None else leaf[next(place)] for v in spread.values], np.int32)


def _same_kind(spread: Spread, nodes: tuple[Taxonomy, Codes], depth: int) -> Flags:
    """Which groups lie below one node that is deep enough."""
    tree, leaf = nodes
    code = leaf[spread.code]
    first = spread.start[:-1]
    low, high = np.minimum.reduceat(code, first), np.maximum.reduceat(code, first)
    lowest = tree.depth[tree.lca(np.maximum(low, 0), np.maximum(high, 0))]
    return (low >= 0) & (lowest >= depth)


def _near(spread: Spread, within: float | None) -> Flags:
    """Which groups have numbers that are no further apart; a missing one is near to nothing."""
    assert within is not None
    number = spread.numbers[spread.code]
    first = spread.start[:-1]
    reach = np.maximum.reduceat(number, first) - np.minimum.reduceat(number, first)
    out: Flags = reach <= within
    return out
