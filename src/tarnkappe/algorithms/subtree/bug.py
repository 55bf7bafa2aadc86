"""Bottom-Up Generalization."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.algorithms.subtree.target import information_gain, leaf_classes, target_codes
from tarnkappe.criteria.base import Scope
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.kernels.lattice import roll_up, small_classes
from tarnkappe.params import param
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Codes, Counts, Tally, distinct_rows
from tarnkappe.taxonomy.tree import Taxonomy


@dataclass(frozen=True)
class BottomUpGeneralization(Algorithm):
    r"""Start with the raw values and generalise, again and again, what loses least about the target per anonymity won.

    .. math:: \mathrm{ILPG}(G) = \frac{I(G)}{P(G)}, \qquad I(G) = I(R_p) - \sum_c \frac{|R_c|}{|R_p|} I(R_c)

    for the generalisation :math:`G` of the values :math:`c` to their parent :math:`p`, the entropy :math:`I` of the
    target in the records :math:`R_v` that have a value, and :math:`P(G)` the number of records that stop violating the
    goal. Only *critical* generalisations, those with :math:`P > 0`, compete; if there is none, the one that loses least
    information is taken, and of equal ones the one that widens cells least. It ends when what violates the goal fits
    into the suppression limit.

    With ``granularity: subtree`` all children of a parent go up together, with ``sibling`` one of them may go up while
    the others stay. O(steps · candidates · tuples).

    Differs from the paper in: :math:`P` counts records that stop violating any goal, where the paper takes the rise of
    the smallest group's size, which is 0 for nearly all first steps; in the end steps that later ones made unnecessary
    are taken back; a suppression limit; sibling generalisation.

    References
    ----------
    .. [WaYC04] Wang, Yu, Chakraborty. "Bottom-up generalization: a data mining solution to privacy protection." ICDM
       2004.
    """

    name: ClassVar = "bug"
    title: ClassVar = "Bottom-Up Generalization"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Generalises single values from the raw table up, keeping what predicts a target column."
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection", "table"})

    target: str = param(doc="The column that readers of the release want to predict.")
    granularity: str = param(
        "subtree",
        doc="Let all children of a value go up together (subtree), or one at a time (sibling).",
        choices=("subtree", "sibling"),
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Generalise until what violates the goal may be suppressed."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        if tally.n_records == 0:
            raise goal.infeasible(tally)
        state = _State(tally, goal, classes, single=self.granularity == "sibling")
        while True:
            if state.violating <= state.budget:
                settled = suppress_leftovers(tally, recode(tally, state.cuts()), goal)
                if settled is not None:
                    state.undo_what_was_in_vain()
                    return suppress_leftovers(tally, recode(tally, state.cuts()), goal) or settled
            steps = state.steps()
            if not steps:
                raise goal.infeasible(tally, state.violating)
            won = np.array([state.violating - state.violating_after(step) for step in steps], np.float64)
            lost = np.array([state.information_lost(step) for step in steps])
            detail = np.array([state.detail_lost(step) for step in steps])
            critical = won > 0
            per = np.where(critical, won, np.inf if critical.any() else 1.0)
            # Of steps that lose as little information, the one that widens cells least.
            order = np.lexsort((detail / per, lost / per, ~critical))
            state.take(steps[int(order[0])])


@dataclass(frozen=True)
class _Step:
    """Values of a column that go up to their parent."""

    column: int
    parent: int
    values: tuple[int, ...]


class _State:
    """How every leaf is published at the moment, and how many records violate the goal."""

    def __init__(self, tally: Tally, goal: Goal, classes: tuple[Codes, int], *, single: bool) -> None:
        self.tally, self.goal, self.single = tally, goal, single
        self.budget = goal.budget(tally.n_records)
        domains = tally.quasi_domains
        into, first = distinct_rows([tally.quasi[:, j] for j in range(len(domains))], [d.size for d in domains])
        self.quasi = tally.quasi[first]
        self.size = np.bincount(into, weights=tally.count, minlength=len(first)).astype(np.int64)
        self.stats = None if goal.decided_by_size else self._raw_stats(into, len(first))
        self.node = [d.taxonomy.leaf_nodes.copy() for d in domains]
        #: Steps taken: column, leaves that moved, where to, and how the column was published before.
        self.taken: list[tuple[int, Counts, int, Codes]] = []
        self.leaf_classes = [
            leaf_classes(tally.quasi[:, j], d.size, *classes, tally.count) for j, d in enumerate(domains)
        ]
        # A tuple's key is the sum over columns of its node's number, in a mixed radix.
        self.unit = np.cumprod([1, *(d.taxonomy.n_nodes for d in domains)], dtype=np.object_)
        self.exact = self.unit[-1] < 1 << 62
        self.parts = np.stack([self._part(j, node) for j, node in enumerate(self.node)])
        self.slots = np.full(1 << max((2 * len(first)).bit_length(), 4), -1, np.int32)
        self.violating = self._violating(self.parts, self.node)

    def _raw_stats(self, into: Codes, n: int) -> GroupStats:
        """The statistics of single tuples."""
        grouping = Grouping.of_cells(self.tally, into, n)
        return GroupStats.of(self.tally, grouping, self.goal.columns, joint=self.goal.joint)

    def _part(self, j: int, node: Codes) -> Counts:
        """What column `j` adds to the key of each tuple."""
        unit = int(self.unit[j]) if self.exact else int(self.unit[j]) % (1 << 61) | 1
        return node[self.quasi[:, j]].astype(np.int64) * np.int64(unit)

    def _violating(self, parts: Counts, node: list[Codes]) -> int:
        """How many records violate the goal."""
        rows = np.arange(len(parts), dtype=np.int32)
        tuples = np.arange(len(self.size), dtype=np.int32)
        into, first, size = roll_up(tuples, self.size, parts, rows, self.exact, parts, rows, self.slots)
        if self.stats is None:
            return int(small_classes(size, self.goal.min_size)[1])
        stats = self.stats.pooled(into)
        if "projection" in self.goal.scopes:
            labels = [column[self.quasi[first, j]] for j, column in enumerate(node)]
            stats = replace(stats, keys=np.column_stack(labels).astype(np.int32))
        return int(size[~self.goal.satisfied(stats)].sum())

    def steps(self) -> list[_Step]:
        """The generalisations that are possible now."""
        out: list[_Step] = []
        for j, domain in enumerate(self.tally.quasi_domains):
            tree, used = domain.taxonomy, np.unique(self.node[j])
            for parent in np.unique(tree.parent[used[used > 0]]):
                inside = used[(tree.lo[used] >= tree.lo[parent]) & (tree.hi[used] <= tree.hi[parent])]
                children = tuple(int(v) for v in inside if tree.parent[v] == parent)
                whole = [v for v in children if not _below(tree, used, v)]
                if self.single:
                    out.extend(_Step(j, int(parent), (v,)) for v in whole)
                elif len(whole) == len(children) and all(v in children or v == parent for v in inside):
                    out.append(_Step(j, int(parent), children))
        return out

    def _moved(self, step: _Step) -> Codes:
        """How the leaves of a column are published after a step."""
        node = self.node[step.column]
        return np.where(np.isin(node, step.values), np.int32(step.parent), node)

    def violating_after(self, step: _Step) -> int:
        """How many records would violate the goal."""
        node = [*self.node]
        node[step.column] = self._moved(step)
        parts = self.parts.copy()
        parts[step.column] = self._part(step.column, node[step.column])
        return self._violating(parts, node)

    def information_lost(self, step: _Step) -> float:
        """What the target's entropy rises by, in bits per record that has one of the values."""
        counts, node = self.leaf_classes[step.column], self.node[step.column]
        pools = [counts[node == v].sum(axis=0) for v in dict.fromkeys((*step.values, step.parent))]
        return float(information_gain(*pools))

    def detail_lost(self, step: _Step) -> float:
        """How much wider the cells become, in shares of the column, added up over records."""
        tree, node = self.tally.quasi_domains[step.column].taxonomy, self.node[step.column]
        records = self.leaf_classes[step.column].sum(axis=1)
        wider = [
            float(records[node == v].sum()) * (tree.leaf_counts[step.parent] - tree.leaf_counts[v]) for v in step.values
        ]
        return float(sum(wider)) / max(tree.n_leaves - 1, 1)

    def take(self, step: _Step) -> None:
        """Carry out a step."""
        j = step.column
        moved = self._moved(step)
        self.taken.append((j, np.flatnonzero(moved != self.node[j]), step.parent, self.node[j]))
        self._publish(j, moved)

    def _publish(self, j: int, node: Codes) -> None:
        """Publish a column in another way."""
        self.node[j] = node
        self.parts[j] = self._part(j, node)
        self.violating = self._violating(self.parts, self.node)

    def undo_what_was_in_vain(self) -> None:
        """Take back steps that later ones made unnecessary, the last first, as long as the goal allows it."""
        again = True
        while again:
            again = False
            for taken in reversed(self.taken.copy()):
                j, leaves, parent, before = taken
                now = self.node[j]
                if (now[leaves] != parent).any():  # a later step, not taken back, went further
                    continue
                tried = now.copy()
                tried[leaves] = before[leaves]
                self._publish(j, tried)
                if self.violating <= self.budget:
                    self.taken = [t for t in self.taken if t is not taken]
                    again = True
                else:
                    self._publish(j, now)

    def cuts(self) -> list[Cut]:
        """How each column is recoded."""
        return [Cut.of_nodes(d, node) for d, node in zip(self.tally.quasi_domains, self.node, strict=True)]


def _below(tree: Taxonomy, used: Codes, node: int) -> bool:
    """Whether some value strictly below a node is still published."""
    inside = (tree.lo[used] >= tree.lo[node]) & (tree.hi[used] <= tree.hi[node]) & (used > node)
    return bool(inside.any())
