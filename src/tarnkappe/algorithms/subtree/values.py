"""The values on the cut of one column, and the ways in which each may be specialised."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.algorithms.subtree.target import information_gain
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.subtree.specialising import ANYWHERE, CLOSED, SINGLY, TOGETHER
from tarnkappe.tally import Domain
from tarnkappe.taxonomy.tree import Taxonomy

#: What may happen to a node: all its children are told apart at once, or one from the others.
GRANULARITIES = ("subtree", "sibling")

#: What may happen to a column without its taxonomy: one value is told from the others.
VALUE = "value"


def children_of(tree: Taxonomy) -> list[list[int]]:
    """The children of every node."""
    children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for v in range(1, tree.n_nodes):
        children[tree.parent[v]].append(v)
    return children


@dataclass(frozen=True, eq=False)
class Value:
    """Leaves that are published alike, as ``lo .. hi`` inside `node`, and how they may be told apart (see the kernel).

    Candidate ``i`` is known by the leaf ``candidates[i]``, gains ``gain[i]`` bits of information about the target by
    itself, and wins ``detail[i]`` of the column's width per record. `parts` are the intervals of leaves that `TOGETHER`
    and `SINGLY` speak of.
    """

    node: int
    lo: int
    hi: int
    leaves: Codes
    mode: int = CLOSED
    parts: tuple[tuple[int, int], ...] = ()
    candidates: Codes = field(default_factory=lambda: np.zeros(0, np.int32))
    gain: Floats = field(default_factory=lambda: np.zeros(0))
    detail: Floats = field(default_factory=lambda: np.zeros(0))


class ColumnCut:
    """One column while it is specialised: which value each leaf has, and what comes next.

    `classes` counts the records of each leaf and class.
    """

    def __init__(self, domain: Domain, classes: Counts, granularity: str) -> None:
        self.domain = domain
        self.granularity = granularity
        self._classes = classes
        self._records = classes.sum(axis=1)
        self._n = max(int(self._records.sum()), 1)
        self._children = children_of(domain.taxonomy)

    def first(self, node: Codes | None = None) -> list[Value]:
        """The cut that publishes each leaf as some node, by default as the root."""
        tree = self.domain.taxonomy
        node = np.zeros(self.domain.size, np.int32) if node is None else node
        return [
            value
            for v in np.unique(node)
            for value in self._opened(
                int(v), int(tree.lo[v]), int(tree.hi[v]), np.flatnonzero(node == v).astype(np.int32)
            )
        ]

    def specialise(self, value: Value, candidate: int) -> list[Value]:
        """What takes the place of a value."""
        tree = self.domain.taxonomy
        if value.mode == ANYWHERE:
            halves = (value.lo, candidate), (candidate + 1, value.hi)
            return [v for a, b in halves for v in self._opened(value.node, a, b, np.arange(a, b + 1, dtype=np.int32))]
        taken = value.parts if value.mode == TOGETHER else [p for p in value.parts if p[0] == candidate]
        out: list[Value] = []
        rest = value.leaves
        for a, b in taken:
            inside = (rest >= a) & (rest <= b)
            out += self._opened(int(tree.lca(a, b)), a, b, rest[inside])
            rest = rest[~inside]
        if len(rest):
            out += self._opened(value.node, value.lo, value.hi, rest)
        return out

    def _opened(self, node: int, lo: int, hi: int, leaves: Codes) -> Iterator[Value]:
        """The values that stand for some leaves under a node: one, or more where telling them apart costs nothing.

        If only one child has records, all groups stay as they are when the child takes its parent's place.
        """
        tree = self.domain.taxonomy
        filled = leaves[self._records[leaves] > 0]
        if (tree.ranges[node] or self.granularity == VALUE) and len(filled) > 1:
            yield self._range(node, lo, hi, leaves)
            return
        while len(filled) and self._children[node]:
            holding = [c for c in self._children[node] if tree.lo[c] <= filled[-1] and filled[0] <= tree.hi[c]]
            holding = [c for c in holding if np.any((filled >= tree.lo[c]) & (filled <= tree.hi[c]))]
            if len(holding) > 1:
                yield self._tree(node, leaves, holding)
                return
            child = holding[0]
            inside = (leaves >= tree.lo[child]) & (leaves <= tree.hi[child])
            if not inside.all():  # nobody has these
                yield Value(node, lo, hi, leaves[~inside])
            leaves, node, lo, hi = leaves[inside], child, int(tree.lo[child]), int(tree.hi[child])
            if tree.ranges[node] and len(filled) > 1:
                yield self._range(node, lo, hi, leaves)
                return
        yield Value(node, lo, hi, leaves)

    def _tree(self, node: int, leaves: Codes, children: list[int]) -> Value:
        """A node whose children are told apart."""
        tree = self.domain.taxonomy
        parts = tuple((int(tree.lo[c]), int(tree.hi[c])) for c in children)
        return self._parted(node, int(tree.lo[node]), int(tree.hi[node]), leaves, parts, self.granularity == "sibling")

    def _range(self, node: int, lo: int, hi: int, leaves: Codes) -> Value:
        """An interval of a range, or what is left of a column whose values are told apart singly."""
        if self.granularity == VALUE or len(leaves) <= hi - lo:
            filled = leaves[self._records[leaves] > 0]
            parts = tuple((int(leaf), int(leaf)) for leaf in filled)
            return self._parted(node, lo, hi, leaves, parts, singly=True)
        below = np.cumsum(self._classes[lo : hi + 1], axis=0)
        left, right = below[:-1], below[-1] - below[:-1]
        n_left, n_right = left.sum(axis=1), right.sum(axis=1)
        useful = np.flatnonzero((n_left > 0) & (self._records[lo:hi] > 0) & (n_right > 0))
        gain = information_gain(left[useful], right[useful])
        cuts = (useful + lo).astype(np.int32)
        width = n_left[useful] * (hi - cuts) + n_right[useful] * (cuts + 1 - lo)
        return Value(node, lo, hi, leaves, ANYWHERE, (), cuts, gain, self._detail(width))

    def _parted(
        self, node: int, lo: int, hi: int, leaves: Codes, parts: tuple[tuple[int, int], ...], singly: bool
    ) -> Value:
        counts = np.array([self._classes[a : b + 1].sum(axis=0) for a, b in parts])
        widths = np.array([b - a for a, b in parts])
        won = counts.sum(axis=1) * (len(leaves) - 1 - widths)
        if not singly:
            gain = np.array([information_gain(*counts)])
            first = np.array([leaves[0]], np.int32)
            return Value(node, lo, hi, leaves, TOGETHER, parts, first, gain, self._detail(won.sum()[None]))
        gain = information_gain(counts, counts.sum(axis=0) - counts)
        candidates = np.array([a for a, _ in parts], np.int32)
        return Value(node, lo, hi, leaves, SINGLY, parts, candidates, gain, self._detail(won))

    def _detail(self, won: Counts) -> Floats:
        """Leaves that records no longer share with others, as a share of the column's width, times its weight."""
        detail: Floats = won / (self._n * max(self.domain.size - 1, 1)) * self.domain.weight
        return detail

    def cut(self, values: list[Value]) -> Cut:
        """How the column is recoded by these values, which together have every leaf."""
        part = np.empty(self.domain.size, np.int32)
        for i, value in enumerate(values):
            part[value.leaves] = i
        lo, hi, node = (np.array([getattr(v, name) for v in values], np.int32) for name in ("lo", "hi", "node"))
        return Cut(part, lo, hi, node)
