"""Iterated local recoding of a full-domain optimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.steps.units import select
from tarnkappe.arrays import Codes
from tarnkappe.boxes import Boxes
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.params import param, parameters
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally, distinct_rows


@dataclass(frozen=True)
class IteratedLocalRecoding(Algorithm):
    """Search a full-domain generalisation that suppresses records, then do the same with those records, and so on.

    Each round publishes the groups that satisfy the goal at its levels, and hands the others to the next round, which
    finds levels of its own. It ends when nobody is left, when a round gains nothing, or after `rounds`. What is
    left over then is suppressed if the limit allows that. Otherwise it forms a group that says nothing any more (all
    values at the root); if that group does not satisfy the goal, groups of the last rounds are added to it, smallest
    first, until it does. Groups of several rounds that publish the same are one group. O(rounds · inner search).

    An optimal inner search weighs what it generalises against what it suppresses. Suppressed records are not lost here,
    so they should cost less than all their detail (`tradeoff` below 0.5): more rounds, each with more detail.

    Criteria that compare with the table are checked against the whole table, not against the records of the round.

    Differs from the paper in: records left over are not lost but published at the root; the weight of suppression is
    the same in all rounds.

    References
    ----------
    .. [PKBK16] Prasser, Bild, Eicher, Spengler, Kuhn. "Lightning: utility-driven anonymization of high-dimensional
       data." Transactions on Data Privacy 9, 2016.
    """

    name: ClassVar = "iterated-local-recoding"
    title: ClassVar = "Iterated local recoding"
    scheme: ClassVar = "local"
    summary: ClassVar = "Full-domain search again and again on the records that the last one suppressed."

    inner: str = param(
        "flash",
        doc="The full-domain algorithm that is repeated.",
        choices=("flash", "ola", "datafly"),
    )
    rounds: int = param(100, doc="The largest number of rounds.", ge=1)
    share: float = param(
        0.9, doc="The largest share of its records that a round may leave to the next one.", ge=0, le=1
    )
    tradeoff: float = param(
        0.3,
        doc="What leaving a record to the next round costs beside generalising it: 0 nothing, 0.5 all its detail.",
        ge=0,
        le=1,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Round after round, then settle what is left over."""
        self.require_supported(tally, goal)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        group = np.full(tally.n_cells, SUPPRESSED, np.int32)
        node = np.zeros((0, tally.quasi.shape[1]), np.int32)
        found_in: list[int] = []
        for number, (cells, found) in enumerate(self._rounds(tally, goal, rng)):
            assert found.fixed is not None, "full-domain algorithms fix what is published"
            published = found.group >= 0
            group[cells[found.cell[published]]] = found.group[published] + len(node)
            node = np.concatenate([node, found.fixed.node])
            found_in += [number] * found.n_groups
        if not len(node):
            raise goal.infeasible(tally)
        grouping = _pooled(tally, group, node)
        if grouping.suppressed == 0:
            return grouping
        settled = suppress_leftovers(tally, grouping, goal)
        return _with_top(tally, goal, group, node, np.array(found_in)) if settled is None else settled

    def _search(self) -> Algorithm:
        """The inner algorithm; optimal ones are told what leaving a record to the next round costs."""
        cls = algorithm_class(self.inner)
        weighs = any(p.name == "tradeoff" for p in parameters(cls))
        return cls(tradeoff=self.tradeoff) if weighs else cls()  # type: ignore[call-arg]

    def _rounds(self, tally: Tally, goal: Goal, rng: np.random.Generator) -> Iterator[tuple[Codes, Grouping]]:
        """The cells of each round, and the groups of them that satisfy the goal."""
        search = self._search()
        tables = goal.table_distributions(tally)
        left = np.ones(tally.n_cells, np.bool_)
        for number in range(self.rounds):
            part, cells = select(tally, left)
            limit = self.share if number < self.rounds - 1 else 0.0
            try:
                found = search.decide(part, Goal(goal.criteria, limit), rng=rng)
            except InfeasibleError:
                return
            if goal.compares_with_table:
                found = found.without(~goal.satisfied(goal.stats(part, found, tables)))
            left[cells[found.cell[found.group >= 0]]] = False
            if found.n_groups:
                yield cells, found
            if not found.n_groups or not left.any():
                return


def _pooled(tally: Tally, group: Codes, node: Codes) -> Grouping:
    """The groups, with those that publish the same nodes as one."""
    sizes = [d.taxonomy.n_nodes for d in tally.quasi_domains]
    used = np.unique(group[group >= 0])
    same, first = distinct_rows([node[used, j] for j in range(len(sizes))], sizes)
    lookup = np.full(len(node) + 1, SUPPRESSED, np.int32)
    lookup[used] = same
    fixed = Boxes.of_nodes(np.ascontiguousarray(node[used[first]]), tally.quasi_domains)
    return Grouping.of_cells(tally, lookup[group], len(first), fixed)


def _with_top(tally: Tally, goal: Goal, group: Codes, node: Codes, found_in: NDArray[np.int64]) -> Grouping:
    """Put what is left over into a group at the root, with as many groups of the last rounds as it needs."""
    size = np.bincount(group[group >= 0], weights=tally.count[group >= 0], minlength=len(node))
    order = np.lexsort((size, -found_in))
    nodes = np.concatenate([node, np.zeros((1, node.shape[1]), np.int32)])
    tables = goal.table_distributions(tally)
    needed = 0
    while True:
        raised = np.arange(len(nodes), dtype=np.int32)
        raised[order[:needed]] = len(node)
        candidate = _pooled(tally, raised[group], nodes)  # group -1 is the last one, the root
        if goal.satisfied(goal.stats(tally, candidate, tables)).all():
            return candidate
        if needed == len(node):
            raise goal.infeasible(tally, int(tally.count[group < 0].sum()), enough=goal.judges_groups_alone)
        needed = min(max(2 * needed, 1), len(node))
