"""What all algorithms share that deal records to numbered groups."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.base import Algorithm, Scheme
from tarnkappe.deals import Deal
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.publish.numbered import Numbered
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Bucketization(Algorithm):
    """Deals records to groups that publish a number, and tables that go on under it."""

    scheme: ClassVar[Scheme] = "bucketization"
    generalises: ClassVar = False
    publishes: ClassVar[type[Numbered]]

    @abstractmethod
    def deal(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Deal:
        """Groups that satisfy the goal, or an `InfeasibleError`."""

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse also what the tables publish, for whoever asks for a deal without a job."""
        super().require_supported(tally, goal)
        self.require_kept(goal)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """The groups that are dealt, as a grouping of cells."""
        return self.deal(tally, goal, rng=rng).grouping(tally)

    def all_in_one(self, tally: Tally) -> Grouping | None:
        """Groups of this kind are dealt (see `all_in_one_deal`)."""
        return None

    def all_in_one_deal(self, tally: Tally) -> Deal | None:
        """All records in one group, for algorithms that may find nothing although this would do."""
        return None

    def require_published(self, tally: Tally, goal: Goal) -> None:
        """Refuse criteria that look at columns which the tables do not have: nobody could check them there."""
        shown = {domain.name for domain in tally.sensitive_domains if not domain.aside}
        for criterion in goal.criteria:
            hidden = [name for name in criterion.columns if name not in shown]
            if hidden or (criterion.columns and criterion.sensitive_column is None):
                raise JobError(
                    "E111",
                    f"{self.name} cannot promise {criterion.name}: it looks at more than the sensitive columns",
                    hint=say("Choose another algorithm:  {}", algorithm("mondrian")),
                )

    def one_column(self, goal: Goal) -> str:
        """The sensitive column of a goal; refused if it looks at none, or at several."""
        columns = goal.columns
        if len(columns) == 1:
            return columns[0]
        what = "no sensitive column" if not columns else f"several sensitive columns ({', '.join(columns)})"
        raise JobError(
            "E111",
            f"{self.name} tears one sensitive column from the quasi-identifiers, and the criteria look at {what}",
            hint="- l-diversity: {column: NAME, l: 3}"
            if not columns
            else say("Ask for one of them only, or choose another algorithm:  {}", algorithm("mondrian")),
        )
