"""delta-disclosure privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, sizes_of_entries, times
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated

_BASES = {"binary": 2.0, "natural": math.e, "decimal": 10.0}

#: Rounding slack: a ratio of exactly ``base ** delta`` must fail, but logarithms in floats may fall short of delta.
_SLACK = 1e-12


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveCriterion):
    r"""Every sensitive value is about as common in a group as in the whole table, up to a factor of ``base ** delta``.

    With :math:`p_s` the share of a value in the group and :math:`q_s` that in the table

    .. math:: \left| \log \frac{p_s}{q_s} \right| < \delta \text{ for every value } s \text{ of the table}

    The inequality is strict. A value that the group lacks has :math:`p_s = 0`, so that the group fails; with
    ``absent: skipped`` such values are left out, as ARX does.

    The level is the largest absolute logarithm; a relative slack of 1e-12 on the safe side absorbs rounding. O(values
    present in the groups).

    **Monotone** only if absent values violate. If they are skipped it is not: in a table with the counts (3, 7, 10),
    the groups (1, 3, 3) and (0, 3, 5) satisfy delta = 1, but (1, 6, 8) does not.

    Differs from the paper in: the paper writes log without a base. The default here is the binary one, as in ARX; the
    same promise with another base has delta times ``log 2 / log base``.

    References
    ----------
    .. [BrSh08] Brickell, Shmatikov. "The cost of privacy: destruction of data-mining utility in anonymized data
       publishing." KDD 2008.
    """

    name: ClassVar = "delta-disclosure"
    title: ClassVar = "delta-disclosure privacy"
    sense: ClassVar = "below"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    compares_with_table: ClassVar = True
    card: ClassVar = Card(
        protects_from="learning from group membership that a value is much likelier, or much rarer, than overall.",
        does_not="stop a person from being singled out; combine it with k-anonymity.",
        typical="1 to 2 with the binary logarithm: at most twice, or four times, as common or rare.",
        cost="very high: every group needs every value of the table, in about the table's mix.",
    )

    delta: float = param(doc="What the logarithm of the ratio of shares must stay below.", gt=0, example=1)
    absent: str = param(
        "violates",
        doc="What a value of the table that a group lacks does: it violates the criterion, or it is skipped.",
        choices=("violates", "skipped"),
    )
    logarithm: str = param(
        "binary", doc="The logarithm: binary (base 2), natural or decimal.", choices=("binary", "natural", "decimal")
    )

    @property
    def threshold(self) -> float:
        """The delta."""
        return self.delta

    @property
    def is_monotone(self) -> bool:
        """Where absent values are skipped, pooling may bring in a value that is too rare."""
        return self.absent == "violates"

    @property
    def asked(self) -> str:
        """The promise in short."""
        skipped = ", absent values skipped" if self.absent == "skipped" else ""
        return f"|{self.logarithm} log of the ratio of shares| < {stated(self.delta)}{skipped}"

    def level(self, stats: GroupStats) -> Floats:
        """The largest absolute logarithm of the ratio of shares of each group."""
        h = stats.histograms[self.column]
        expected = times(h.table[h.codes], sizes_of_entries(stats, h))
        found = times(h.counts, int(h.table.sum()))
        ratio = np.where(expected > 0, found / np.maximum(expected, 1), np.inf).astype(np.float64)
        distance = np.abs(np.log(ratio)) / math.log(_BASES[self.logarithm])
        worst: Floats = reduce_groups(np.maximum, distance, h.indptr)
        if self.absent == "violates":
            present = reduce_groups(np.add, (h.table[h.codes] > 0).astype(np.int64), h.indptr)
            worst = np.where(present < np.count_nonzero(h.table), np.inf, worst)
        return worst

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups stay below delta, up to rounding."""
        return self.level(stats) < self.delta * (1 - _SLACK)
