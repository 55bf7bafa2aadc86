"""The set cover of Meyerson and Williams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.local.approximation import SuppressionApproximation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.local.approximating import cover_by_diameter, cover_to_partition


@dataclass(frozen=True)
class DiameterCover(SuppressionApproximation):
    r"""Cover the records by sets of small diameter, greedily; part or merge sets that overlap; give up what differs.

    In a group of k to :math:`2k - 1` records each gives up at least its diameter (the weight of the columns in which
    the two farthest records differ) and at most :math:`2k - 2` times that. So few cells means small diameters: a set
    cover, where greedy pays at most :math:`H_{2k-1} = 1 + 1/2 + \dots + 1/(2k-1)` times the least sum. Two sets that
    share a record are parted, or merged if both have just k records, which adds their diameters. Together that is at
    most :math:`4\,(2k-1)(k-1)\,H_{2k-1}/k` times the least weight: O(k log k). It takes O(n² · (k + log n)) steps, and
    n² numbers of memory.

    Differs from the paper in: candidates are, round each record that is not covered yet, the nearest of that kind,
    filled up to k. The paper takes either all sets of k to :math:`2k - 1` records, of which there are too many, or
    balls of any size at the price of a factor of log n. The best candidate of such a kind has at most the diameter of a
    group of the optimum as its radius, which costs a factor of two against all sets, and nothing grows with n. Columns
    may have weights; other goals than k-anonymity by merging groups.

    References
    ----------
    .. [MeWi04] Meyerson, Williams. "On the complexity of optimal k-anonymity." PODS 2004.
    """

    name: ClassVar = "diameter-cover"
    title: ClassVar = "Diameter cover (MW04)"
    summary: ClassVar = "Gives up cells, at most O(k log k) times the fewest possible; small tables."
    most_records: ClassVar = 5000
    for_more: ClassVar = "local-suppression"

    def partition(self, codes: Codes, weights: Floats, k: int) -> Codes:
        """The sets of the cover, made disjoint."""
        group: Codes = cover_to_partition(cover_by_diameter(codes, weights, k), k)
        return group

    def bound(self, k: int) -> float:
        """What was proved."""
        return 4 * (2 * k - 1) * (k - 1) / k * sum(1 / i for i in range(1, 2 * k)) if k > 1 else 1.0
