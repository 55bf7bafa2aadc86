"""Secure k-Ward."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.balancing import MOST_BALANCED, balanced
from tarnkappe.algorithms.microaggregation.k_ward import KWard
from tarnkappe.arrays import Counts, Floats
from tarnkappe.groups import SUPPRESSED, Grouping, Note
from tarnkappe.kernels.microaggregation.securing import secure_sides, secure_values
from tarnkappe.params import param
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Domain, Tally


@dataclass(frozen=True)
class SecureKWard(KWard):
    r"""Group by k-Ward, and publish no number that is too near to too many records.

    Where the records of a group are almost equal, its mean tells all their values, whatever k is. So in every numeric
    column a share of at least :math:`\gamma_0` of each group's records must be :math:`\varepsilon` or more away from
    what is published:

    .. math:: \gamma(x) = \frac{|\{j : |x_j - x| \ge \varepsilon\}|}{n} \ge \gamma_0

    *Within a group* that falls short, two values come into question: the nearest to its mean from below, and from
    above, that satisfy this. They add least to the squared error, :math:`n (x - \bar x)^2`. The nearest below is some
    :math:`x_j - \varepsilon`, the nearest above some :math:`x_j + \varepsilon`, so these are all that need be tried;
    numbers that are published with limited decimals (`decimals`, `whole`) are rounded away from the mean first.

    *Among the groups* of a column, those that fall short take the lower value while the shifts
    :math:`Δ_i = n_i (x - \bar x_i)` so far add up to 0 or more, else the upper one. So the sum of all shifts stays
    within the largest single one, and the mean of the column moves by no more than that divided by n.

    With ``balance: exact`` the choice is the one that moves the mean of the column least, what the rounding of the
    other groups moved included. That is NP-hard: all choices for half of the groups are compared with all for the other
    half, :math:`O(2^{g/2})`. That is done for up to 40 groups that fall short in a column; with more the first ones by
    turns, the last 40 exactly.

    :math:`\varepsilon` is `epsilon` standard deviations of the column. Ranks and categories have no distances and are
    published as by k-Ward. The internal report holds the smallest ratio, how many values were shifted, and by how much
    the mean of each column moved.

    Differs from the paper as the slides tell it in: a group is shifted if its ratio is below :math:`\gamma_0`, not if
    it is at most that; the lower value is taken if the shifts so far are :math:`s^+ \ge -s^-` (with :math:`\le`, as
    printed, every group would take it).

    References
    ----------
    .. [LZWJ02] Li, Zhu, Wang, Jajodia. "A privacy-enhanced microaggregation method." FoIKS 2002, LNCS 2284.
    """

    name: ClassVar = "secure-k-ward"
    title: ClassVar = "Secure k-Ward"
    summary: ClassVar = "k-Ward whose published numbers keep a distance from the records of near-homogeneous groups."

    epsilon: float = param(
        0.01, doc="Tolerance: how far, in standard deviations of the column, a record must be off.", ge=0, kw_only=True
    )
    gamma: float = param(0.5, doc="Which share of a group's records must be so far off.", ge=0, le=1, kw_only=True)
    balance: str = param(
        "heuristic",
        doc="Choose between lower and upper values by turns, or so that the mean moves least (exact, up to 40 groups).",
        choices=("heuristic", "exact"),
        kw_only=True,
    )

    def _with_centres(self, tally: Tally, grouping: Grouping) -> Grouping:
        """The centres of k-Ward, shifted where they would tell too much."""
        grouping = super()._with_centres(tally, grouping)
        assert isinstance(grouping.form, Centres)
        published = grouping.form.values.copy()
        shifted, moved, ratios = 0, {}, {}
        exactly: dict[str, Note] = {}
        kept = grouping.group != SUPPRESSED
        cell, group, quota = (x[kept] for x in (grouping.cell, grouping.group, grouping.quota))
        for j, domain in enumerate(tally.quasi_domains):
            known = domain.known[tally.quasi[cell, j]]
            if domain.values is None or not known.any():
                continue
            value = np.repeat(domain.positions[tally.quasi[cell[known], j]], quota[known])
            owner = np.repeat(group[known], quota[known])
            size = np.bincount(owner, minlength=grouping.n_groups)
            starts = np.append(0, np.cumsum(size))
            ordered = value[np.argsort(owner, kind="stable")]
            before = np.ascontiguousarray(published[:, j])
            asked = (self.epsilon * float(np.std(value)), self.gamma, self._power(domain))
            if self.balance == "exact":
                before, exact = _balanced(ordered, starts, before, *asked)
                exactly[f"choice for {domain.name} exact"] = exact
            after, ratio, _ = secure_values(ordered, starts, before, *asked)
            ratios[f"security ratio of {domain.name}"] = ratio
            shifted += _changed(published[:, j], after)
            published[:, j] = after
            moved[f"shift of the mean of {domain.name}"] = float((after[owner] - value).mean())
        smallest = min((float(ratio.min()) for ratio in ratios.values()), default=1.0)
        notes: dict[str, Note] = {"smallest security ratio": smallest, "values shifted": shifted, **moved, **exactly}
        centres = replace(grouping.form, values=published, remarks=ratios, shifted=True)
        return replace(grouping, form=centres, notes={**grouping.notes, **notes})

    def _power(self, domain: Domain) -> float:
        """The denominator of the numbers that a column publishes; 0 if they have all their digits."""
        if self.whole and domain.is_integer:
            return 1.0
        if self.decimals is None or domain.decimals is None:
            return 0.0
        return float(domain.decimals[1] * 10**self.decimals)


def _changed(before: Floats, after: Floats) -> int:
    """How many groups publish another value than before."""
    return int((before != after)[~np.isnan(before)].sum())


def _balanced(
    values: Floats, starts: Counts, published: Floats, epsilon: float, gamma: float, power: float
) -> tuple[Floats, bool]:
    """What groups publish if those that fall short choose their side together, and whether all of them could."""
    mean, below, above = secure_sides(values, starts, published, epsilon, gamma, power)
    short = np.flatnonzero(~np.isnan(mean))
    sizes = np.diff(starts)
    size = sizes[short]
    lower, upper = (below[short] - mean[short]) * size, (above[short] - mean[short]) * size
    up = np.zeros(len(short), np.bool_)
    stays = np.repeat(np.isnan(mean), sizes)  # but for rounding
    total = float((np.repeat(published, sizes) - values)[stays].sum())
    rest = max(len(short) - MOST_BALANCED, 0)
    for i in range(rest):  # groups, of which there are few
        up[i] = total < 0
        total += upper[i] if up[i] else lower[i]
    if len(short) > rest:
        last = lower[rest:].copy()
        last[0] += total  # what the others moved counts as part of the first one's shift, whichever side it takes
        up[rest:] = balanced(last, np.append(upper[rest] + total, upper[rest + 1 :]))
    out = published.copy()
    out[short] = np.where(up, above[short], below[short])
    return out, rest == 0
