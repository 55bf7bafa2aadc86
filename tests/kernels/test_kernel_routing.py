"""Trees of cuts against walking them by hand."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.multidimensional.routing import leaves_above, route

WILD = np.array([-1, 4], np.int32)


@st.composite
def trees(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Attribute, code, first child and parent of every node; leaves are cut one after another."""
    attribute, code, child, parent = [-1], [0], [-1], [-1]
    for _ in range(draw(st.integers(0, 6))):
        v = draw(st.sampled_from([v for v, a in enumerate(attribute) if a < 0]))
        attribute[v], code[v], child[v] = draw(st.integers(0, 1)), draw(st.integers(0, 5)), len(attribute)
        attribute += [-1, -1]
        code += [0, 0]
        child += [-1, -1]
        parent += [v, v]
    return tuple(np.array(x, np.int32) for x in (attribute, code, child, parent))  # type: ignore[return-value]


@given(trees(), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1))
def test_rows_go_where_the_cuts_send_them(tree, rows):
    attribute, code, child, _ = tree
    expected = []
    for row in rows:
        v = 0
        while attribute[v] >= 0:
            j = attribute[v]
            left = row[j] == WILD[j] or row[j] < code[v]
            v = child[v] + (not left)
        expected.append(v)
    assert route(np.array(rows, np.int32), attribute, code, child, WILD).tolist() == expected


@given(trees(), st.data())
def test_what_is_below_an_undone_cut_belongs_to_it(tree, data):
    attribute, _, child, parent = tree
    inner = np.flatnonzero(attribute >= 0).tolist()
    undone = data.draw(st.sets(st.sampled_from(inner))) if inner else set()
    cut = attribute.copy()
    cut[list(undone)] = -1

    def holder(v: int) -> int:
        ancestors = [v]
        while parent[ancestors[-1]] >= 0:
            ancestors.append(int(parent[ancestors[-1]]))
        return next((a for a in reversed(ancestors) if a in undone), v)

    assert leaves_above(cut, child, parent).tolist() == [holder(v) for v in range(len(attribute))]


def test_a_new_cut_replaces_the_old_one():
    attribute, child = np.array([0, -1, -1, -1, -1], np.int32), np.array([3, -1, -1, -1, -1], np.int32)
    parent = np.array([-1, 0, 0, 0, 0], np.int32)
    assert leaves_above(attribute, child, parent).tolist() == [0, -1, -1, 3, 4]
