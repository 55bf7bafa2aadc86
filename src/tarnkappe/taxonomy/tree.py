"""The taxonomy: a tree of values as integer arrays, in which every node covers one interval of leaves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy.labels import scalar_text
from tarnkappe.taxonomy.nested import Entry, flatten, plain_container, unfold_plain

#: The label of a value about which nothing is said any more.
ANY = "*"


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A tree of values; leaves are numbered depth-first, so node ``v`` covers the leaves ``lo[v] .. hi[v]``.

    Nodes are numbered depth-first too: the root is node 0 and a parent comes before its children. The lowest
    node that covers a set of leaves depends only on its smallest and largest leaf: that makes a group a box.

    A node may be a *range* (`ranges`): its leaves are ordered, and any interval of them may be published as
    ``[first last]`` instead of the node's own label. A numeric column without a taxonomy is one range.

    >>> sex = Taxonomy.from_nested({"Person": ["female", "male"]})
    >>> sex.leaves
    ('female', 'male')
    >>> sex.labels[int(sex.lca(0, 1))]
    'Person'
    """

    labels: tuple[str, ...]
    parent: Codes
    lo: Codes
    hi: Codes
    depth: Codes
    ranges: NDArray[np.bool_]

    @classmethod
    def from_parents(cls, labels: Sequence[str], parents: Sequence[int], ranges: Iterable[int] = ()) -> Taxonomy:
        """Build from one parent index per node (-1 for the root); children keep their order.

        >>> Taxonomy.from_parents(["*", "a", "b"], [-1, 0, 0]).leaves
        ('a', 'b')
        """
        n = len(labels)
        children: list[list[int]] = [[] for _ in range(n)]
        roots = []
        for node, up in enumerate(parents):
            if up < 0:
                roots.append(node)
            else:
                children[up].append(node)
        if len(roots) != 1:
            raise TaxonomyError("E201", f"a taxonomy needs one root, found {len(roots)}")
        order: list[int] = []
        lo: list[int] = []
        depth: list[int] = []
        leaves = 0
        stack = [(roots[0], 0)]
        while stack:
            node, d = stack.pop()
            order.append(node)
            depth.append(d)
            lo.append(leaves)
            if not children[node]:
                leaves += 1
            stack.extend((child, d + 1) for child in reversed(children[node]))
        if len(order) != n:
            lost = _in_cycle(labels, parents, order)
            raise TaxonomyError("E201", f"the taxonomy has a cycle: '{lost}' is its own ancestor")
        position = [0] * n
        for i, node in enumerate(order):
            position[node] = i
        parent = [position[parents[node]] if parents[node] >= 0 else -1 for node in order]
        hi = list(lo)
        for i in range(n - 1, 0, -1):  # children come after their parent
            hi[parent[i]] = max(hi[parent[i]], hi[i])
        flags = np.zeros(n, np.bool_)
        flags[[position[r] for r in ranges]] = True
        made = cls(
            labels=tuple(labels[node] for node in order),
            parent=np.array(parent, np.int32),
            lo=np.array(lo, np.int32),
            hi=np.array(hi, np.int32),
            depth=np.array(depth, np.int32),
            ranges=flags,
        )
        for array in (made.parent, made.lo, made.hi, made.depth, made.ranges):
            array.flags.writeable = False
        made._require_clear_labels()
        return made

    @classmethod
    def from_nested(cls, tree: Mapping[str, Any] | Sequence[Any], root: str = ANY) -> Taxonomy:
        """Build from nested mappings and lists, as written in a job file.

        >>> t = Taxonomy.from_nested({"Married": ["civil", "church"], "Single": ["never", "widowed"]})
        >>> t.labels
        ('*', 'Married', 'civil', 'church', 'Single', 'never', 'widowed')
        """
        top: Any = tree
        if isinstance(tree, Mapping) and len(tree) == 1:
            ((key, top),) = tree.items()
            root = scalar_text(key)
        top = plain_container(top)
        if not top:
            raise TaxonomyError("E202", "the taxonomy is empty", hint="Give at least one value.")
        return cls.from_parents(*flatten(Entry(root, top), unfold_plain))

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]]) -> Taxonomy:
        """Build from one path per leaf, from the leaf up to the root (the rows of an ARX hierarchy file).

        All paths have the same length. If they do not end in one common label, a root ``*`` is added. A leaf
        whose first levels repeat its label (``Europe;Europe;*``) is one node: the layout pads a short path so.

        >>> Taxonomy.from_paths([("20246", "2024*", "2****"), ("22765", "2276*", "2****")]).labels
        ('2****', '2024*', '20246', '2276*', '22765')
        """
        rows = [tuple(p) for p in paths]
        if not rows:
            raise TaxonomyError("E202", "the taxonomy is empty", hint="Give at least one value.")
        if len({len(row) for row in rows}) > 1:
            raise TaxonomyError("E201", "the paths of a taxonomy differ in length", hint="Fill the short ones up.")
        if len({row[-1] for row in rows}) > 1 or len(rows[0]) == 1:
            rows = [(*row, ANY) for row in rows]
        labels: list[str] = []
        parents: list[int] = []
        height = len(rows[0]) - 1
        seen: list[dict[str, int]] = [{} for _ in range(height + 1)]
        leaves: list[int] = []
        for row in rows:
            up = -1
            for level in range(height, -1, -1):
                node = seen[level].get(row[level], -1)
                if node < 0:
                    node = seen[level][row[level]] = len(labels)
                    labels.append(row[level])
                    parents.append(up)
                elif parents[node] != up:
                    raise TaxonomyError(
                        "E201",
                        f"'{row[level]}' has two parents: '{labels[parents[node]]}' and '{labels[up]}'",
                        hint="Give the two values different names, or the same parent.",
                    )
                elif level == 0:
                    raise TaxonomyError("E201", f"'{row[0]}' stands twice", hint="Remove one of the rows.")
                up = node
            leaves.append(up)
        return cls.from_parents(*_without_padding(labels, parents, leaves))

    @classmethod
    def scale(cls, leaves: Sequence[str], label: str = ANY) -> Taxonomy:
        """An ordered domain without inner nodes: groups publish intervals ``[first last]`` of it.

        >>> bool(Taxonomy.scale(["low", "middle", "high"]).ranges[0])
        True
        """
        return cls.from_parents([label, *leaves], [-1] + [0] * len(leaves), ranges=[0])

    def with_missing(self, label: str) -> Taxonomy:
        """The same taxonomy with one more leaf, the last, for a missing value: a child of the root.

        >>> Taxonomy.from_nested(["a", "b"]).with_missing("?").leaves
        ('a', 'b', '?')
        """
        labels, parents = list(self.labels), [int(p) for p in self.parent]
        ranges = [int(r) for r in np.flatnonzero(self.ranges)]
        if self.ranges[0] or self.n_nodes == 1:  # a missing value is not on the scale: a new root holds both
            labels, parents = [ANY, *labels], [-1, *(p + 1 for p in parents)]
            ranges = [r + 1 for r in ranges]
        return Taxonomy.from_parents([*labels, label], [*parents, 0], ranges)

    def raised(self, level: int) -> tuple[Taxonomy, Codes]:
        """The tree without what lies below a level, and the leaf of it that stands for each leaf of this one.

        >>> zips = Taxonomy.from_paths([("20246", "20***", "*"), ("20357", "20***", "*"), ("8001", "80***", "*")])
        >>> tree, leaf = zips.raised(1)
        >>> tree.leaves, leaf.tolist()
        (('20***', '80***'), [0, 0, 1])
        """
        lowest, leaf = np.unique(self.ancestors[level], return_inverse=True)
        kept = np.zeros(self.n_nodes, np.bool_)
        kept[lowest] = True
        for v in range(self.n_nodes - 1, 0, -1):  # children come after their parent
            kept[self.parent[v]] |= kept[v]
        number = np.cumsum(kept) - 1
        nodes = np.flatnonzero(kept)
        parents = [int(number[up]) if up >= 0 else -1 for up in self.parent[nodes]]
        open_ranges = self.ranges.copy()
        open_ranges[lowest] = False  # a leaf is published as it is called
        ranges = number[np.flatnonzero(kept & open_ranges)].tolist()
        return Taxonomy.from_parents([self.labels[v] for v in nodes], parents, ranges), leaf.astype(np.int32)

    def _require_clear_labels(self) -> None:
        """Refuse a label that stands for unrelated nodes; a node may only repeat the label of an ancestor.

        Two leaves are always unrelated, so their labels, the values of the column, are distinct.
        """
        if len(set(self.labels)) == self.n_nodes:
            return
        last: dict[str, int] = {}
        for node, label in enumerate(self.labels):
            earlier = last.get(label, -1)
            last[label] = node
            # Nodes are numbered depth-first: an earlier node that reaches this one's leaves is an ancestor.
            if earlier < 0 or self.hi[earlier] >= self.lo[node]:
                continue
            one, two = (self.labels[self.parent[v]] for v in (earlier, node))
            what = "stands twice in the taxonomy" if one == two else f"has two parents: '{one}' and '{two}'"
            raise TaxonomyError(
                "E201", f"'{label}' {what}", hint="Remove one of the two, or give them different names."
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Taxonomy):
            return NotImplemented
        return (
            self.labels == other.labels
            and np.array_equal(self.parent, other.parent)
            and np.array_equal(self.ranges, other.ranges)
        )

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        return f"<Taxonomy '{self.labels[0]}': {self.n_leaves} leaves, {self.height + 1} levels>"

    @property
    def n_nodes(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.labels)

    @cached_property
    def leaf_nodes(self) -> Codes:
        """The node of each leaf."""
        has_child = np.zeros(self.n_nodes, np.bool_)
        has_child[self.parent[1:]] = True
        return np.flatnonzero(~has_child).astype(np.int32)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaf_nodes)

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """The labels of the leaves, in leaf order."""
        return tuple(self.labels[v] for v in self.leaf_nodes)

    @cached_property
    def height(self) -> int:
        """Steps from the deepest leaf to the root."""
        return int(self.depth.max())

    @cached_property
    def node_heights(self) -> Codes:
        """For each node, the steps down to its deepest leaf."""
        out = np.zeros(self.n_nodes, np.int32)
        for v in range(self.n_nodes - 1, 0, -1):
            up = self.parent[v]
            out[up] = max(out[up], out[v] + 1)
        return out

    @cached_property
    def ancestors(self) -> Codes:
        """``ancestors[level, leaf]``: the node that stands for a leaf at a generalisation level.

        Level 0 is the leaf itself, level `height` the root. In a ragged tree a leaf stays itself until the
        level of its parent is reached: level ``j`` holds nodes of depth at most ``height - j``.
        """
        out = np.empty((self.height + 1, self.n_leaves), np.int32)
        out[0] = self.leaf_nodes
        for level in range(1, self.height + 1):
            below = out[level - 1]
            too_deep = self.depth[below] > self.height - level
            out[level] = np.where(too_deep, self.parent[below], below)
        return out

    @cached_property
    def splits(self) -> tuple[Codes, Codes]:
        """For each pair of neighbouring leaves ``i-1, i``: depth and number of their lowest common ancestor.

        Entry 0 belongs to no pair. These two arrays are all that kernels need of a tree: the lowest common
        ancestor of the leaves ``lo..hi`` is that of the shallowest split in ``lo+1..hi``.
        """
        # Of the nodes that begin with leaf i the topmost is no first child: its parent spans i-1 and i.
        node = np.zeros(self.n_leaves, np.int32)
        up = self.parent[1:]
        later = self.lo[1:] > self.lo[up]
        node[self.lo[1:][later]] = up[later]
        return self.depth[node], node

    @cached_property
    def split_minima(self) -> Codes:
        """Sparse table over `splits`: entry ``j, i`` is the shallowest split among ``i .. i + 2**j - 1``."""
        depth, _ = self.splits
        m = self.n_leaves
        rows = max(1, m.bit_length())
        table = np.zeros((rows, m), np.int32)
        table[0] = np.arange(m)
        for j in range(1, rows):
            half = 1 << (j - 1)
            table[j] = table[j - 1]
            n = m - half
            if n > 0:
                left, right = table[j - 1, :n], table[j - 1, half:]
                table[j, :n] = np.where(depth[right] < depth[left], right, left)
        return table

    def lca(self, lo: Any, hi: Any) -> Codes:
        """The lowest node covering the leaves ``lo .. hi``; arrays in, array out, constant time each.

        >>> t = Taxonomy.from_nested({"*": {"A": ["a1", "a2"], "B": ["b1"]}})
        >>> [t.labels[v] for v in t.lca([0, 0, 2], [1, 2, 2])]
        ['A', '*', 'b1']
        """
        lo, hi = np.asarray(lo, np.int64), np.asarray(hi, np.int64)
        length = hi - lo
        row = np.frexp(np.maximum(length, 1))[1] - 1
        depth, node = self.splits
        first = np.minimum(lo + 1, self.n_leaves - 1)
        left = self.split_minima[row, first]
        right = self.split_minima[row, np.maximum(hi - (1 << row) + 1, 0)]
        split = np.where(depth[right] < depth[left], right, left)
        found: Codes = np.where(length > 0, node[split], self.leaf_nodes[lo]).astype(np.int32)
        return found

    @property
    def leaf_counts(self) -> Codes:
        """Number of leaves under each node."""
        return self.hi - self.lo + np.int32(1)

    def paths(self) -> list[tuple[str, ...]]:
        """One row per leaf with its label at every level: the ARX layout."""
        return [tuple(self.labels[v] for v in column) for column in self.ancestors.T]

    def nested(self) -> dict[str, Any]:
        """The tree as nested mappings and lists, the inverse of `from_nested`."""
        children: list[list[int]] = [[] for _ in range(self.n_nodes)]
        for v in range(1, self.n_nodes):
            children[self.parent[v]].append(v)

        below: list[Any] = [None] * self.n_nodes
        for v in range(self.n_nodes - 1, -1, -1):  # children come after their parent
            if any(children[c] for c in children[v]):
                below[v] = {self.labels[c]: below[c] for c in children[v]}
            elif children[v]:
                below[v] = [self.labels[c] for c in children[v]]
        return {self.labels[0]: below[0]}


def _in_cycle(labels: Sequence[str], parents: Sequence[int], reached: Sequence[int]) -> str:
    """The label of a node that is its own ancestor, given the nodes that can be reached from the root."""
    node = min(set(range(len(labels))).difference(reached))
    for _ in labels:  # walking up long enough ends inside the cycle
        node = parents[node]
    return labels[node]


def _without_padding(labels: list[str], parents: list[int], leaves: list[int]) -> tuple[list[str], list[int]]:
    """Drop the nodes between a leaf and its first ancestor of another label, where they cover only that leaf.

    `Taxonomy.ancestors` gives such a leaf the same label at every level as before. If all leaves are padded,
    the level is meant and stays.
    """
    n_children = [0] * len(labels)
    for up in parents[1:]:
        n_children[up] += 1
    shortened = list(parents)
    dropped: set[int] = set()
    for leaf in leaves:
        up = parents[leaf]
        while up > 0 and labels[up] == labels[leaf] and n_children[up] == 1:
            dropped.add(up)
            up = parents[up]
        shortened[leaf] = up
    if not dropped or all(shortened[leaf] != parents[leaf] for leaf in leaves):
        return labels, parents
    kept = [v for v in range(len(labels)) if v not in dropped]
    number = {v: i for i, v in enumerate(kept)}
    return [labels[v] for v in kept], [number.get(shortened[v], -1) for v in kept]
