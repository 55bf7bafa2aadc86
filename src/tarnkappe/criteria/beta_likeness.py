"""beta-likeness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.arrays import Flags, Floats
from tarnkappe.criteria.base import Card, SensitiveCriterion, as_fraction, no_entry, sizes_of_entries, times
from tarnkappe.groups import GroupStats
from tarnkappe.kernels.histograms import reduce_groups
from tarnkappe.params import param
from tarnkappe.wording import stated


@dataclass(frozen=True)
class BetaLikeness(SensitiveCriterion):
    r"""No sensitive value is more than ``beta`` times commoner in a group, on top, than it is in the whole table.

    With :math:`p_s` the share of a value in the group and :math:`q_s` that in the table, for every :math:`p_s > q_s`

    .. math:: \frac{p_s - q_s}{q_s} \le \beta \;\text{(basic)}
       \qquad \frac{p_s - q_s}{q_s} \le \min(\beta, -\ln q_s) \;\text{(enhanced)}

    Only gains are bounded: that a value is rarer in a group than in the table is free. The enhanced form also keeps
    common values from filling a group: whatever `beta` is, :math:`p_s \le q_s (1 - \ln q_s) < 1`.

    The level is the largest gain; in the enhanced form a gain is scaled so that its own bound is `beta`. The bound
    `beta` is compared in integers; :math:`-\ln q_s` is irrational, so that there are no ties to decide. O(values
    present in the groups).

    Differs from the paper in: nothing; the paper prefers the enhanced form, and so does the default.

    References
    ----------
    .. [CaKa12] Cao, Karras. "Publishing microdata with a robust privacy guarantee." PVLDB 5(11), 2012.
    """

    name: ClassVar = "beta-likeness"
    title: ClassVar = "beta-likeness"
    sense: ClassVar = "at most"
    monotone: ClassVar = True
    absorbing: ClassVar = False
    compares_with_table: ClassVar = True
    card: ClassVar = Card(
        protects_from="gains: group membership makes no value, rare or common, much likelier than the table does.",
        does_not="bound losses: a group may lack a value that is common elsewhere. Nor does it stop similar meanings.",
        typical="1 to 4.",
        cost="high on columns with many rare values: one record of a rare value needs a large group around it.",
    )

    beta: float = param(doc="Largest gain of a value's share, relative to its share in the table.", gt=0, example=2)
    form: str = param(
        "enhanced",
        doc="Whether common values have a bound of their own (enhanced) or beta for all (basic).",
        choices=("enhanced", "basic"),
    )

    @property
    def threshold(self) -> float:
        """The beta."""
        return self.beta

    @property
    def asked(self) -> str:
        """The promise in short."""
        return f"{self.form} gain ≤ {stated(self.beta)}"

    def _gains(self, stats: GroupStats) -> Floats:
        """The gain of each value present in each group; negative where it is rarer than in the table."""
        h = stats.histograms[self.column]
        expected = times(h.table[h.codes], sizes_of_entries(stats, h))
        more = times(h.counts, int(h.table.sum())) - expected
        return np.where(expected > 0, more / np.maximum(expected, 1), np.inf).astype(np.float64)

    def _surprises(self, stats: GroupStats) -> Floats:
        """The bound ``-ln q`` of each value present in each group."""
        h = stats.histograms[self.column]
        return -np.log(np.maximum(h.table, 1) / int(h.table.sum()))[h.codes]

    def level(self, stats: GroupStats) -> Floats:
        """The largest gain of a value of each group."""
        gains = np.maximum(self._gains(stats), 0.0)
        if self.form == "enhanced":
            own = np.minimum(self._surprises(stats), self.beta)
            # A value that fills the whole table has the bound 0, which it cannot exceed.
            gains = np.divide(gains * self.beta, own, out=np.zeros(len(gains)), where=own > 0)
        return reduce_groups(np.maximum, gains, stats.histograms[self.column].indptr)

    def holds(self, stats: GroupStats) -> Flags:
        """Which groups satisfy it; beta as an exact fraction keeps its comparison in integers."""
        h = stats.histograms[self.column]
        beta = as_fraction(self.beta)
        allowed = times(times(h.table[h.codes], sizes_of_entries(stats, h)), beta.numerator + beta.denominator)
        beyond = times(times(h.counts, int(h.table.sum())), beta.denominator) > allowed
        if self.form == "enhanced":
            beyond = beyond | (self._gains(stats) > self._surprises(stats))
        return no_entry(beyond, h)
