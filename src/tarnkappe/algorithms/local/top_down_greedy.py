"""Top-down greedy cell generalisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.pool import Pool, divide, feed
from tarnkappe.algorithms.local.units import tidy
from tarnkappe.groups import Draft, Grouping


@dataclass(frozen=True)
class TopDownGreedy(LocalRecoding):
    r"""Divide the table in two around two far-apart records, again and again; then help the groups that got too small.

    Two seeds are found by going three times to the furthest record. The others follow in random order, each to the side
    where the loss :math:`|G|\,w(G)` rises less. A group is divided while at least one part satisfies the goal; a part
    that does not is finished. Afterwards each group that is too small takes the nearest records it needs from a group
    that can spare them, or is merged with the group where the loss rises least, whichever is cheaper. O(d n log n) for
    balanced divisions of n cells, and O(d n) for each group that is too small.

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
        order = rng.permutation(pool.tally.n_cells).astype(np.int32)
        together = Draft(order, np.zeros(len(order), np.int32), pool.tally.count[order], 1)
        divided = feed(pool, divide(pool, together, np.ones(1, np.bool_), both=False))
        return tidy(divided.cell, divided.group, divided.quota, divided.n_groups)
