"""Sequential trees: each column is drawn from people who are alike in the columns before it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from tarnkappe.arrays import Bytes, Codes, Counts, Floats
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.kernels.synthetic.trees import follow, grow, prune
from tarnkappe.synthetic.domains import Coded
from tarnkappe.synthetic.model import Copied

#: Leaves of one tree; more would cost time and memory, and say little.
_MOST_LEAVES = 4096


@dataclass(frozen=True, eq=False)
class Tree:
    """The tree of one column: nodes with the column they ask about, and the people of every leaf."""

    feature: Codes
    goes_left: Bytes
    child: Codes
    begin: Counts
    end: Counts
    #: The target's codes of all people, leaf by leaf.
    pool: Codes

    @cached_property
    def leaves(self) -> Counts:
        """The nodes that are leaves; what was pruned lies below them and is not reached."""
        reached = np.zeros(len(self.child), np.bool_)
        reached[0] = True
        for v in np.flatnonzero(self.child):  # children come after their parents
            reached[[self.child[v], self.child[v] + 1]] = reached[v]
        return np.flatnonzero(reached & (self.child == 0))

    def leaves_of(self, codes: Codes) -> Codes:
        """The leaf of every record, by the columns before the tree's own."""
        leaves: Codes = follow(codes, self.feature, self.goes_left, self.child)
        return leaves

    def draw(self, codes: Codes, rng: np.random.Generator) -> Codes:
        """A value for every record: that of somebody at random among those in its leaf."""
        leaf = self.leaves_of(codes)
        size = self.end[leaf] - self.begin[leaf]
        drawn: Codes = self.pool[self.begin[leaf] + rng.integers(0, size)]
        return drawn


@dataclass(frozen=True, eq=False)
class Trees(Copied):
    """A tree for each column.

    References
    ----------
    .. [Reit05] Reiter. "Using CART to generate partially synthetic public use microdata." J. Official Statistics 2005.
    .. [NoRD16] Nowok, Raab, Dibben. "synthpop: bespoke creation of synthetic data in R." J. Stat. Software 2016.
    Differs from synthpop in: no leaf holds fewer than k people, values that fewer than k people have are pooled,
    numbers are drawn anew within an interval that k people share, and a record that fewer than k people have is never
    drawn.
    """

    k: int
    n: int
    trees: tuple[Tree, ...]

    promise: ClassVar = "leaf-size"
    title: ClassVar = "sequential trees"
    attacker: ClassVar = "somebody who looks for records of the data among the published ones."
    card: ClassVar = Card(
        protects_from="being copied: every value is drawn from k people or more, and no record is that of fewer.",
        does_not="hide whether somebody is in the data: who is rare may leave a trace that can be found.",
        typical="k = 10 or more; numbers in 20 to 50 intervals.",
        cost="little: most relations between columns stay.",
    )

    @property
    def usual_records(self) -> int:
        """As many as there are people."""
        return self.n

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Column by column."""
        made = np.zeros((n, len(self.domains)), np.int32)
        for j, tree in enumerate(self.trees):
            made[:, j] = tree.draw(made, rng)
        return made

    def sentence(self) -> str:
        """What was counted."""
        return f"every value was drawn from at least {self.k} people, and no record is that of fewer than {self.k}."

    def smallest_leaf(self, people: Codes) -> int:
        """The fewest people in a leaf, counted anew by sending everybody down every tree."""
        least = len(people)
        for j, tree in enumerate(self.trees):
            sizes = np.bincount(tree.leaves_of(people), minlength=len(tree.child))
            held = tree.end - tree.begin
            pooled = np.array_equal(np.sort(tree.pool), np.sort(people[:, j]))
            least = min(least, int(np.minimum(sizes, held)[tree.leaves].min())) if pooled else 0
        return least

    def check(self, people: Codes, written: Codes) -> Found:
        """Leaves are counted anew, and written records compared with those of people."""
        least = self.smallest_leaf(people)
        asked = f"records behind every value ≥ {self.k}"
        leaves = Verdict(self.promise, None, asked, float(least), least >= self.k, int(least < self.k))
        return Found((leaves, self.copy_verdict(people, written)))

    def facts(self) -> dict[str, Any]:
        """How large the trees are."""
        return {"leaves": {d.name: len(t.leaves) for d, t in zip(self.domains, self.trees, strict=True)}}


def fit_trees(people: Codes, domains: tuple[Coded, ...], k: int, pruning: float) -> Trees:
    """Grow a tree for each column on those before it, and cut off splits that say little."""
    n = len(people)
    least = max(k, -(-n // _MOST_LEAVES))
    sizes = np.array([d.size for d in domains], np.int32)
    ordered = np.array([d.ordered for d in domains], np.bool_)
    trees = []
    for j in range(len(domains)):
        most = 2 * max(n // least, 1) + 1
        feature, child = np.zeros(most, np.int32), np.zeros(most, np.int32)
        goes_left = np.zeros((most, int(sizes[:j].max(initial=1))), np.uint8)
        begin, end = np.zeros(most, np.int64), np.zeros(most, np.int64)
        disorder: Floats = np.zeros(most)
        order: Counts = np.arange(n)
        target = np.ascontiguousarray(people[:, j])
        args = (people, j, target, int(sizes[j]), bool(ordered[j]), sizes, ordered, least, order)
        nodes = int(grow(*args, feature, goes_left, child, begin, end, disorder))
        prune(child, disorder, nodes, pruning * disorder[0])
        kept = slice(0, nodes)
        trees.append(Tree(feature[kept], goes_left[kept], child[kept], begin[kept], end[kept], target[order]))
    return Trees(domains, k, n, tuple(trees))
