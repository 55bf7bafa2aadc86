"""Two-phase top-down specialisation (MRTDS)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.algorithms.shards import Shard, part_of
from tarnkappe.algorithms.subtree.party import SCORES, Party
from tarnkappe.algorithms.subtree.specialisation import everybody_together, judge_of, specialise, specialised
from tarnkappe.algorithms.subtree.target import target_codes
from tarnkappe.algorithms.subtree.values import GRANULARITIES
from tarnkappe.arrays import Codes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Domain, Tally
from tarnkappe.threads import map_threads


@dataclass(frozen=True)
class MRTDS(Algorithm):
    r"""Specialise random parts of the table side by side, merge what they found, and go on with the whole table.

    1. The records are dealt out at random to `partitions` parts. Each part is specialised by itself, as in Top-Down
       Specialization, with larger groups than needed: at least :math:`k' = i \cdot k` records, where :math:`i` is
       `intermediate` and :math:`k` the smallest group that could satisfy the goal.
    2. The cuts are merged: a value becomes the most general node that it has in any part. In each part the groups are
       then unions of groups that satisfied the goal there, and the groups of the whole table are unions of those. So
       the merged cut satisfies a goal that does not compare groups with the table. It is checked on all records in any
       case; while it fails, the deepest values go up a level.
    3. From the merged cut the whole table is specialised further, with the goal as it is.

    The first phase takes the steps that are beyond doubt, on small parts side by side. The smaller :math:`k'`, the more
    it does, and the more of it is chance. If parts are too small for two groups of :math:`k'`, it does nothing.
    O(sum over steps of affected cells · columns).

    Differs from the paper in: any monotone goal, and a suppression limit in the second phase; values that nobody in a
    part has are decided by the others; `granularity` sibling as in Top-Down Specialization. Ranges without a taxonomy
    are whole again after merging, because random parts hardly ever cut at the same place. The parts lie
    in memory, in threads; the second phase reads the tally, which is already a count, instead of counting in a job of
    its own for every step.

    References
    ----------
    .. [ZYLC14] Zhang, Yang, Liu, Chen. "A scalable two-phase top-down specialization approach for data anonymization
       using MapReduce on cloud." IEEE TPDS 25(2), 2014.
    .. [Zhan14] Zhang. "Toward scalable and cost-effective privacy-preserving big data publishing in cloud computing."
       Dissertation, University of Technology Sydney, 2014.
    """

    name: ClassVar = "mrtds"
    title: ClassVar = "Two-phase top-down specialization (MRTDS)"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Top-down specialization of random parts side by side, merged and finished on the whole table."

    target: str = param(doc="The column that readers of the release want to predict.", refers_to="predicted")
    partitions: int = param(4, doc="How many random parts are specialised side by side.", ge=1, kw_only=True)
    intermediate: int = param(
        32,
        doc="Groups in a part are at least so many times as large as the goal asks for.",
        ge=1,
        kw_only=True,
    )
    granularity: str = param(
        "sibling",
        doc="Tell one child of a value from its siblings at a time (sibling), or all children at once (subtree).",
        choices=GRANULARITIES,
        kw_only=True,
    )
    score: str = param(
        "gain-per-loss",
        doc="Value a step by the information it gains per anonymity it loses, or by the information alone.",
        choices=SCORES[:2],
        kw_only=True,
    )
    attempts: int = param(
        6,
        doc="How many times to try the second phase, with larger and larger groups at first; the best is taken.",
        ge=1,
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Specialise the parts, merge their cuts, and specialise the whole."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        everybody_together(tally, goal)

        def first_phase(part: Shard) -> list[Codes]:
            party = Party(
                part.tally.quasi,
                tally.quasi_domains,
                part.tally.count,
                (classes[0][part.cells], classes[1]),
                min_size=self.intermediate * goal.min_size,
                score=self.score,
                granularity=self.granularity,
            )
            specialise([party], judge_of(party, part.tally, goal))
            return [cut.node[cut.part] for cut in party.cuts()]

        parts = dealt_out(tally, self.partitions, rng)
        found = map_threads(first_phase, parts)
        start = [
            merged(
                domain,
                np.array([nodes[j] for nodes in found]),
                np.array([np.bincount(p.tally.quasi[:, j], minlength=domain.size) > 0 for p in parts]),
                antichain=self.granularity == "subtree",
            )
            for j, domain in enumerate(tally.quasi_domains)
        ]
        return specialised(
            tally,
            goal,
            classes,
            score=self.score,
            granularity=self.granularity,
            start=generalised(tally, goal, start),
            attempts=self.attempts,
        )


def dealt_out(tally: Tally, n_parts: int, rng: np.random.Generator) -> list[Shard]:
    """The records of a table dealt out at random to several parts; parts that get none are left out."""
    counts = rng.multinomial(tally.count, np.full(n_parts, 1 / n_parts))
    cells = [np.flatnonzero(counts[:, i]).astype(np.int32) for i in range(n_parts)]
    return [part_of(tally, own, counts[own, i].astype(np.int64)) for i, own in enumerate(cells) if len(own)]


def merged(domain: Domain, node: Codes, present: NDArray[np.bool_], *, antichain: bool) -> Codes:
    """The most general of the nodes that each leaf has in any of the parts whose records have it.

    Row ``p`` of `node` is what part ``p`` publishes each leaf as, and of `present` which leaves it has. An `antichain`
    has no node above another, as far as records have their leaves.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> city = Domain("city", Taxonomy.from_nested({"any": {"North": ["n1", "n2"], "South": ["s1", "s2"]}}))
    >>> node = np.array([[1, 1, 5, 6], [2, 3, 4, 4]], np.int32)  # North, s1 and s2; n1, n2 and South
    >>> [city.taxonomy.labels[v] for v in merged(city, node, np.ones((2, 4), bool), antichain=True)]
    ['North', 'North', 'South', 'South']
    """
    tree = domain.taxonomy
    somewhere = np.asarray(present.any(axis=0))
    depth = np.where(present | ~somewhere, tree.depth[node], tree.n_nodes)
    out: Codes = node[np.argmin(depth, axis=0), np.arange(domain.size)].copy()
    if antichain:
        for v in np.unique(out[somewhere]):  # parents come before their children
            below = slice(int(tree.lo[v]), int(tree.hi[v]) + 1)
            if np.any((out[below] == v) & somewhere[below]):
                out[below] = v
    return out


def generalised(tally: Tally, goal: Goal, nodes: Sequence[Codes]) -> list[Codes]:
    """The nodes, or if the goal does not hold for them, those where the deepest have gone up level by level."""
    nodes = list(nodes)
    trees = [d.taxonomy for d in tally.quasi_domains]
    while True:
        cuts = [Cut.of_nodes(d, node) for d, node in zip(tally.quasi_domains, nodes, strict=True)]
        if suppress_leftovers(tally, recode(tally, cuts), goal) is not None:
            return nodes
        deepest = max(int(tree.depth[node].max()) for tree, node in zip(trees, nodes, strict=True))
        if deepest == 0:
            raise goal.infeasible(tally)
        nodes = [
            np.where(tree.depth[node] == deepest, tree.parent[node], node).astype(np.int32)
            for tree, node in zip(trees, nodes, strict=True)
        ]
