"""Samarati's binary search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.search import Checked, Search
from tarnkappe.groups import Note


@dataclass(frozen=True)
class Samarati(FullDomainSearch):
    """Find the lowest height of the lattice at which some node satisfies the goal, by halving the heights.

    Height is the sum of levels. If no node of a height satisfies the goal, none below does: the search continues above,
    otherwise below. All satisfying nodes of the lowest height are k-minimal; the metric chooses among them, so the
    result is the best of minimal height and not necessarily the best of all.

    Differs from the paper in: where suppression makes halving invalid (a criterion that pooling a violating group may
    break), heights are tried one after the other from below; any criterion, not only k-anonymity.

    References
    ----------
    .. [Sama01] Samarati. "Protecting respondents' identities in microdata release." TKDE 13(6), 2001.
    """

    name: ClassVar = "samarati"
    title: ClassVar = "Samarati"
    summary: ClassVar = "Fewest generalisation levels in total, by binary search over the heights of the lattice."

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Find the lowest height, and the best node there."""
        heights = search.lattice.heights.ravel()
        lowest, highest = int(heights.min()), int(heights.max())
        if search.failure_spreads:
            while lowest < highest:
                middle = (lowest + highest) // 2
                if self._some(search, middle):
                    highest = middle
                else:
                    lowest = middle + 1
        else:
            while lowest < highest and not self._some(search, lowest):
                lowest += 1
        found = [c for c in map(search.check, self._at(search, lowest)) if c.ok]
        search.best = min(found, key=Search.rank, default=None)
        minimal = sorted(c.node for c in found)
        return {
            "height": lowest + sum(d.floor for d in search.tally.quasi_domains),
            "minimal nodes": search.listed(minimal),
        }

    @staticmethod
    def _at(search: Search, height: int) -> list[tuple[int, ...]]:
        """The nodes of a height."""
        return [search.lattice.node(int(i)) for i in np.flatnonzero(search.lattice.heights.ravel() == height)]

    def _some(self, search: Search, height: int) -> Checked | None:
        """A node of this height that satisfies the goal, if there is one."""
        return next((c for c in map(search.check, self._at(search, height)) if c.ok), None)
