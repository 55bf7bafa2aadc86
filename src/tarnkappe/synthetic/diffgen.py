"""DiffGen: values are specialised step by step by noisy choices, and the groups that come out counted with noise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.codebook import Entry
from tarnkappe.errors import JobError
from tarnkappe.fixes import Fix
from tarnkappe.mechanisms import choose, geometric_noise
from tarnkappe.synthetic.domains import Coded, Names, Numbers
from tarnkappe.synthetic.private import Private, chosen, pure, without_negatives
from tarnkappe.taxonomy import ANY
from tarnkappe.taxonomy.labels import number_label

#: Groups that may come out; a specialisation that gives more is no candidate.
_MOST_GROUPS = 2_000_000


@dataclass(frozen=True)
class Node:
    """Neighbouring codes of a column that are published under one label; `tree` is the node of its taxonomy, or -1."""

    first: int
    last: int
    label: str | None
    tree: int = -1
    #: For numbers, the last code of the lower half when the node is split; -1 if it cannot be.
    split: int = -1


@dataclass(frozen=True, eq=False)
class Cut:
    """The nodes of one column that stand for all its codes, in their order."""

    domain: Coded
    nodes: tuple[Node, ...]

    @classmethod
    def whole(cls, domain: Coded) -> Cut:
        """One node for everything, the empty cell too."""
        return cls(domain, (Node(0, domain.size - 1, ANY, 0 if domain.tree is not None else -1),))

    @property
    def filled(self) -> int:
        """How many codes there are but for the empty cell, which is the last."""
        return self.domain.size - (self.domain.missing >= 0)

    @cached_property
    def of(self) -> Codes:
        """The node of every code."""
        sizes = [node.last - node.first + 1 for node in self.nodes]
        return np.repeat(np.arange(len(self.nodes), dtype=np.int32), sizes)

    def parts(self, node: Node) -> tuple[Node, ...]:
        """What a node is specialised to; nothing if it cannot be."""
        last = min(node.last, self.filled - 1)
        empty = (Node(self.filled, node.last, None),) if node.last > last else ()
        if last < node.first or (last == node.first and not empty):
            return ()
        return (*self._below(node, last), *empty)

    def _below(self, node: Node, last: int) -> tuple[Node, ...]:
        domain = self.domain
        if isinstance(domain, Numbers):
            if node.split < 0:
                return (self._numbers(node.first, last),)
            return self._numbers(node.first, node.split), self._numbers(node.split + 1, last)
        assert isinstance(domain, Names)
        if node.tree < 0 or domain.taxonomy is None:
            return tuple(Node(c, c, domain.texts[c]) for c in range(node.first, last + 1))
        tree = domain.taxonomy
        below = np.flatnonzero(tree.parent == node.tree)
        below = below[below != node.tree]
        return tuple(Node(int(tree.lo[v]), int(tree.hi[v]), tree.labels[v], int(v)) for v in below)

    def _numbers(self, first: int, last: int) -> Node:
        assert isinstance(self.domain, Numbers)
        low, high = (number_label(x) for x in self.domain.bounds(first, last))
        return Node(first, last, low if low == high else f"[{low} {high}]")

    def replaced(self, node: Node, by: tuple[Node, ...]) -> Cut:
        """The cut with a node specialised, or given another split."""
        at = self.nodes.index(node)
        return Cut(self.domain, (*self.nodes[:at], *by, *self.nodes[at + 1 :]))


@dataclass(frozen=True, eq=False)
class DiffGen(Private):
    r"""A generalised table: groups that noisy choices led to, each as often as its noisy count says.

    With :math:`h` steps and :math:`|A_n|` columns of numbers every choice costs :math:`\varepsilon' = \varepsilon /
    2(|A_n| + 2h)`; the counts of groups cost the other half of :math:`\varepsilon`. A specialisation is scored by how
    many records have the commonest class of their part (Max), which one record changes by at most 1. Groups that
    nobody is in are counted too.

    Differs from the paper in: noise is geometric, splits of numbers lie between declared intervals, and negative counts
    are taken off the others, so that there are not more people the more groups there are.

    References
    ----------
    .. [MCFY11] Mohammed, Chen, Fung, Yu. "Differentially private data release for data mining." KDD 2011.
    """

    cuts: tuple[Cut, ...]
    #: How many people are in each group, a dimension for each column.
    counts: Floats

    @property
    def usual_records(self) -> int:
        """The noisy number of people."""
        return max(1, round(float(self.counts.sum())))

    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Each group as often as its count says, what is left of a whole record by lot."""
        flat = self.counts.ravel()
        expected = flat * (n / flat.sum())
        times = np.floor(expected).astype(np.int64)
        left = n - int(times.sum())
        if left > 0:
            rest = expected - times
            np.add.at(times, rng.choice(len(flat), left, p=rest / rest.sum()), 1)
        groups = rng.permutation(np.repeat(np.arange(len(flat)), times))
        return np.column_stack(np.unravel_index(groups, self.counts.shape)).astype(np.int32)

    def view(self, people: Codes) -> Codes:
        """The codes of people as codes of groups, to compare them."""
        return np.column_stack([cut.of[people[:, j]] for j, cut in enumerate(self.cuts)])

    def codebook(self) -> tuple[Entry, ...]:
        """What every label covers, by the declaration of its column."""
        out = []
        for cut in self.cuts:
            for node in cut.nodes:
                alone = node.first == node.last
                itself = alone and isinstance(cut.domain, Names)  # the least that is told of numbers is an interval
                words = "Missing, or not a declared value." if node.label is None else "The value itself."
                if node.label is not None and not itself:
                    words = "Any value." if node.label == ANY else "A value of this group, or in this range."
                out.append(Entry(cut.domain.name, "quasi", node.label or "", words))
        return tuple(out)


def labels_of(cut: Cut) -> Names:
    """A cut as a domain of its labels."""
    texts = tuple(node.label for node in cut.nodes if node.label is not None)
    missing = len(texts) if len(texts) < len(cut.nodes) else -1
    return Names(cut.domain.name, missing, texts, missing if missing >= 0 else 0)


def fit_diffgen(
    people: Codes, domains: tuple[Coded, ...], epsilon: float, target: str, steps: int, rng: np.random.Generator
) -> DiffGen:
    """Specialise `steps` times, then count."""
    names = [d.name for d in domains]
    if target not in names or isinstance(domains[names.index(target)], Numbers):
        raise JobError(
            "E105",
            f"'{target}', by which people are classified, must be a column of names",
            hint=Fix(f"columns: {{{target}: {{values: [yes, no]}}}}", f'columns={{"{target}": ["yes", "no"]}}'),
        )
    goal = names.index(target)
    numeric = [j for j, d in enumerate(domains) if isinstance(d, Numbers)]
    each = epsilon / (2 * (len(numeric) + 2 * steps))
    by_class = [class_counts(people[:, j], people[:, goal], d.size, domains[goal].size) for j, d in enumerate(domains)]
    cuts = {j: Cut.whole(d) for j, d in enumerate(domains) if j != goal}
    for j in numeric:
        root = cuts[j].nodes[0]
        cuts[j] = cuts[j].replaced(root, (with_split(cuts[j], root, by_class[j], each, rng),))
    for _ in range(steps):
        candidates = _candidates(cuts, domains[goal].size)
        if not candidates:
            break
        scores = np.array([score(by_class[j], parts) for j, _, parts in candidates], np.int64)
        j, node, parts = candidates[choose(scores, each, 1, rng)]
        if j in numeric:  # both halves at the price of one: no record is in both
            parts = tuple(with_split(cuts[j], part, by_class[j], each, rng) for part in parts)
        cuts[j] = cuts[j].replaced(node, parts)
    own = Cut(domains[goal], tuple(_single(domains[goal])))
    final = tuple(cuts.get(j, own) for j in range(len(domains)))
    shape = tuple(len(cut.nodes) for cut in final)
    flat = np.ravel_multi_index([cut.of[people[:, j]] for j, cut in enumerate(final)], shape)
    cells = int(np.prod(shape))
    noisy = np.bincount(flat, minlength=cells) + geometric_noise(epsilon / 2, 1, rng, cells)
    counts = without_negatives(noisy.astype(np.float64), max(1.0, float(noisy.sum()))).reshape(shape)
    steps_taken = (
        chosen("splits of numbers at the beginning", each, len(numeric)),
        chosen("choices of a specialisation", each, steps),
        chosen("splits of numbers later on", each, steps),
        pure("counts of groups", epsilon / 2),
    )
    ledger = tuple(s for s in steps_taken if s.epsilon)
    return DiffGen(tuple(labels_of(cut) for cut in final), epsilon, 0.0, ledger, final, counts)


def class_counts(codes: Codes, classes: Codes, size: int, n_classes: int) -> Counts:
    """How many records have each code and each class."""
    flat = codes.astype(np.int64) * n_classes + classes
    counts: Counts = np.bincount(flat, minlength=size * n_classes).reshape(size, n_classes)
    return counts


def score(counts: Counts, parts: tuple[Node, ...]) -> int:
    """How many records have the commonest class of their part."""
    return sum(int(counts[part.first : part.last + 1].sum(axis=0).max()) for part in parts)


def with_split(cut: Cut, node: Node, counts: Counts, epsilon: float, rng: np.random.Generator) -> Node:
    """The node of numbers with a place where it would be split, chosen by the exponential mechanism."""
    last = min(node.last, cut.filled - 1)
    if node.label is None or last <= node.first:
        return node
    up = np.cumsum(counts[node.first : last + 1], axis=0)
    scores = up[:-1].max(axis=1) + (up[-1] - up[:-1]).max(axis=1)
    return replace(node, split=node.first + choose(scores, epsilon, 1, rng))


def _candidates(cuts: dict[int, Cut], n_classes: int) -> list[tuple[int, Node, tuple[Node, ...]]]:
    """Every node that can be specialised without making too many groups."""
    groups = n_classes * int(np.prod([len(cut.nodes) for cut in cuts.values()]))
    out = []
    for j, cut in cuts.items():
        for node in cut.nodes:
            parts = cut.parts(node)
            if parts and groups // len(cut.nodes) * (len(cut.nodes) + len(parts) - 1) <= _MOST_GROUPS:
                out.append((j, node, parts))
    return out


def _single(domain: Coded) -> list[Node]:
    """Every value as a node of its own."""
    assert isinstance(domain, Names)
    return [Node(c, c, domain.texts[c] if c < len(domain.texts) else None) for c in range(domain.size)]
