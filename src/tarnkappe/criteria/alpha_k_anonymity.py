"""(alpha, k)-anonymity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, Supply, as_fraction, times
from tarnkappe.criteria.values import require_named
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.tally import Domain
from tarnkappe.wording import stated


@dataclass(frozen=True)
class AlphaKAnonymity(SensitiveCriterion):
    r"""Every group has at least ``k`` records, and no sensitive value makes up more than the share ``alpha`` of it.

    .. math:: |G| \ge k \quad\text{and}\quad |\{r \in G : r[S] = s\}| \le \alpha \, |G| \text{ for every } s

    The *simple* form protects one value only: `value` names it, and only its share is bounded. Comparisons are made in
    integers. The level is the largest share of a bounded value; that of a group with fewer than `k` records is
    infinite. O(values present in the groups).

    ``alpha = 1/l, k = l`` is frequency l-diversity. A release without suppression exists only if `alpha` is at least
    the value's share in the whole table.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> illness = Domain("illness", Taxonomy.from_nested(["flu", "gout"]))
    >>> group = GroupStats.from_cells([0, 0], np.array([3, 1]), {"illness": (np.array([0, 1]), illness)})
    >>> [AlphaKAnonymity("illness", 0.5, 4, value).satisfied(group).item() for value in (None, "flu", "gout")]
    [False, False, True]

    References
    ----------
    .. [WLFW06] Wong, Li, Fu, Wang. "(alpha, k)-anonymity: an enhanced k-anonymity model for privacy preserving data
       publishing." KDD 2006.
    """

    name: ClassVar = "alpha-k-anonymity"
    title: ClassVar = "(alpha, k)-anonymity"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    protects: ClassVar = frozenset({"identity", "secret"})
    card: ClassVar = Card(
        protects_from="being singled out, and being right about a secret with more than a chance of alpha.",
        does_not="stop similar meanings; in the simple form only the one named value is protected.",
        typical="k = 5 with alpha = 0.3 to 0.5; alpha is never less than the share in the table.",
        cost="moderate; low in the simple form when the named value is rare.",
    )

    alpha: float = param(doc="Largest share that a value may have in a group.", gt=0, le=1, example=0.5)
    k: int = param(doc="Smallest number of records in a group.", ge=1, example=5)
    value: str | None = param(
        None, doc="The only value whose share is bounded; without it all values are.", refers_to="value"
    )

    @property
    def threshold(self) -> float:
        """The alpha."""
        return self.alpha

    @property
    def min_size(self) -> int:
        """A group needs k records, and enough for one record to be no larger share than alpha."""
        return self.k if self.value is not None else max(self.k, math.ceil(1 / as_fraction(self.alpha)))

    @property
    def enough_different(self) -> int:
        """Enough for a group, and for one record to be no larger share than alpha."""
        return max(self.k, math.ceil(1 / as_fraction(self.alpha)))

    @property
    def asked(self) -> str:
        """The promise in short."""
        whose = "every value" if self.value is None else f"'{self.value}'"
        return f"share of {whose} ≤ {stated(self.alpha)} in groups of at least {self.k}"

    def supply(self, everyone: GroupStats) -> Supply:
        """The records of the largest group that there is."""
        return Supply("k", int(everyone.size.sum()), "records")

    def require_values(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a named value that the column does not have."""
        if self.value is not None:
            require_named(self, "value", [self.value], domains[self.column])

    def _commonest(self, stats: GroupStats) -> Counts:
        """The number of records with the commonest bounded value."""
        h = stats.histograms[self.column]
        counts = h.counts
        if self.value is not None:
            counts = np.where(h.codes == h.domain.code_of.get(self.value, -1), counts, 0)
        return reduce_groups(np.maximum, counts, h.indptr)

    def level(self, stats: GroupStats) -> Floats:
        """The largest share of a bounded value; infinite for a group that is too small."""
        share = self._commonest(stats) / np.maximum(stats.size, 1)
        return np.where(stats.size >= self.k, share, np.inf)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; ``alpha`` as an exact fraction keeps the comparison in integers."""
        alpha = as_fraction(self.alpha)
        within = times(self._commonest(stats), alpha.denominator) <= times(stats.size, alpha.numerator)
        return (stats.size >= self.k) & within.astype(np.bool_)
