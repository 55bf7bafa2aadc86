"""Bottom-up greedy cell generalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.algorithms.steps.units import tuples_of
from tarnkappe.groups import Grouping


@dataclass(frozen=True)
class BottomUpGreedy(LocalRecoding):
    r"""Merge every group that does not satisfy the goal with the group where the loss rises least, until all do.

    At first every combination of quasi-identifiers is a group. The price of merging :math:`G` and :math:`H` is

    .. math:: |G \cup H|\,w(G \cup H) - |G|\,w(G) - |H|\,w(H)

    with the summed weighted width :math:`w` of a box. Each round finds the cheapest partner of all weak groups at
    once and merges cheapest first; a weak group is merged once per round. Partners are the groups of neighbours on
    several turned Hilbert curves, which in small tables are all of them. Groups that became too large are divided
    around two far-apart records. O(n d · neighbours) in each round for n distinct combinations, at most half the weak
    groups are left after each.

    Differs from the paper in: any monotone goal instead of k-anonymity; pairs are merged by price within a round
    instead of in the order of the table; groups are divided in the end instead of after each round; partners are looked
    for nearby only; near groups grow anew, as in all local recodings; swap refinement.

    References
    ----------
    .. [XWPW06] Xu, Wang, Pei, Wang, Shi, Fu. "Utility-based anonymization using local recoding." KDD 2006.
    """

    name: ClassVar = "bottom-up-greedy"
    title: ClassVar = "Bottom-up greedy cell generalisation"
    summary: ClassVar = "Merges the nearest groups until all satisfy the goal; low loss."

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """Every combination by itself: merging weak groups is what all local recodings end with."""
        combination = tuples_of(pool.tally)
        return Grouping.of_cells(pool.tally, combination, int(combination[-1]) + 1)
