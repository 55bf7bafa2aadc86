"""The forest algorithm of Aggarwal, Feder and others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.local.approximation import SuppressionApproximation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.local.approximating import cut_trees, grow_forest


@dataclass(frozen=True)
class SuppressionForest(SuppressionApproximation):
    r"""Join every record to a near one until all trees have k records, cut the trees up, give up what differs.

    Whoever is published in a group of k gives up at least as many cells as tell it from its ``k - 1``-th nearest
    neighbour. Trees grow along such short edges only, so all edges together weigh no more than the least weight that
    k-anonymity by suppression needs. Trees are cut into groups of `k` to :math:`3k - 3` records whose connections share
    no edge, and a group gives up at most all columns on its edges, in each of its records. So at most :math:`3k - 3`
    times the least weight is given up. O(d n²).

    Differs from the paper in: trees are cut up in one pass from the leaves, into groups of at most :math:`3k - 3`
    records, where the paper's rule reaches :math:`\max(2k - 1, 3k - 5)`; columns may have weights; groups that look the
    same are one, which can only save cells; other goals than k-anonymity by merging groups.

    References
    ----------
    .. [AFKM05] Aggarwal, Feder, Kenthapadi, Motwani, Panigrahy, Thomas, Zhu. "Approximation algorithms for
       k-anonymity." Journal of Privacy Technology, 2005.
    """

    name: ClassVar = "suppression-forest"
    title: ClassVar = "Forest (AFK05)"
    summary: ClassVar = "Gives up cells, at most 3k - 3 times the fewest possible; small tables."
    most_records: ClassVar = 20_000
    for_more: ClassVar = "local-suppression"

    def partition(self, codes: Codes, weights: Floats, k: int) -> Codes:
        """The pieces of the trees."""
        group: Codes = cut_trees(grow_forest(codes, weights, k), k)[0]
        return group

    def bound(self, k: int) -> float:
        """The largest group."""
        return float(max(3 * k - 3, 1))
