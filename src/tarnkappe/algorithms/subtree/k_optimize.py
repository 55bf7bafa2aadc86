"""K-Optimize."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tarnkappe.algorithms.subtree.costs import ClassificationCost, Cost, DiscernibilityCost
from tarnkappe.algorithms.subtree.exact import ExactSearch
from tarnkappe.algorithms.subtree.refinements import Refinements
from tarnkappe.goal import Goal
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class KOptimize(ExactSearch):
    r"""Find the global recoding of least discernibility among all sets of cuts, or prove how far it may be away.

    An anonymisation is a set of cuts of all columns. Its cost is

    .. math:: \sum_{G\ \text{published}} |G|^2 + n \cdot n_\mathrm{suppressed}

    or, with a `target`, the classification metric: the share of records that are suppressed or whose target value is
    not the most frequent one of their group. Sets of cuts are enumerated as a tree: a head of cuts made, and a tail of
    cuts still allowed. Whatever is made of the tail, a record of a group that can no longer satisfy the goal costs
    ``n``, any other at least the size of its group in the finest partition (head and tail), and no less than the
    smallest size allowed. Branches whose bound reaches the best cost are pruned, as are single cuts of the tail, and
    the tail is reordered at every node. A greedy descent gives the first cost to compare with.

    After `nodes` branches, or the work of its `effort`, the best recoding found is returned. The notes of the grouping
    hold its ``cost``, the proved ``lower bound`` and whether it is ``optimal``.

    Exponential in the number of cuts; O(cuts · distinct rows) per node.

    Differs from the paper in: cuts of a taxonomy replace a node by all its children, so that every part has a name
    (the paper cuts between any two neighbours); suppression is limited by the goal's budget, and branches that must
    exceed it are pruned as well; any monotone criterion may be asked for, where a group that violates a criterion which
    is not absorbing is not yet counted as suppressed in the bound; the tail is ordered by the cost after each cut
    instead of by the number of groups that it divides, and branches are visited by turns depth-first and by bound.

    References
    ----------
    .. [BaAg05] Bayardo, Agrawal. "Data privacy through optimal k-anonymization." ICDE 2005.
    """

    name: ClassVar = "k-optimize"
    title: ClassVar = "K-Optimize"
    summary: ClassVar = "Exact search over all cuts of all columns for least discernibility, with a proved bound."

    target: str | None = param(
        None,
        doc="Minimise the classification error of this column instead of the discernibility.",
        refers_to="predicted",
    )

    def cost(self, tally: Tally, goal: Goal, space: Refinements) -> Cost:
        """Discernibility, or the classification error of the target."""
        if self.target is None:
            return DiscernibilityCost(tally, goal.min_size)
        return ClassificationCost(tally, self.target)
