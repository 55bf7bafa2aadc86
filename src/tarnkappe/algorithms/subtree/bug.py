"""Bottom-Up Generalization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.algorithms.subtree.specialisation import specialised
from tarnkappe.algorithms.subtree.target import information_gain, leaf_classes, target_codes
from tarnkappe.algorithms.subtree.values import GRANULARITIES
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Codes, Counts, Domain, Tally, distinct_rows


@dataclass(frozen=True)
class BottomUpGeneralization(Algorithm):
    r"""Start with the raw table and generalise, step by step, what costs least information per privacy won.

    .. math::

        \mathrm{ILPG}(G) = \frac{I(G)}{P(G)}, \qquad I(G) = |R_p| \, I(R_p) - \sum_c |R_c| \, I(R_c)

    for the generalisation :math:`G` of values :math:`c` to their parent :math:`p`, with the entropy :math:`I` of the
    target, and :math:`P(G)` the number of records that no longer violate the goal. Only *critical* generalisations
    are looked at: those of a value that some violating group has. If none of them frees a record, the one that loses
    least is carried out, :math:`I(G)` plus the width that records gain (as a share of their column). Ends when no
    group violates the goal. If records may be suppressed, the best of the tables passed on the way is taken: the one
    that loses least detail, a suppressed record counting as lost entirely.

    Steps that later ones have made unnecessary are taken back: from there on the table is specialised again as long as
    the goal holds, as in Top-Down Specialization.

    `granularity` subtree generalises all children of a node at once. With sibling one child joins those that have
    gone up to the parent before, or the two that are most alike go up together; their siblings stay as they are.

    O(steps · columns · groups).

    Differs from the paper in: privacy is counted in records that violate any monotone goal, not in the size of the
    smallest group, which hardly any single step can raise, and so information is counted in records times bits;
    records may be suppressed. A range without a taxonomy has two levels, its values and the whole. The paper takes
    nothing back; the last few records then drag up columns that need not have been touched.

    References
    ----------
    .. [WaYC04] Wang, Yu, Chakraborty. "Bottom-up generalization: a data mining solution to privacy protection." ICDM
       2004.
    """

    name: ClassVar = "bug"
    title: ClassVar = "Bottom-Up Generalization"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Generalises value by value what predicts a target least, until the goal holds."

    target: str = param(doc="The column that readers of the release want to predict.")
    granularity: str = param(
        "subtree",
        doc="Generalise all children of a node at once (subtree), or only some while their siblings stay (sibling).",
        choices=GRANULARITIES,
        kw_only=True,
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Generalise until what violates the goal may be suppressed."""
        self.require_supported(tally, goal)
        classes = target_codes(tally, self.target, self.name)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        ascent = _Ascent(tally, goal, classes, siblings=self.granularity == "sibling")
        while ascent.generalise():
            pass
        for nodes in ascent.by_loss():
            cuts = [Cut.of_nodes(d, node) for d, node in zip(tally.quasi_domains, nodes, strict=True)]
            if suppress_leftovers(tally, recode(tally, cuts), goal) is not None:
                return specialised(tally, goal, classes, granularity=self.granularity, start=nodes)
        raise goal.infeasible(tally, ascent.n_violating)


@dataclass(frozen=True)
class _Generalisation:
    """Values of a column that go up to their parent, the information that costs, and the width their records gain."""

    values: tuple[int, ...]
    parent: int
    loss: float
    widening: float


class _ColumnState:
    """One column: the node each leaf is published as, and how many records of each class every node has."""

    def __init__(self, domain: Domain, classes: Counts) -> None:
        self.domain = domain
        self.tree = domain.taxonomy
        self.node = self.tree.leaf_nodes.copy()
        self.classes = np.zeros((self.tree.n_nodes, classes.shape[1]), np.int64)
        self.classes[self.node] = classes
        nodes = np.arange(self.tree.n_nodes, dtype=np.int32)
        self.width = domain.widths(self.tree.lo, self.tree.hi, nodes) * domain.weight

    def move(self, up: Codes) -> None:
        """Publish every node as another one, or as itself."""
        self.node = up[self.node]
        moved = np.zeros_like(self.classes)
        np.add.at(moved, up, self.classes)
        self.classes = moved

    def generalisations(self, critical: Codes, siblings: bool) -> Iterator[_Generalisation]:
        """What may be done to values that are critical; those of different parents do not interfere."""
        used = np.flatnonzero(self.classes.sum(axis=1) > 0)
        above = self.tree.parent[used[used > 0]]
        unfinished = np.zeros(self.tree.n_nodes, np.bool_)  # nodes with values below them
        while len(above := np.unique(above[above >= 0])):
            unfinished[above] = True
            above = self.tree.parent[above]
        ready = used[~unfinished[used] & (used > 0)]  # the others would leave values behind that are told apart better
        blocked = np.zeros(self.tree.n_nodes, np.bool_)
        blocked[self.tree.parent[np.flatnonzero(unfinished)[1:]]] = not siblings
        critical = np.intersect1d(critical, ready)
        for p in np.unique(self.tree.parent[critical]):
            children = ready[self.tree.parent[ready] == p]
            if not blocked[p]:
                yield self._fewest(children, critical, int(p)) if siblings else self._raised(children, int(p))

    def _raised(self, values: NDArray[np.integer], parent: int) -> _Generalisation:
        parts = [*self.classes[values], self.classes[parent]]
        loss = information_gain(*parts) * np.sum(parts)
        wider = (self.width[parent] - self.width[values]) * self.classes[values].sum(axis=1)
        return _Generalisation(tuple(int(v) for v in values), parent, float(loss), float(wider.sum()))

    def _fewest(self, children: NDArray[np.integer], critical: Codes, parent: int) -> _Generalisation:
        """The critical child that is most like what has gone up before, or a pair of children that are most alike."""
        asked = np.intersect1d(children, critical)
        if self.classes[parent].any() or len(children) == 1:
            return min((self._raised(asked[i : i + 1], parent) for i in range(len(asked))), key=lambda g: g.loss)
        pairs = np.array([(a, b) for a, b in combinations(children, 2) if a in asked or b in asked])
        losses = information_gain(self.classes[pairs[:, 0]], self.classes[pairs[:, 1]])
        return self._raised(pairs[int(np.argmin(losses))], parent)


class _Ascent:
    """The groups while they are generalised: their labels (nodes) and statistics."""

    def __init__(self, tally: Tally, goal: Goal, classes: tuple[Codes, int], *, siblings: bool) -> None:
        self.tally = tally
        self.goal = goal
        self.siblings = siblings
        self.columns = [
            _ColumnState(d, leaf_classes(tally.quasi[:, j], d.size, *classes, tally.count))
            for j, d in enumerate(tally.quasi_domains)
        ]
        grouping = recode(tally, [Cut.of_nodes(c.domain, c.node) for c in self.columns])
        assert grouping.fixed is not None
        self.label = grouping.fixed.node
        self.stats = goal.stats(tally, grouping, goal.table_distributions(tally))
        self.violates = ~goal.satisfied(self.stats)
        self.budget = goal.budget(tally.n_records)
        #: What was passed on the way and needs no more suppression than allowed: its loss, and the nodes of all leaves.
        self.passed: list[tuple[float, list[Codes]]] = []
        self._pass()

    @property
    def n_violating(self) -> int:
        """Records in groups that violate the goal."""
        return int(self.stats.size[self.violates].sum())

    def _pass(self) -> None:
        """Remember the table as it is, if what violates the goal may be suppressed."""
        if self.n_violating > self.budget:
            return
        width = sum(column.width[self.label[:, j]] for j, column in enumerate(self.columns))
        everything = sum(column.width[0] for column in self.columns)
        lost = np.where(self.violates, everything, width)
        self.passed.append((float((lost * self.stats.size).sum()), [c.node for c in self.columns]))

    def by_loss(self) -> list[list[Codes]]:
        """The tables that were passed, the one with the least loss of detail first."""
        return [nodes for _, nodes in sorted(self.passed, key=lambda entry: entry[0])]

    def generalise(self) -> bool:
        """Carry out the best generalisation; whether there was one and anything left to do.

        Those of values that violating groups have are looked at first; there are others only if these groups are at the
        top in every column.
        """
        options = self._options(self.violates) or self._options(np.ones_like(self.violates))
        if not options or not self.violates.any():
            return False
        rated = [
            (self._rate(found, won), j, found)
            for j, generalisations in options
            for found, won in zip(generalisations, self._won(j, generalisations), strict=True)
        ]
        _, j, best = min(rated, key=lambda entry: entry[0])
        up = self._up(j, [best])
        into, first = self._pooled(j, up)
        self.columns[j].move(up)
        self.label[:, j] = up[self.label[:, j]]
        self.label = self.label[first]
        self.stats = self.stats.pooled(into)
        self.violates = ~self.goal.satisfied(self.stats)
        self._pass()
        return True

    def _options(self, groups: NDArray[np.bool_]) -> list[tuple[int, list[_Generalisation]]]:
        """Per column, the generalisations of values that some groups have."""
        found = [
            (j, list(column.generalisations(np.unique(self.label[groups, j]), self.siblings)))
            for j, column in enumerate(self.columns)
        ]
        return [(j, generalisations) for j, generalisations in found if generalisations]

    @staticmethod
    def _rate(found: _Generalisation, won: int) -> tuple[bool, float, float]:
        """Information lost per record freed; if none is, information and detail lost. Of equal ones the finest."""
        if won > 0:
            return False, found.loss / won, found.widening / won
        return True, found.loss + found.widening, found.widening

    def _up(self, j: int, generalisations: list[_Generalisation]) -> Codes:
        """The node that takes the place of each node."""
        tree = self.columns[j].tree
        up = np.arange(tree.n_nodes, dtype=np.int32)
        for found in generalisations:
            up[list(found.values)] = found.parent
            if not self.siblings:  # values that nobody has go along
                up[(tree.lo >= tree.lo[found.parent]) & (tree.hi <= tree.hi[found.parent]) & (up > found.parent)] = (
                    found.parent
                )
        return up

    def _pooled(self, j: int, up: Codes) -> tuple[Codes, Codes]:
        """The group that each group becomes part of, and one member of each."""
        labels = [up[self.label[:, i]] if i == j else self.label[:, i] for i in range(len(self.columns))]
        return distinct_rows(labels, [c.tree.n_nodes for c in self.columns])

    def _won(self, j: int, generalisations: list[_Generalisation]) -> Counts:
        """The records that each generalisation of a column frees; they concern different groups, so all at once."""
        up = self._up(j, generalisations)
        into, first = self._pooled(j, up)
        pooled = self.stats.pooled(into)
        after = up[self.label[first, j]][~self.goal.satisfied(pooled)]
        freed = np.bincount(
            up[self.label[self.violates, j]], weights=self.stats.size[self.violates], minlength=len(up)
        ) - np.bincount(after, weights=pooled.size[~self.goal.satisfied(pooled)], minlength=len(up))
        return freed[[found.parent for found in generalisations]].astype(np.int64)
