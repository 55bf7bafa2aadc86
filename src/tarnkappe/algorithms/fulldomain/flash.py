"""Flash."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.search import Search, Tags
from tarnkappe.groups import Note


@dataclass(frozen=True)
class Flash(FullDomainSearch):
    """Walk greedily up the lattice, search each path by halving, and leave out whatever is decided already.

    Starting from the lowest open node, a path goes up through open nodes, always to the one that must lose least. The
    path is searched by halving: if the node in the middle satisfies the goal the lower half follows, otherwise the
    upper. A node that fails closes all its specialisations if the goal allows that conclusion; a better score closes
    all nodes that cannot score better. What stays open is checked one by one, so the result is the optimum for any
    criterion and any metric. Worst case all nodes; each costs O(classes of the finer table it is rolled up from).

    Differs from the paper in: nodes are ordered by the least they can lose under the chosen metric; that bound also
    closes nodes, in place of the paper's heap of successors.

    References
    ----------
    .. [KPEK12] Kohlmayer, Prasser, Eckert, Kemper, Kuhn. "Flash: efficient, stable and optimal k-anonymity." PASSAT
       2012.
    """

    name: ClassVar = "flash"
    title: ClassVar = "Flash"
    summary: ClassVar = (
        "Optimal full-domain generalisation, by halving paths through the lattice; the fastest exact one."
    )

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Search path after path until no node is open."""
        tags = Tags(search)
        lattice = search.lattice
        bounds = search.bounds.ravel()
        order = np.lexsort((bounds, lattice.heights.ravel()))
        strides = [int(s) for s in np.cumprod([1, *lattice.shape[:0:-1]])[::-1]]
        done = 0
        while True:
            open_nodes = tags.open.ravel()
            ahead = open_nodes[order[done:]]
            done += int(np.argmax(ahead)) if len(ahead) else 0
            if done >= len(order) or not open_nodes[order[done]]:
                return {"optimal": True}
            path = [int(order[done])]
            node = list(lattice.node(path[0]))
            while True:
                ways = [
                    (float(bounds[path[-1] + step]), j)
                    for j, step in enumerate(strides)
                    if node[j] < lattice.high[j] and open_nodes[path[-1] + step]
                ]
                if not ways:
                    break
                _, j = min(ways)
                node[j] += 1
                path.append(path[-1] + strides[j])
            low, high = 0, len(path) - 2
            found = tags.check(lattice.node(path[-1]))
            if not found.ok:
                continue
            tags.tighten(found)
            while low <= high:
                middle = (low + high) // 2
                if tags.check(lattice.node(path[middle])).ok:
                    high = middle - 1
                else:
                    low = middle + 1
