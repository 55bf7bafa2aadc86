"""Bottom-up generalisation in counting rounds over shards (MRBUG)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.shards import Counted, Secrets, Shard, Shards
from tarnkappe.algorithms.subtree.bug import Ascent, BottomUpGeneralization
from tarnkappe.algorithms.subtree.target import leaf_classes
from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.tally import Tally, begins_run


@dataclass(frozen=True)
class MRBUG(BottomUpGeneralization):
    r"""Bottom-Up Generalization whose counts are made shard by shard and added up.

    In each round every shard counts its records by what they publish and by their sensitive values, once for the
    generalisations of each column that are in question and once for the one that is carried out. From the sums come the
    groups, the records :math:`P(G)` that a generalisation frees, and the information :math:`I(G)` that it loses (from
    the records of each class and value, counted in the beginning). Nothing but counts leaves a shard, and a shard must
    know nothing but the node that each value is published as.

    The result is that of Bottom-Up Generalization, whatever the number of shards. O(rounds · columns · cells), without
    memory for the groups on the shards; `bug` keeps them, and is faster.

    Differs from the paper in: what Bottom-Up Generalization differs in; shards are parts of the tally in memory,
    counted in threads. The paper's switch between this and top-down specialisation is `mrhybrid`.

    References
    ----------
    .. [ZLNY14] Zhang, Liu, Nepal, Yang, Dou, Chen. "A hybrid approach for scalable sub-tree anonymization over big
       data using MapReduce on cloud." Journal of Computer and System Sciences 80(5), 2014.
    .. [Zhan14] Zhang. "Toward scalable and cost-effective privacy-preserving big data publishing in cloud computing."
       Dissertation, University of Technology Sydney, 2014.
    """

    name: ClassVar = "mrbug"
    title: ClassVar = "Bottom-up generalization in shards (MRBUG)"
    summary: ClassVar = "Bottom-up generalization by counts that shards make side by side; the same result as bug."

    partitions: int = param(4, doc="How many shards of the table are counted side by side.", ge=1, kw_only=True)

    def ascent(self, tally: Tally, goal: Goal, classes: tuple[Codes, int]) -> Ascent:
        """Counts of the shards."""
        return _ShardedAscent(tally, goal, classes, self.partitions, siblings=self.granularity == "sibling")


class _ShardedAscent(Ascent):
    """Groups that are counted anew, shard by shard, whenever something is asked about them."""

    def __init__(
        self, tally: Tally, goal: Goal, classes: tuple[Codes, int], partitions: int, *, siblings: bool
    ) -> None:
        self.shards = Shards.of(tally, partitions)
        self.secrets = Secrets(self.shards, goal)
        super().__init__(tally, goal, classes, siblings=siblings)

    def count_classes(self, classes: Codes, n_classes: int) -> list[Counts]:
        """Per column, how many records of each class every leaf has: the sums of what the shards count."""

        def task(shard: Shard) -> list[Counts]:
            t = shard.tally
            own = classes[shard.cells]
            return [leaf_classes(t.quasi[:, j], d.size, own, n_classes, t.count) for j, d in enumerate(t.quasi_domains)]

        return [np.sum(parts, axis=0) for parts in zip(*self.shards.each(task), strict=True)]

    def count_groups(self) -> tuple[Codes, GroupStats]:
        """Labels and statistics of the groups when every leaf is published as its node."""
        return self._counted([column.node for column in self.columns])

    def after(self, j: int, up: Codes) -> tuple[Codes, GroupStats]:
        """Labels and statistics of the groups after nodes of a column have gone up."""
        return self._counted([up[c.node] if i == j else c.node for i, c in enumerate(self.columns)])

    def _counted(self, nodes: list[Codes]) -> tuple[Codes, GroupStats]:
        """One round: records by label and secrets, added up over the shards."""
        sizes = [*(c.tree.n_nodes for c in self.columns), len(self.secrets)]

        def task(shard: Shard) -> list[Counted]:
            labels = [node[shard.tally.quasi[:, i]] for i, node in enumerate(nodes)]
            return [Counted.of([*labels, self.secrets.of(shard)], sizes, shard.tally.count)]

        (found,) = self.shards.count(task)
        label = np.column_stack(found.keys[:-1])
        begins = begins_run(label)
        group, first = np.cumsum(begins, dtype=np.int32) - np.int32(1), np.flatnonzero(begins)
        return label[first], self.secrets.stats(group, found.keys[-1], found.count)
