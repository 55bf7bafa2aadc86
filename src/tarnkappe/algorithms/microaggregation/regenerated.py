"""Condensation with regenerated records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.bucketization.base import Bucketization
from tarnkappe.algorithms.microaggregation.condensation import Condensation
from tarnkappe.criteria.k_indistinguishability import KIndistinguishability
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, criterion, say
from tarnkappe.goal import Goal
from tarnkappe.params import param
from tarnkappe.publish.regenerated import Regenerated
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class RegeneratedCondensation(Bucketization):
    r"""Form groups of records that lie near each other, and draw new records with the moments of each group.

    Groups are those of `condensation`: a random record and those nearest to it. Of each only the size, the mean and the
    covariance matrix are kept, and as many records are drawn from them (see `tarnkappe.publish.regenerated.redrawn`).
    The new table has the mean and the covariances of every group, and so of the whole table, up to the last decimal
    place that is written. No record of it is a person's.

    Groups have at least two records more than there are quasi-identifiers: otherwise new records would lie in the plane
    that the old ones span, and two records could only be drawn as they were. That is promised too.

    Differs from the paper in: moments are kept exactly, not on average; sensitive values, if there are any, are
    shuffled within groups; the version for streams is not here.

    References
    ----------
    .. [AgYu04] Aggarwal, Yu. "A condensation approach to privacy preserving data mining." EDBT 2004.
    .. [AgYu08] Aggarwal, Yu. "On static and dynamic methods for condensation-based privacy-preserving data mining."
       ACM TODS 33(1), 2008.
    """

    name: ClassVar = "regenerated-condensation"
    title: ClassVar = "Condensation with regenerated records"
    scheme: ClassVar = "microaggregation"
    summary: ClassVar = "Draws new records that keep means and covariances of groups; no record is a person's."
    publishes: ClassVar = Regenerated

    decimals: int = param(6, doc="Decimal places of the numbers that are drawn.", ge=0, le=12)

    def promised(self, goal: Goal, n_quasi: int) -> Goal:
        """Also groups that are large enough to be drawn from."""
        if goal.min_size >= n_quasi + 2 and any(isinstance(c, KIndistinguishability) for c in goal.criteria):
            return goal
        return goal.about([*goal.criteria, KIndistinguishability(n_quasi + 2)])

    def require_kept(self, goal: Goal) -> None:
        """Refuse also criteria about people who look alike: nobody does."""
        super().require_kept(goal)
        for asked in goal.criteria:
            if "identity" in asked.protects and not isinstance(asked, KIndistinguishability):
                raise JobError(
                    "E111",
                    f"{self.name} cannot promise {asked.name}: records are drawn anew, no two of them look alike",
                    hint=criterion("k-indistinguishability", "KIndistinguishability", k=20),
                )

    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """The groups of condensation."""
        goal = self.promised(goal, len(tally.quasi_domains))
        self.require_supported(tally, goal)
        self.require_published(tally, goal)
        for domain in tally.quasi_domains:
            if domain.values is None or domain.missing >= 0 or domain.floor:
                lacks = "some of its values are missing" if domain.missing >= 0 else "it does not hold numbers"
                raise JobError(
                    "E111",
                    f"{self.name} draws numbers, and cannot draw '{domain.name}': {lacks}",
                    hint=say("Choose another algorithm:  {}", algorithm("condensation")),
                )
        groups = Condensation().decide(tally, goal, rng=rng)
        return Deal.of(groups, Regenerated(self.decimals))
