"""l+-Optimize."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.subtree.costs import CellLossCost, Cost
from tarnkappe.algorithms.subtree.exact import ExactSearch
from tarnkappe.algorithms.subtree.refinements import Refinements
from tarnkappe.goal import Goal
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class LPlusOptimize(ExactSearch):
    r"""Find the subtree recoding of least cell loss that satisfies the goal, or prove how far it may be away.

    A recoding chooses a cut of every taxonomy. Its cost is the weighted mean loss of a cell,

    .. math:: \frac1n \Bigl( \sum_{G\ \text{published}} |G| \sum_j w_j \, \mathrm{loss}_j(G) + n_\mathrm{suppressed}
              \Bigr), \qquad \sum_j w_j = 1.

    Cuts are enumerated from the root of every taxonomy, by replacing nodes by their children. A branch is
    pruned if a group violates the goal and cannot be suppressed, because every finer cut violates it too, and if its
    lower bound reaches the best cost: no record loses less than in the finest cut of the branch, and records of groups
    that can no longer satisfy the goal lose everything. Made for l+-diversity (confidence bounding), where each
    sensitive value has a bound of its own, it works with every monotone criterion.

    After `nodes` branches, or the work of its `effort`, the best recoding found is returned. The notes of the grouping
    hold its ``cost``, the proved ``lower bound`` and whether it is ``optimal``.

    Exponential in the number of nodes; O(nodes · distinct rows) per branch.

    Differs from the paper in: the paper leaves open how cuts of several taxonomies are ordered; they are enumerated as
    sets of opened nodes, like the cuts of K-Optimize, by turns depth-first and by bound. Numeric columns without a
    taxonomy are cut into intervals. Records may be suppressed within the goal's budget.

    References
    ----------
    .. [LiWa10] Liu, Wang. "On optimal anonymization for l+-diversity." ICDE 2010.
    """

    name: ClassVar = "l-plus-optimize"
    title: ClassVar = "l+-Optimize"
    summary: ClassVar = "Exact search over all subtree cuts for least cell loss, with a proved bound."

    metric: str = param("lm", doc="The loss of a cell that is minimised.", choices=("lm", "gcp", "iloss"))

    def cost(self, tally: Tally, goal: Goal, space: Refinements) -> Cost:
        """The mean loss of a cell."""
        return CellLossCost(tally, space, self.metric)
