"""(n, t)-closeness."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Codes, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, Measure, Supply, as_fraction
from tarnkappe.criteria.subset_distances import distances_to_pools
from tarnkappe.criteria.t_closeness import GROUND_NEEDS
from tarnkappe.groups import GroupStats
from tarnkappe.params import param
from tarnkappe.wording import stated

#: Distances are rounded by far less than that.
_ROUNDING = 1e-9

#: Sets of quasi-identifiers that are looked at; of more there are, those with most and with fewest of them.
_MOST_SETS = 1 << 10


@dataclass(frozen=True)
class NTCloseness(Criterion):
    r"""The mix of values in every group is within ``t`` of that in a natural superset of ``n`` records or more.

    .. math:: \exists X : |G_X| \ge n \quad\text{and}\quad \mathrm{EMD}(p_G, p_{G_X}) \le t

    where X is a set of quasi-identifiers and :math:`G_X` are all records that publish the same as the group in X. A
    group of ``n`` records satisfies it by itself (X are all quasi-identifiers); a t-close one too, if the table has as
    many (X is empty). In between, what one may learn about a large part of the population is not counted as a breach of
    a person's privacy: knowledge about n people is statistics.

    A superset is *natural* if what it publishes describes it; here: the labels of some quasi-identifiers. So everybody
    who has the table finds it. The distances are those of t-closeness, along the values of all published records.

    Not monotone: two groups may each be close to a superset of their own, and their union to neither.
    O(2^d · groups · values) for d quasi-identifiers; from eleven on, the 1,024 smallest and largest sets are tried.

    Differs from the paper in: supersets coarsen a quasi-identifier wholly or not at all, where the paper allows any
    box. There are fewer of them, so what satisfies this satisfies the paper's.

    References
    ----------
    .. [LiLV10] Li, Li, Venkatasubramanian. "Closeness: a new privacy measure for data publishing." IEEE Transactions on
       Knowledge and Data Engineering 22(7), 2010.
    """

    name: ClassVar = "n-t-closeness"
    title: ClassVar = "(n, t)-closeness"
    sense: ClassVar = "at most"
    monotone: ClassVar = False
    absorbing: ClassVar = False
    scope: ClassVar = "projection"
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="skewness and similarity attacks on small groups: a group teaches little beyond a large part of "
        "the table that it belongs to.",
        does_not="hide what is true of n people or more, or stop a person from being singled out; add k-anonymity.",
        typical="n a thousand or a tenth of the table, t 0.1 to 0.3.",
        cost="less than t-closeness, because links between columns that many people share survive.",
    )

    column: str = param(doc="The sensitive column.", refers_to="sensitive", example="NAME")
    n: int = param(doc="Fewest records of a superset that a group is compared with.", ge=1, example=1000, samples=(30,))
    t: float = param(
        doc="Largest distance of a group's distribution from the superset's.",
        ge=0,
        le=1,
        example=0.2,
        samples=(0.05, 0.4),
    )
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
        return f"{self.distance} EMD to {self.n} or more records ≤ {stated(self.t)}"

    def supply(self, everyone: GroupStats) -> Supply:
        """The records of the largest superset that there is."""
        return Supply("n", int(everyone.size.sum()), "records")

    def level(self, stats: GroupStats) -> Floats:
        """The smallest distance to a superset that is large enough; infinite where there is none."""
        nearest = np.full(stats.n_groups, np.inf)
        for slim, pools, part in self._supersets(stats):
            large = np.flatnonzero(pools.size[part] >= self.n).astype(np.int32)
            work, whole = distances_to_pools(slim, pools, part, large, self.column, self.distance)
            nearest[large] = np.minimum(nearest[large], (work / whole).astype(np.float64))
        return nearest

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; where rounding could decide, whole numbers do."""
        ok = np.zeros(stats.n_groups, np.bool_)
        t = as_fraction(self.t)
        for slim, pools, part in self._supersets(stats):
            asked = np.flatnonzero(~ok & (pools.size[part] >= self.n)).astype(np.int32)
            work, whole = distances_to_pools(slim, pools, part, asked, self.column, self.distance)
            away = (work / whole).astype(np.float64) - self.t
            ok[asked[away < -_ROUNDING]] = True
            close = asked[np.abs(away) <= _ROUNDING]
            work, whole = distances_to_pools(slim, pools, part, close, self.column, self.distance, exactly=True)
            ok[close] = (work * t.denominator <= whole * t.numerator).astype(np.bool_)
            if ok.all():
                break
        return ok

    def _supersets(self, stats: GroupStats) -> Iterator[tuple[GroupStats, GroupStats, Codes]]:
        """Per set of quasi-identifiers: the groups, those pooled that publish the same in it, and the pool of each."""
        assert stats.keys is not None, "statistics were made without the labels of the groups"
        slim = GroupStats(stats.size, {self.column: stats.histograms[self.column]}, keys=stats.keys)
        for x in tried_sets(stats.keys.shape[1]):
            if x:
                yield slim, *slim.projected(x)
            else:
                part = np.zeros(stats.n_groups, np.int32)
                yield slim, slim.pooled(part), part


def tried_sets(d: int) -> list[tuple[int, ...]]:
    """The sets of d quasi-identifiers that describe supersets: the empty one and the full one first, then inwards.

    >>> tried_sets(2)
    [(), (0, 1), (0,), (1,)]
    >>> len(tried_sets(40))
    1024
    """
    out: list[tuple[int, ...]] = []
    for few in range(d // 2 + 1):
        for size in dict.fromkeys((few, d - few)):
            for x in combinations(range(d), size):
                if len(out) == _MOST_SETS:
                    return out
                out.append(x)
    return out
