"""OKA, the one-pass k-means algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.blocks import along_the_curve, grouped_apart
from tarnkappe.algorithms.local.pool import Pool, dissolved
from tarnkappe.algorithms.steps.swaps import curve
from tarnkappe.algorithms.steps.units import tidy
from tarnkappe.groups import SUPPRESSED, Grouping
from tarnkappe.kernels.local.centroids import one_pass

#: Cells of a block at normal effort; larger tables are clustered in blocks.
_BLOCK = 4096


@dataclass(frozen=True)
class OneKMeans(LocalRecoding):
    r"""Assign every record to the nearest of ``n / k`` centroids in one pass, then even the clusters out.

    With :math:`k` the `min_size` of the goal, :math:`\lfloor n/k \rfloor` clusters start from seed records. Records are
    taken in the order of the table; each goes to the nearest centroid, which moves. A record is away from a centroid by
    :math:`\sum_j w_j |x_j - \bar x_j| / \mathrm{extent}_j` on scales, and by the width of the lowest node that covers
    it and the cluster on taxonomies. Clusters of more than k records then give up their furthest ones; these fill
    clusters of fewer than k, and the rest go to the nearest cluster. Clusters whose records are better off in others
    are dissolved, and those that do not satisfy the goal are merged with the group where the loss rises least. Tables
    of more than 4096 cells (of more at higher `effort`) are clustered in blocks of neighbours on a Hilbert curve:
    O(n d · block / k).

    Differs from the paper in: seeds are spread evenly along a Hilbert curve instead of drawn at random, and surplus
    records are dealt out in the order of the table, so the result does not depend on chance; any monotone goal;
    combinations that satisfy the goal by themselves stay as they are; blocks; near groups grow anew, as in all local
    recodings; swap refinement.

    References
    ----------
    .. [LiWe08] Lin, Wei. "An efficient clustering method for k-anonymization." PAIS 2008.
    """

    name: ClassVar = "oka"
    title: ClassVar = "One-pass k-means (OKA)"
    summary: ClassVar = "One pass of k-means, then clusters are evened out; between Mondrian and k-member."

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """One pass over each block of the table; a pool too small for a cluster is left over."""
        if pool.tally.n_records < pool.goal.min_size:
            return Grouping.of_cells(pool.tally, np.full(pool.tally.n_cells, SUPPRESSED, np.int32), 0)
        block, n_blocks = along_the_curve(pool, self.work.of_usual(_BLOCK))
        return dissolved(pool, grouped_apart(pool, block, n_blocks, self._passed), {})

    @staticmethod
    def _passed(pool: Pool) -> Grouping:
        """One pass over a pool."""
        tally, smallest = pool.tally, pool.goal.min_size
        n_clusters = max(1, tally.n_records // smallest)
        along = np.argsort(curve(tally), kind="stable")
        middle = (np.arange(n_clusters) * 2 + 1) * tally.n_records // (2 * n_clusters)
        seeds = np.unique(along[np.searchsorted(np.cumsum(tally.count[along]), middle, side="right")])
        row, group, quota = one_pass(pool.ruler, tally.quasi, tally.count, seeds, smallest)
        used, number = np.unique(group, return_inverse=True)
        return tidy(row, number.astype(np.int32), quota, len(used))
