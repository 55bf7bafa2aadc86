"""Bottom-Up Generalization."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.recoding import Cut, recode
from tarnkappe.algorithms.subtree.specialisation import specialised
from tarnkappe.algorithms.subtree.target import information_gain, leaf_classes, target_codes
from tarnkappe.algorithms.subtree.values import GRANULARITIES
from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.params import param
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Domain, Tally, distinct_rows

#: One of so many critical siblings goes up at a time, so that the steps do not grow with the number of values.
_MANY = 16


@dataclass(frozen=True)
class BottomUpGeneralization(Algorithm):
    r"""Start with the raw table and generalise, step by step, what costs least information per privacy won.

    .. math::

        \mathrm{ILPG}(G) = \frac{I(G)}{P(G)}, \qquad I(G) = |R_p| \, I(R_p) - \sum_c |R_c| \, I(R_c)

    for the generalisation :math:`G` of values :math:`c` to their parent :math:`p`, with the entropy :math:`I` of the
    target, and :math:`P(G)` the number of records that no longer violate the goal. Only *critical* generalisations
    are looked at: those of a value that some violating group has. If none of them frees a record, the one with the
    smallest :math:`I(G)` plus width that its records gain (as a share of their column) is carried out. Ends when no
    group violates the goal. If records may be suppressed, the best of the tables passed on the way is taken: the one
    that loses least detail, a suppressed record counting as lost entirely.

    Steps that later ones have made unnecessary are taken back: from there on the table is specialised again as long as
    the goal holds, as in Top-Down Specialization.

    `granularity` subtree generalises all children of a node at once, after everything below them. With sibling one
    child joins those that have gone up to the parent before; the first to go up is the rarest critical one, together
    with the sibling with which it loses least. The others stay as they are; of more than 32 critical ones a sixteenth
    go up at a time. A range goes up as a whole.

    O(steps · columns · groups); there are at most as many steps as nodes.

    Differs from the paper in: privacy is counted in records that violate any monotone goal, not in the size of the
    smallest group, which hardly any single step can raise, and so information is counted in records times bits;
    records may be suppressed. On the way up a range without a taxonomy has two levels, its values and the whole; when
    steps are taken back it is cut into intervals. The paper takes nothing back; the last few records then drag up
    columns that need not have been touched.

    References
    ----------
    .. [WaYC04] Wang, Yu, Chakraborty. "Bottom-up generalization: a data mining solution to privacy protection." ICDM
       2004.
    """

    name: ClassVar = "bug"
    title: ClassVar = "Bottom-Up Generalization"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Generalises value by value what predicts a target least, until the goal holds."

    target: str = param(doc="The column that readers of the release want to predict.", refers_to="predicted")
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
        ascent = self.ascent(tally, goal, classes)
        while ascent.generalise():
            pass
        for nodes in ascent.by_loss():
            cuts = [Cut.of_nodes(d, node) for d, node in zip(tally.quasi_domains, nodes, strict=True)]
            if suppress_leftovers(tally, recode(tally, cuts), goal) is not None:
                return specialised(tally, goal, classes, granularity=self.granularity, start=nodes)
        raise goal.infeasible(tally, ascent.n_violating, enough=goal.judges_groups_alone)

    def ascent(self, tally: Tally, goal: Goal, classes: tuple[Codes, int]) -> Ascent:
        """What counts the groups while they are generalised."""
        return Ascent(tally, goal, classes, siblings=self.granularity == "sibling")


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

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which nodes records are published as."""
        used: NDArray[np.bool_] = self.classes.sum(axis=1) > 0
        return used

    def move(self, up: Codes) -> None:
        """Publish every node as another one, or as itself."""
        self.node = up[self.node]
        moved = np.zeros_like(self.classes)
        np.add.at(moved, up, self.classes)
        self.classes = moved

    def generalisations(self, critical: Codes, siblings: bool) -> Iterator[_Generalisation]:
        """What may be done to values that are critical; those of different parents do not interfere."""
        used = np.flatnonzero(self.used)
        above = self.tree.parent[used[used > 0]]
        unfinished = np.zeros(self.tree.n_nodes, np.bool_)  # nodes with values below them
        while len(above := np.unique(above[above >= 0])):
            unfinished[above] = True
            above = self.tree.parent[above]
        ready = used[~unfinished[used] & (used > 0)]  # the others would leave values behind that are told apart better
        blocked = np.zeros(self.tree.n_nodes, np.bool_)
        blocked[self.tree.parent[np.flatnonzero(unfinished)[1:]]] = True
        critical = np.intersect1d(critical, ready)
        for p in np.unique(self.tree.parent[critical]):
            children = ready[self.tree.parent[ready] == p]
            if siblings and not self.tree.ranges[p]:
                yield self._fewest(children, critical, int(p))
            elif not blocked[p]:
                yield self._raised(children, int(p))

    def _raised(self, values: NDArray[np.integer], parent: int) -> _Generalisation:
        parts = [*self.classes[values], self.classes[parent]]
        loss = information_gain(*parts) * np.sum(parts)
        wider = (self.width[parent] - self.width[values]) * self.classes[values].sum(axis=1)
        return _Generalisation(tuple(int(v) for v in values), parent, float(loss), float(wider.sum()))

    def _fewest(self, children: NDArray[np.integer], critical: Codes, parent: int) -> _Generalisation:
        """The critical child that loses least beside those that have gone up before; of many, a few of them at once.

        If it is the first, the rarest critical child and the sibling with which it loses least.
        """
        asked = np.intersect1d(children, critical)
        if self.classes[parent].any() or len(children) == 1:
            return self._raised(self._most_alike(asked, parent, max(1, len(asked) // _MANY)), parent)
        rarest = asked[np.argmin(self.classes[asked].sum(axis=1))]
        return self._raised(np.append(self._most_alike(children[children != rarest], rarest), rarest), parent)

    def _most_alike(self, values: NDArray[np.integer], other: int, how_many: int = 1) -> NDArray[np.integer]:
        """Those of some values, one or more, that lose least information when they are pooled with another."""
        ours, theirs = np.broadcast_arrays(self.classes[values], self.classes[other])
        loss = information_gain(ours, theirs) * (ours + theirs).sum(axis=1)
        return values[np.argsort(loss, kind="stable")[:how_many]]


class Ascent:
    """The groups while they are generalised: their labels (nodes) and statistics, groups in the order of their labels.

    All that is counted in records is counted by `count_classes`, `count_groups` and `after`.
    """

    def __init__(self, tally: Tally, goal: Goal, classes: tuple[Codes, int], *, siblings: bool) -> None:
        self.tally = tally
        self.goal = goal
        self.siblings = siblings
        self.columns = [
            _ColumnState(d, counts) for d, counts in zip(tally.quasi_domains, self.count_classes(*classes), strict=True)
        ]
        self.label, self.stats = self.count_groups()
        self.violates = ~goal.satisfied(self.stats)
        self.budget = goal.budget(tally.n_records)
        #: What was passed on the way and needs no more suppression than allowed: its loss, and the nodes of all leaves.
        self.passed: list[tuple[float, list[Codes]]] = []
        self._pass()

    def count_classes(self, classes: Codes, n_classes: int) -> list[Counts]:
        """Per column, how many records of each class every leaf has."""
        return [
            leaf_classes(self.tally.quasi[:, j], d.size, classes, n_classes, self.tally.count)
            for j, d in enumerate(self.tally.quasi_domains)
        ]

    def count_groups(self) -> tuple[Codes, GroupStats]:
        """Labels and statistics of the groups of the raw table."""
        grouping = recode(self.tally, [Cut.of_nodes(c.domain, c.node) for c in self.columns])
        assert grouping.fixed is not None
        tables = self.goal.table_distributions(self.tally)
        return grouping.fixed.node, self.goal.stats(self.tally, grouping, tables)

    def after(self, j: int, up: Codes) -> tuple[Codes, GroupStats]:
        """Labels and statistics of the groups after nodes of a column have gone up."""
        label = self.label.copy()
        label[:, j] = up[label[:, j]]
        into, first = distinct_rows(list(label.T), [c.tree.n_nodes for c in self.columns])
        return label[first], self.stats.pooled(into)

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

        Those of values that violating groups have are looked at. Others only if there is none, because in every column
        the values of these groups are at the top or wait until deeper siblings have come up.
        """
        if not self.violates.any():
            return False
        options = self._options(self.violates) or self._options(np.ones_like(self.violates))
        if not options:
            return False
        rated = [
            (self._rate(found, won), j, found)
            for j, generalisations in options
            for found, won in zip(generalisations, self._won(j, generalisations), strict=True)
        ]
        _, j, best = min(rated, key=lambda entry: entry[0])
        up = self._up(j, [best])
        self.label, self.stats = self.after(j, up)
        self.columns[j].move(up)
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
        tree, used = self.columns[j].tree, self.columns[j].used
        up = np.arange(tree.n_nodes, dtype=np.int32)
        for found in generalisations:
            up[list(found.values)] = found.parent
            end = np.searchsorted(tree.lo, tree.hi[found.parent], side="right")  # nodes are numbered depth-first
            if used[found.parent + 1 : end].sum() == len(found.values):  # all go up: values that nobody has go along
                up[found.parent : end] = found.parent
        return up

    def _won(self, j: int, generalisations: list[_Generalisation]) -> Counts:
        """The records that each generalisation of a column frees; they concern different groups, so all at once."""
        up = self._up(j, generalisations)
        label, pooled = self.after(j, up)
        still = ~self.goal.satisfied(pooled)
        gone_up, n = up[self.label[self.violates, j]], len(up)
        before = np.bincount(gone_up, weights=self.stats.size[self.violates], minlength=n)
        after = np.bincount(label[still, j], weights=pooled.size[still], minlength=n)
        return (before - after)[[found.parent for found in generalisations]].astype(np.int64)
