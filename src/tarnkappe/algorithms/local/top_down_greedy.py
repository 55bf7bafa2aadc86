"""Top-down greedy cell generalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.pool import Pool, divide, feed
from tarnkappe.groups import Grouping


@dataclass(frozen=True)
class TopDownGreedy(LocalRecoding):
    r"""Divide the table in two around two far-apart records, again and again; then help the groups that got too small.

    Two seeds are found by going three times to the furthest record. The others follow in random order, each to the side
    where the loss :math:`|G|\,w(G)` rises less. A group is divided while at least one part satisfies the goal; a part
    that does not is finished. Afterwards each group that is too small takes the nearest records it needs from a group
    nearby that can spare them, or is merged with the group nearby where the loss rises least, whichever is cheaper.
    O(d n log n) for balanced divisions of n cells.

    Differs from the paper in: any monotone goal instead of k-anonymity. Taking records is decided by size; groups that
    then do not satisfy the goal are merged. Sides are chosen by the rise of the loss including the number of records,
    groups are divided again in the end where both parts satisfy the goal, and swap refinement follows.

    References
    ----------
    .. [XWPW06] Xu, Wang, Pei, Wang, Shi, Fu. "Utility-based anonymization using local recoding." KDD 2006.
    """

    name: ClassVar = "top-down-greedy"
    title: ClassVar = "Top-down greedy cell generalisation"
    summary: ClassVar = "Divides the table around far-apart records, then helps groups that got too small; fast."

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """Divide at random order, then let small groups take records."""
        rank = rng.permutation(pool.tally.n_cells)
        return feed(pool, divide(pool, pool.together(), np.ones(1, np.bool_), both=False, rank=rank))
