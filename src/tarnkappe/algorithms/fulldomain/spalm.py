"""SPALM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.groups import Note


@dataclass(frozen=True)
class Spalm(FullDomainSearch):
    """Go down the lattice from the most general node, level by level, and look below a node only if it may pay.

    Made for delta-presence: the share of a union lies between the shares of its parts, so if a generalisation violates
    the bounds, all its specialisations do and are never looked at. Of all nodes that satisfy the goal the one of least
    loss is taken, so the result is the optimum. Other criteria work as well; where a violation proves nothing about
    specialisations (suppression, criteria that are not monotone) these are looked at too. Exponential in the number of
    columns; O(classes) per node.

    Differs from the paper in: any metric may be optimised, any criterion asked for; classes of a node are rolled up
    from a finer one that is known, instead of being counted anew.

    References
    ----------
    .. [NeAC07] Nergiz, Atzori, Clifton. "Hiding the presence of individuals from shared databases." SIGMOD 2007.
    """

    name: ClassVar = "spalm"
    title: ClassVar = "SPALM"
    summary: ClassVar = "Optimal full-domain generalisation, from the top down; made for delta-presence."

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Check level after level; below a node that rules out its specialisations nothing is checked."""
        lattice = search.lattice
        level = [lattice.high]
        pruned = 0
        while level:
            below: dict[tuple[int, ...], None] = {}
            lost: set[tuple[int, ...]] = set()
            for node in level:
                found = search.check(node)
                into = lost.update if not found.ok and found.rules_out_below else below.update
                into(dict.fromkeys(lattice.predecessors(node)))
            level = [node for node in below if node not in lost]
            pruned += len(lost)
        return {"optimal": True, "nodes pruned below a violation": pruned}
