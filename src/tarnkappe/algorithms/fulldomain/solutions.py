"""The solution space of full-domain generalisation: nodes of the lattice with their figures, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.fulldomain.lattice import Classes, Lattice, Node
from tarnkappe.algorithms.fulldomain.search import Scoring, Search
from tarnkappe.arrays import Codes
from tarnkappe.goal import Goal
from tarnkappe.kernels.fulldomain.lattice import suppressed_costs
from tarnkappe.metrics import ColumnLoss, Metric, SizeMetric, all_metrics
from tarnkappe.metrics.suppressed_share import SuppressedShare
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Solution:
    """What a release at one node of the lattice would be.

    `levels` count from the values of the data. A node is `ok` if a release at it satisfies the goal within the
    suppression limit; the figures of other nodes are those of a release that suppresses as many as it takes.
    """

    levels: Node
    ok: bool
    suppressed: int
    groups: int
    #: Records in the smallest published group: the k that is reached.
    smallest: int
    #: Records in the smallest class if nothing were suppressed: the k that is reached without suppression.
    smallest_class: int
    #: Mean of level over height of the columns, whoever is suppressed; some call that precision.
    level_share: float
    #: Records in a published group on average, suppressed ones left out; some call that AES.
    group_mean: float
    #: Every metric of the groups that the lattice knows, by name.
    scores: dict[str, float]


class Solutions:
    """All nodes of the lattice of a tally, or those that satisfy a goal, with their figures.

    Nodes are visited depth first from the top. A node is reached by lowering its first column to its level, then its
    second, and so on, so each is reached once and none has to be remembered; what fails for good cuts off all that
    lies below. The classes of a node are rolled up from those where the columns that are already settled stand at
    their levels and the others at their values, of which there is one table per column. Memory is O(columns · tuples),
    whatever the size of the lattice.
    """

    def __init__(self, tally: Tally, goal: Goal, metrics: Sequence[Metric] | None = None) -> None:
        """Prepare the class tables, and the costs that each metric charges."""
        chosen = _measurable() if metrics is None else list(metrics)
        self.tally, self.goal = tally, goal
        self.search = Search(tally, goal, chosen[0])
        self.scorings = {m.name: Scoring(tally, goal, m, 0.5) for m in chosen}
        self.heights = tuple(max(d.floor + d.taxonomy.height, 1) for d in tally.quasi_domains)

    @property
    def lattice(self) -> Lattice:
        """The nodes that are allowed."""
        return self.search.lattice

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The columns in the order in which they are lowered: those that make most classes first."""
        sizes = [d.size for d in self.tally.quasi_domains]
        return tuple(sorted(range(len(sizes)), key=lambda j: (-sizes[j], j)))

    def at(self, node: Node) -> Solution:
        """The figures of one node, which counts from the floors of the columns."""
        return self._figures(self.search.tables.roll_up(node))[0]

    def satisfying(self) -> Iterator[Solution]:
        """All nodes that satisfy the goal."""
        return (found for found in self._walk(prune=True) if found.ok)

    def every(self) -> Iterator[Solution]:
        """All nodes of the lattice."""
        return self._walk(prune=False)

    def _walk(self, *, prune: bool) -> Iterator[Solution]:
        tables = self.search.tables
        top = self.lattice.high

        def descend(place: int, node: Node, finer: Classes) -> Iterator[Solution]:
            """Nodes below one whose columns before `place` are settled; it itself was told already.

            `finer` are the classes where settled columns stand at their levels and all others at the lowest ones.
            """
            for i in range(place, len(self.order)):
                j = self.order[i]
                base = finer if i == place else tables.roll_up_from(finer, self._floor(node, i))
                for level in range(top[j] - 1, self.lattice.low[j] - 1, -1):
                    lower = (*node[:j], level, *node[j + 1 :])
                    found, hopeless = self._figures(tables.roll_up_from(base, lower), decide=prune)
                    if hopeless:
                        break
                    yield found
                    if i + 1 < len(self.order):
                        yield from descend(i + 1, lower, tables.roll_up_from(base, self._floor(lower, i + 1)))

        first, hopeless = self._figures(tables.roll_up_from(tables.finest, top), decide=prune)
        if not hopeless:
            yield first
            yield from descend(0, top, tables.finest)

    def _floor(self, node: Node, settled: int) -> Node:
        """The node with all columns but the first `settled` at their lowest levels."""
        kept = set(self.order[:settled])
        return tuple(level if j in kept else self.lattice.low[j] for j, level in enumerate(node))

    def _figures(self, classes: Classes, *, decide: bool = False) -> tuple[Solution, bool]:
        """The figures of a node; and, if asked to `decide`, whether nothing below it satisfies the goal."""
        search = self.search
        self.goal.pause()
        ok, suppressed, hopeless = search.settle(classes, early=decide)
        hopeless &= decide
        good = search.accepts(ok, suppressed)
        published = ok & (classes.size > 0)
        sizes = classes.size[published]
        if hopeless or (decide and not good):
            return self._solution(classes, good, suppressed, sizes, {}), hopeless
        tuples = None
        scores = {}
        for name, scoring in self.scorings.items():
            if isinstance(scoring.metric, SizeMetric):
                scores[name] = scoring.metric.of_sizes(sizes, suppressed, self.goal)
                continue
            if tuples is None and suppressed and not scoring.per_class:
                tuples = search.tables.class_of_tuples(classes.node)
            scores[name] = self._cost(scoring, classes, ok, suppressed, None if scoring.per_class else tuples)
        return self._solution(classes, good, suppressed, sizes, scores), hopeless

    def _cost(
        self, scoring: Scoring, classes: Classes, ok: NDArray[np.bool_], suppressed: int, tuples: Codes | None
    ) -> float:
        """The score by a metric that adds up columns; with `tuples` where values of a class cost differently."""
        if tuples is None or not suppressed:
            return scoring.sign * scoring.score(classes, ok, suppressed, self.search.tables.quasi)
        finest = self.search.tables.finest
        rows = (scoring.rows[:-1] + np.array(classes.node)).astype(np.int32)
        more = suppressed_costs(
            ok[tuples], finest.tuple_of, finest.size, self.search.tables.quasi, scoring.costs, rows, scoring.charges
        )
        assert isinstance(scoring.metric, ColumnLoss)
        return float(scoring.metric.combine(scoring.sums[rows] + more, self.tally))

    def _solution(
        self, classes: Classes, good: bool, suppressed: int, sizes: NDArray[np.int64], scores: dict[str, float]
    ) -> Solution:
        levels = self.search.levels(classes.node)
        inhabited = classes.size[classes.size > 0]
        return Solution(
            levels,
            good,
            suppressed,
            len(sizes),
            int(sizes.min()) if len(sizes) else 0,
            int(inhabited.min()) if len(inhabited) else 0,
            float(np.mean([level / height for level, height in zip(levels, self.heights, strict=True)])),
            float(sizes.sum() / len(sizes)) if len(sizes) else 0.0,
            scores,
        )


def _measurable() -> list[Metric]:
    """The metrics that classes of a node are measured by."""
    return [
        m
        for m in all_metrics().values()
        if isinstance(m, (SizeMetric, ColumnLoss)) and not isinstance(m, SuppressedShare)
    ]
