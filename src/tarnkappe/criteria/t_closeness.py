"""t-closeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Measure, SensitiveCriterion, as_fraction
from tarnkappe.criteria.distances import Ratio, exact_equal, exact_hierarchical, exact_ordered
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import emd_equal, emd_hierarchical, emd_ordered, largest_remainder
from tarnkappe.params import param
from tarnkappe.wording import stated

#: Distances are rounded by far less than that.
_ROUNDING = 1e-9


#: The ground distances, and what each needs to know about values.
GROUND_NEEDS: dict[str, Measure] = {"equal": "names", "ordered": "order", "hierarchical": "taxonomy"}


@dataclass(frozen=True)
class TCloseness(SensitiveCriterion):
    r"""The mix of sensitive values in every group is within ``t`` of the mix in the whole table.

    .. math:: \mathrm{EMD}(p_G, q) \le t

    where :math:`p_G` is the distribution in the group, :math:`q` that in the table and EMD the earth mover's distance
    with one of three ground distances:

    *equal*: any two values are 1 apart, :math:`\tfrac12 \sum_i |p_i - q_i|`;

    *ordered*: values are apart by their ranks in the table's domain of :math:`m` values,
    :math:`\tfrac1{m-1} \sum_{i<m} |\sum_{j \le i} (p_j - q_j)|`.
    Numbers are ordered as numbers, declared or not; other values need a taxonomy that orders them (``order``,
    ``dates``), and a missing value ranks last;

    *hierarchical*: values are apart by the height of their lowest common ancestor in the column's taxonomy over the
    height of the tree. In a ragged tree the height of a node is its longest way down to a leaf.

    All differences are integers ``count * N - table * size`` until the last division.

    References
    ----------
    .. [LiLV07] Li, Li, Venkatasubramanian. "t-closeness: privacy beyond k-anonymity and l-diversity." ICDE 2007.
    """

    name: ClassVar = "t-closeness"
    title: ClassVar = "t-closeness"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    compares_with_table: ClassVar = True
    card: ClassVar = Card(
        protects_from="skewness and similarity attacks: group membership teaches little beyond the whole table.",
        does_not="stop a person from being singled out; combine it with k-anonymity.",
        typical="0.1 to 0.3.",
        cost="the highest of the three classics: it limits exactly the link that analysts look for.",
    )

    t: float = param(doc="Largest distance of a group's distribution from the table's.", ge=0, le=1, example=0.2)
    distance: str = param(
        "equal",
        doc="Ground distance: equal, ordered (by rank) or hierarchical (by taxonomy).",
        choices=tuple(GROUND_NEEDS),
    )

    @property
    def threshold(self) -> float:
        """The t."""
        return self.t

    @property
    def measured_by(self) -> Measure:
        """What the ground distance needs."""
        return GROUND_NEEDS[self.distance]

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"{self.distance} EMD ≤ {stated(self.t)}"

    def least_suppressed(self, stats: GroupStats) -> Counts:
        r"""What a group has too much of some values, even if the best mix of its records is kept.

        With the equal distance a remainder of :math:`r` records is :math:`t`-close if
        :math:`\sum_s \min(c_s, q_s r) \ge (1 - t) r`, where :math:`c_s` counts the group's records of each value.
        """
        if self.distance != "equal" or self.others_known:
            return super().least_suppressed(stats)
        h = stats.histograms[self.column]
        share = h.table / max(int(h.table.sum()), 1)
        kept = largest_remainder(h.indptr, h.codes, h.counts, stats.size, share, self.t)
        # A record less than computed, against rounding: the figure is a lower bound.
        return np.maximum(np.ceil(stats.size - kept - 1e-6 * stats.size), 0).astype(np.int64)

    def level(self, stats: GroupStats) -> Floats:
        """The earth mover's distance of each group."""
        h = stats.histograms[self.column]
        if int(h.table.sum()) * int(stats.size.max(initial=0)) >= 1 << 62:
            work, whole = self._exact(stats)
            return (work / whole).astype(np.float64)
        common = (h.indptr, h.codes, h.counts, stats.size, h.table)
        if self.distance == "hierarchical":
            tree = h.domain.taxonomy
            return emd_hierarchical(*common, tree.parent, tree.leaf_nodes, tree.node_heights)
        emd: Floats = emd_ordered(*common) if self.distance == "ordered" else emd_equal(*common)
        return emd

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; where rounding could decide, whole numbers do."""
        level = self.level(stats)
        ok: Flags = level <= self.t
        close = np.abs(level - self.t) <= _ROUNDING
        if close.any():
            t = as_fraction(self.t)
            work, whole = self._exact(stats.kept(close))
            ok[close] = (work * t.denominator <= whole * t.numerator).astype(np.bool_)
        return ok

    def _exact(self, stats: GroupStats) -> Ratio:
        """The distance of each group as a fraction of whole numbers."""
        h = stats.histograms[self.column]
        common = (h.indptr, h.codes, h.counts, stats.size, h.table)
        if self.distance == "hierarchical":
            tree = h.domain.taxonomy
            return exact_hierarchical(*common, tree.parent, tree.leaf_nodes, tree.node_heights)
        return exact_ordered(*common) if self.distance == "ordered" else exact_equal(*common)
