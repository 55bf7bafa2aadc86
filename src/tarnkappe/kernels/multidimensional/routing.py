"""Trees of binary cuts: which leaf a row falls into.

Node ``v`` cuts attribute ``attribute[v]`` (-1: it is a leaf): rows with a code below ``code[v]``, or with the wildcard,
go to node ``child[v]``, the others to ``child[v] + 1``. Children come after their parent.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes
from tarnkappe.kernels import kernel


@kernel
def route(rows: Codes, attribute: Codes, code: Codes, child: Codes, wild: Codes) -> Codes:
    """The leaf of every row."""
    leaf = np.empty(rows.shape[0], np.int32)
    for i in range(rows.shape[0]):
        v = 0
        while attribute[v] >= 0:
            j = attribute[v]
            x = rows[i, j]
            v = child[v] if x == wild[j] or x < code[v] else child[v] + 1
        leaf[i] = v
    return leaf


@kernel
def leaves_above(attribute: Codes, child: Codes, parent: Codes) -> Codes:
    """For every node itself, or the leaf that has taken its place because a cut above it was undone.

    -1 for a node above which another cut was made since.
    """
    above = np.arange(attribute.size).astype(np.int32)
    for v in range(1, attribute.size):
        p = parent[v]
        if attribute[p] < 0 or above[p] != p:
            above[v] = above[p]
        elif v - child[p] > 1 or v < child[p]:
            above[v] = -1
    return above
