"""Top-down greedy search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.groups import Note


@dataclass(frozen=True)
class TopDown(FullDomainSearch):
    """Start where everything is generalised and take, again and again, the one step down that loses least.

    Only steps to nodes that satisfy the goal are made; the search ends where there is none that is better. At most
    columns · height checks, so it suits lattices of any size. The result need not be the optimum.

    References
    ----------
    .. [PKKB16] Prasser, Bild, Eicher, Spengler, Kohlmayer, Kuhn. "Lightning: utility-driven anonymization of
       high-dimensional data." Transactions on Data Privacy 9(2), 2016.
    """

    name: ClassVar = "top-down"
    title: ClassVar = "Top-down greedy search"
    summary: ClassVar = "One step of detail at a time from the most general table; quick on any lattice, not optimal."
    keeps_all_nodes: ClassVar = False

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Descend until no step is both allowed and better."""
        here = search.check(search.lattice.high)
        while True:
            steps = [search.check(node) for node in search.lattice.predecessors(here.node)]
            # From a top that violates the goal (suppression may help further down) any step is worth trying.
            allowed = [s for s in steps if s.score < here.score or (s.ok and not here.ok)]
            if not allowed:
                return {"optimal": False}
            here = min(allowed, key=Search.rank)
