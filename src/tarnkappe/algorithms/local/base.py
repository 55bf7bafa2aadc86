"""What every local recoding is."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.local.pool import Pool, divide, improved, settle
from tarnkappe.algorithms.steps.swaps import swap_refine
from tarnkappe.algorithms.steps.units import deal_out, select, tidy, tuples_of
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class LocalRecoding(Improving):
    """A local recoding: the subclass makes groups of a pool, the rest is the same for all of them.

    1. Combinations of quasi-identifiers whose records satisfy the goal by themselves stay as they are, unless the
       others could then not satisfy it together.
    2. The others are the pool that the algorithm groups (`cluster`); it may leave records over.
    3. Leftovers join the group whose loss rises least.
    4. Groups that do not satisfy the goal are merged with the group where the loss rises least, until all do. For a
       monotone goal this ends at the latest with everybody in one group.
    5. Groups are dissolved whose records are better off in others nearby. If the goal is about sizes, or about values
       that must not be too frequent, near groups are then thrown together and grown anew, in as many rounds as the
       `effort` says.
    6. Groups are divided around two far-apart records where both parts satisfy the goal.
    7. `swaps` passes of swap refinement.
    """

    scheme: ClassVar = "local"
    handles_wildcards: ClassVar = True

    swaps: int = param(
        3, doc="Passes of swap refinement: records with equal secrets change groups.", ge=0, kw_only=True
    )

    @abstractmethod
    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """Groups of the pool's records; group -1 is left over, and groups need not satisfy the goal."""

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Group what does not stand already, then make every group satisfy the goal."""
        self.require_supported(tally, goal)
        whole, owner = Pool.whole(tally, goal, self.work, self.watch)
        grouping = improved(whole, settle(whole, self._first_groups(whole, rng)))
        grouping = divide(whole, grouping, np.ones(grouping.n_groups, np.bool_))
        grouping = swap_refine(whole.tally, grouping, goal, self.swaps)
        return deal_out(tally, owner, grouping)

    def _first_groups(self, whole: Pool, rng: np.random.Generator) -> Grouping:
        """The combinations that satisfy the goal by themselves, and what the algorithm makes of the others."""
        combination = tuples_of(whole.tally)
        alone = Grouping.of_cells(whole.tally, combination, int(combination[-1]) + 1)
        stands = whole.satisfied(alone)
        if stands.all():
            return alone
        tally, cells = select(whole.tally, ~stands[combination])
        pool = whole.part(tally)
        if not whole.goal.decided_by_size and not pool.satisfied(pool.together()).all():
            return self.cluster(whole, rng)
        made = self.cluster(pool, rng)
        number = (np.cumsum(stands) - 1 + made.n_groups).astype(np.int32)
        fixed = np.flatnonzero(stands[combination]).astype(np.int32)
        return tidy(
            np.concatenate([cells[made.cell], fixed]),
            np.concatenate([made.group, number[combination[fixed]]]),
            np.concatenate([made.quota, whole.tally.count[fixed]]),
            made.n_groups + int(stands.sum()),
        )
