"""A taxonomy as people look at it: groups per level, and the tree drawn as text."""

from __future__ import annotations

import numpy as np

from tarnkappe.taxonomy.tree import Taxonomy


def level_table(taxonomy: Taxonomy, max_examples: int = 4) -> list[tuple[int, int, list[str]]]:
    """For each level its number, how many groups the values form there, and the labels of the first few.

    >>> level_table(Taxonomy.from_nested({"Married": ["civil", "church"], "Single": ["never", "widowed"]}))
    [(0, 4, ['civil', 'church', 'never', 'widowed']), (1, 2, ['Married', 'Single']), (2, 1, ['*'])]
    """
    table = []
    for level, nodes in enumerate(taxonomy.ancestors):
        groups = np.unique(nodes)
        table.append((level, len(groups), [taxonomy.labels[v] for v in groups[:max_examples]]))
    return table


def draw(taxonomy: Taxonomy, max_nodes: int = 60) -> str:
    """The tree as indented text of at most `max_nodes` nodes; what is left out is counted.

    >>> print(draw(Taxonomy.from_nested({"Married": ["civil", "church"], "Single": ["never"]})))
    *
    ├── Married
    │   ├── civil
    │   └── church
    └── Single
        └── never
    """
    visible = _visible(taxonomy, max(1, max_nodes))
    drawn: list[list[int]] = [[] for _ in taxonomy.labels]
    hidden = [0] * taxonomy.n_nodes
    for node in range(1, taxonomy.n_nodes):
        up = int(taxonomy.parent[node])
        if visible[node]:
            drawn[up].append(node)
        else:
            hidden[up] += 1
    lines = []
    stack: list[tuple[str, str, int]] = [("", "", 0)]  # text before the label, text before its children, node
    while stack:
        before, indent, node = stack.pop()
        if node < 0:
            lines.append(f"{before}… {-node} more")
            continue
        note = "  (ordered: any interval may be published)" if taxonomy.ranges[node] else ""
        lines.append(before + _one_line(taxonomy.labels[node]) + note)
        below = drawn[node] + ([-hidden[node]] if hidden[node] else [])
        for i, child in reversed(list(enumerate(below))):
            is_last = i == len(below) - 1
            stack.append((indent + ("└── " if is_last else "├── "), indent + ("    " if is_last else "│   "), child))
    return "\n".join(lines)


def _visible(taxonomy: Taxonomy, max_nodes: int) -> list[bool]:
    """Which nodes to draw: everywhere the same number of first children, as many as there is room for."""
    n_children = [0] * taxonomy.n_nodes
    # A node needs as many children per node to be drawn as its own rank, or that of an ancestor, among siblings.
    needs = [0] * taxonomy.n_nodes
    for node in range(1, taxonomy.n_nodes):
        up = int(taxonomy.parent[node])
        n_children[up] += 1
        needs[node] = max(needs[up], n_children[up])
    if taxonomy.n_nodes <= max_nodes:
        return [True] * taxonomy.n_nodes
    allowed = sorted(needs)[max_nodes] - 1
    if allowed >= 1:
        return [need <= allowed for need in needs]
    # Even one child per node is too much: the tree is a long chain, of which the top is drawn.
    first_children = [node for node in range(taxonomy.n_nodes) if needs[node] <= 1][:max_nodes]
    keep = set(first_children)
    return [node in keep for node in range(taxonomy.n_nodes)]


def _one_line(label: str) -> str:
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in label) or '""'
