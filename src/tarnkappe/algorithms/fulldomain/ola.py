"""Optimal lattice anonymisation (OLA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.search import Search, Tags
from tarnkappe.groups import Note
from tarnkappe.params import param


@dataclass(frozen=True)
class OLA(FullDomainSearch):
    """Find all minimal nodes by halving the lattice, then take the best by the metric.

    Among the nodes that are not tagged yet those half-way up are checked. Every check tags all generalisations of a
    node that satisfies the goal, or all specialisations of one that does not; so the search goes on below the former
    and above the latter, until every node is tagged.

    Without suppression the best node is a minimal one for every metric here. With suppression a more general node may
    lose less, because it suppresses fewer records: with `optimal` those that may still be better are checked as well.

    Differs from the paper in: the last step just named; sublattices are halved together instead of one by one; where
    suppression makes tagging invalid, only what is proved is tagged and the rest is checked node by node; any metric
    besides non-uniform entropy, any criterion.

    References
    ----------
    .. [EDIJ09] El Emam et al. "A globally optimal k-anonymity method for the de-identification of health data." JAMIA
       16(5), 2009.
    """

    name: ClassVar = "ola"
    title: ClassVar = "Optimal lattice anonymisation (OLA)"
    summary: ClassVar = "Lists all minimal full-domain generalisations by halving the lattice and takes the best."

    optimal: bool = param(True, doc="Also search above the minimal nodes, where suppression may make others better.")

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Find the minimal nodes, and what else may be better."""
        tags = Tags(search)
        if search.failure_spreads:
            self._tag_all(tags)
        else:
            for index in np.argsort(search.lattice.heights.ravel(), kind="stable"):
                if not tags.bad.ravel()[index]:
                    tags.check(search.lattice.node(int(index)), bounded=False)
        minimal = tags.minimal_nodes()
        for node in minimal:
            tags.check(node)
        if self.optimal:
            tags.open &= ~tags.bad
            tags.check_open()
        else:
            search.best = min(map(search.check, minimal), key=Search.rank, default=None)
        return {"optimal": self.optimal, "minimal nodes": search.listed(minimal)}

    @staticmethod
    def _tag_all(tags: Tags) -> None:
        """Tag every node, by checking those half-way up among the untagged ones."""
        heights = tags.search.lattice.heights
        while True:
            unknown = ~(tags.good | tags.bad)
            if not unknown.any():
                return
            middle = np.sort(heights[unknown])[unknown.sum() // 2]
            for place in np.argwhere(unknown & (heights == middle)):
                if not (tags.good[tuple(place)] or tags.bad[tuple(place)]):
                    tags.check(tags.search.lattice.node_at(place), bounded=False)
