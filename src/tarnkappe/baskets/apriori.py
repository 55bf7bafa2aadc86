"""Apriori anonymisation: coarsen items until no rare set of items is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels.baskets.counting import rare_sets, recode
from tarnkappe.kernels.baskets.covering import cheapest_cover
from tarnkappe.taxonomy import Taxonomy

#: Rare sets that are looked at in one round; more of them wait for the next.
MOST = 1 << 23

#: An item that is not published.
REMOVED = -1


@dataclass(frozen=True, eq=False)
class Baskets:
    """The items of every person: person ``b`` has ``codes[starts[b]:starts[b + 1]]``, ascending and distinct.

    A code is a leaf of the taxonomy of the items.
    """

    starts: Counts
    codes: Codes

    @property
    def n(self) -> int:
        """Number of persons."""
        return len(self.starts) - 1

    @property
    def n_filled(self) -> int:
        """Persons who have an item."""
        return int((np.diff(self.starts) > 0).sum())

    def occurrences(self, n_leaves: int) -> Counts:
        """How many persons have each item."""
        return np.bincount(self.codes, minlength=n_leaves).astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Cut:
    """What stands for items now: nodes of the taxonomy that do not overlap, in the order of their leaves."""

    node: Codes
    used: Counts  # how often the items that each stands for occur in the data

    def loss(self, tree: Taxonomy) -> Floats:
        """What is lost of an item that is published as each node."""
        return ncp(tree)[self.node]


@dataclass(frozen=True, eq=False)
class _Steps:
    """What may be done to a cut: each step coarsens a run of its nodes to one node, or removes one."""

    first: Codes
    last: Codes
    cost: Floats
    to: Codes


def ncp(tree: Taxonomy) -> Floats:
    """The share of all items that each node stands for; nothing for an item itself.

    >>> ncp(Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1", "b2"]})).tolist()
    [1.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]
    """
    covered = tree.leaf_counts
    return np.where(covered > 1, covered / tree.n_leaves, 0.0)


def apriori(baskets: Baskets, tree: Taxonomy, k: int, m: int, *, generalise: bool, remove: bool) -> Codes:
    """What is published for each leaf: a node of the taxonomy above it, or `REMOVED`.

    Sets of one item are made frequent first, then sets of two, up to `m`: coarsening never makes a set rarer, so what
    was reached stays. In each round every set that is rare has at least one of its items coarsened, those first
    that settle most rare sets per loss. A set that is still rare then has an item that just rose. So there are at
    most ``m`` times the height of the tree many rounds for each size.

    >>> tree = Taxonomy.from_nested({"A": ["a1", "a2"], "B": ["b1", "b2"]})
    >>> two = Baskets(np.array([0, 2, 4]), np.array([0, 2, 1, 2], np.int32))
    >>> [tree.labels[v] for v in apriori(two, tree, 2, 2, generalise=True, remove=False)]
    ['A', 'A', 'b1', 'b2']
    """
    at = tree.leaf_nodes.copy()
    used = baskets.occurrences(tree.n_leaves)
    occurring = np.flatnonzero(used)
    number = np.full(tree.n_leaves, REMOVED, np.int32)
    number[occurring] = np.arange(len(occurring), dtype=np.int32)
    starts, codes = recode(baskets.starts, baskets.codes, number)
    cut = _Cut(tree.leaf_nodes[occurring], used[occurring])
    for size in range(1, m + 1):
        while len(rare := rare_sets(starts, codes, len(cut.node), size, k, MOST)):
            steps = _steps(cut, tree, generalise, remove)
            taken = cheapest_cover(rare, steps.first, steps.last, steps.cost, len(cut.node))
            cut, new = _risen(cut, steps, taken, tree, at)
            starts, codes = recode(starts, codes, new)
    return at


def _steps(cut: _Cut, tree: Taxonomy, generalise: bool, remove: bool) -> _Steps:
    """All single steps from a cut: to the parent of some of its nodes with all that lies below it, or away."""
    loss, n = cut.loss(tree), len(cut.node)
    lost = cut.used * loss
    first, last, cost, to = [], [], [], []
    if generalise:
        up = np.unique(tree.parent[cut.node])
        up = up[up >= 0]
        leaf = tree.lo[cut.node]
        begin, end = np.searchsorted(leaf, tree.lo[up]), np.searchsorted(leaf, tree.hi[up], side="right")
        total, before = np.append(0, np.cumsum(cut.used)), np.append(0.0, np.cumsum(lost))
        first.append(begin)
        last.append(end - 1)
        cost.append((total[end] - total[begin]) * ncp(tree)[up] - (before[end] - before[begin]))
        to.append(up)
    if remove:
        first.append(np.arange(n))
        last.append(np.arange(n))
        cost.append(cut.used - lost)
        to.append(np.full(n, REMOVED))
    whole = [np.concatenate(part).astype(np.int32) for part in (first, last, to)]
    return _Steps(whole[0], whole[1], np.maximum(np.concatenate(cost), 0.0), whole[2])


def _risen(cut: _Cut, steps: _Steps, taken: Flags, tree: Taxonomy, at: Codes) -> tuple[_Cut, Codes]:
    """The cut after some steps, and the new number of each of its nodes; what each leaf becomes is noted in `at`."""
    node = cut.node.copy()
    chosen = np.flatnonzero(taken)
    # The highest node comes last and has the last word; what is removed stays away.
    order = chosen[np.argsort(-tree.depth[steps.to[chosen]], kind="stable")]
    for s in order[steps.to[order] != REMOVED].tolist():
        node[steps.first[s] : steps.last[s] + 1] = steps.to[s]
        leaves = slice(int(tree.lo[steps.to[s]]), int(tree.hi[steps.to[s]]) + 1)
        at[leaves] = np.where(at[leaves] == REMOVED, REMOVED, steps.to[s])
    for s in order[steps.to[order] == REMOVED].tolist():
        old = cut.node[steps.first[s]]
        at[int(tree.lo[old]) : int(tree.hi[old]) + 1] = REMOVED
        node[steps.first[s]] = REMOVED
    kept = node != REMOVED
    fresh = kept.copy()
    places = np.flatnonzero(kept)
    fresh[places[1:]] = node[places[1:]] != node[places[:-1]]
    new = np.where(kept, np.cumsum(fresh) - 1, REMOVED).astype(np.int32)
    used = np.bincount(new[kept], cut.used[kept], int(fresh.sum())).astype(np.int64)
    return _Cut(node[fresh], used), new


def loss_of(baskets: Baskets, tree: Taxonomy, at: Codes) -> float:
    """The mean loss of an item that a person has (NCP): 0 is nothing, 1 is all; a removed item is lost."""
    lost = np.where(at == REMOVED, 1.0, ncp(tree)[at])
    return float(lost[baskets.codes].mean()) if len(baskets.codes) else 0.0
