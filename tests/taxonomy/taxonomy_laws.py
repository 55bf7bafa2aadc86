"""Random trees, and the laws every taxonomy obeys."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from tarnkappe.taxonomy import Taxonomy


@st.composite
def parent_lists(draw: st.DrawFn, max_nodes: int = 25) -> list[int]:
    """One parent per node; node 0 is the root, and there is at least one more."""
    n = draw(st.integers(2, max_nodes))
    return [-1] + [draw(st.integers(0, v - 1)) for v in range(1, n)]


@st.composite
def trees(draw: st.DrawFn, alphabet: str = "abcä€ ;,\"'\n\r*-:#&0123~") -> Taxonomy:
    """Trees of any shape with distinct labels that are awkward to write to a file."""
    parents = draw(parent_lists())
    texts = st.text(alphabet, max_size=5)
    labels = draw(st.lists(texts, min_size=len(parents), max_size=len(parents), unique=True))
    # Only a leaf, a value of the data, may be the empty text.
    inner = set(parents)
    labels = [f"<{label}>" if v in inner else label for v, label in enumerate(labels)]
    return Taxonomy.from_parents(labels, parents)


def assert_lawful(taxonomy: Taxonomy) -> None:
    """Every node covers exactly the leaves below it, which are an interval; levels lead from the leaf to the root."""
    t = taxonomy
    below: list[set[int]] = [set() for _ in range(t.n_nodes)]
    for leaf, start in enumerate(t.leaf_nodes.tolist()):
        node = start
        while node >= 0:
            below[node].add(leaf)
            node = int(t.parent[node])
    for node in range(t.n_nodes):
        assert below[node] == set(range(t.lo[node], t.hi[node] + 1))
    assert t.parent[0] == -1
    assert all(t.parent[v] < v and t.depth[v] == t.depth[t.parent[v]] + 1 for v in range(1, t.n_nodes))
    assert len(set(t.leaves)) == t.n_leaves

    levels = t.ancestors
    assert levels.shape == (t.height + 1, t.n_leaves)
    assert np.array_equal(levels[0], t.leaf_nodes)
    assert not levels[-1].any()
    for lower, upper in itertools.pairwise(levels):
        assert np.all((upper == lower) | (upper == t.parent[lower]))


def brute_lca(taxonomy: Taxonomy, lo: int, hi: int) -> int:
    """The deepest node that covers both leaves, by looking at all nodes."""
    covering = [v for v in range(taxonomy.n_nodes) if taxonomy.lo[v] <= lo and hi <= taxonomy.hi[v]]
    return max(covering, key=lambda v: int(taxonomy.depth[v]))
