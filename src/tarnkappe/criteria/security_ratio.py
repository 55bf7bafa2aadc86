"""A bound on how near centres are to the records they stand for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Counts, Flags, Floats
from tarnkappe.criteria.base import Card, Criterion, as_fraction, times
from tarnkappe.groups import GroupStats
from tarnkappe.params import param


@dataclass(frozen=True)
class SecurityRatio(Criterion):
    r"""In every group a share of at least ``gamma`` of the records is ``epsilon`` or more away from what is published.

    .. math:: \gamma(x) = \frac{|\{r \in G : |r[A] - x| \ge \varepsilon\}|}{|G|} \ge \gamma_0

    where x is the number that the group publishes for its records in the column A. Where the records of a group are
    almost equal, their mean tells all of their values, whatever k is; this forbids it. It is about centres, so only
    algorithms that publish them can promise it. Any group can satisfy it: what it publishes is moved away from its
    mean, as little as possible and by turns up and down, after the groups have been formed. So it does not change the
    groups, and as long as it is not known what is published, every group satisfies it. Records without a value do not
    count.

    Differs from the paper as the slides tell it in: a group falls short if its ratio is below :math:`\gamma_0`, not if
    it is at most that.

    References
    ----------
    .. [LZWJ02] Li, Zhu, Wang, Jajodia. "A privacy-enhanced microaggregation method." FoIKS 2002, LNCS 2284.
    """

    name: ClassVar = "security-ratio"
    title: ClassVar = "security ratio"
    sense: ClassVar = "at least"
    monotone: ClassVar = True  # whatever is pooled, what it publishes is moved away from it
    absorbing: ClassVar = True
    decided_by_size: ClassVar = True  # groups of any size can satisfy it
    protects: ClassVar = frozenset({"secret"})
    card: ClassVar = Card(
        protects_from="reading off somebody's number: enough records of a group differ from what it publishes.",
        does_not="hide whose record it is; ask for k-anonymity too.",
        typical="an epsilon that would not harm anybody to be known, and a gamma of 0.5.",
        cost="low: only what near-homogeneous groups publish is moved, by about epsilon.",
    )

    column: str = param(doc="The numeric quasi-identifier whose centres are published.", example="NAME")
    epsilon: float = param(doc="Tolerance: how far a record must be off, in units of the column.", ge=0, example=1)
    gamma: float = param(0.5, doc="Which share of a group's records must be so far off.", ge=0, le=1)

    @property
    def centre_column(self) -> str:
        """The column."""
        return self.column

    @property
    def threshold(self) -> float:
        """The gamma."""
        return self.gamma

    def level(self, stats: GroupStats) -> Floats:
        """The share of each group's records that are far from what it publishes."""
        far, size = self._far(stats)
        return np.where(size > 0, far / np.maximum(size, 1), 1.0)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups have enough records that are far, in integers."""
        far, size = self._far(stats)
        gamma = as_fraction(self.gamma)
        return (times(far, gamma.denominator) >= times(size, gamma.numerator)).astype(np.bool_)

    def _far(self, stats: GroupStats) -> tuple[Counts, Counts]:
        """How many records of each group are far from what it publishes, of how many; none of none if that is open."""
        found = stats.distances.get(self.column)
        if found is None:
            nothing = np.zeros(stats.n_groups, np.int64)
            return nothing, nothing
        far = np.bincount(found.group, found.records * (found.off >= self.epsilon), stats.n_groups)
        size = np.bincount(found.group, found.records, stats.n_groups)
        return far.astype(np.int64), size.astype(np.int64)
