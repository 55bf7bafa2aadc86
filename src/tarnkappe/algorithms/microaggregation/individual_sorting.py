"""Individual sorting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.axis import from_both_ends
from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.centres import centres_of, operators_of
from tarnkappe.algorithms.steps.units import tidy
from tarnkappe.arrays import Codes, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.criteria.base import Scope
from tarnkappe.errors import JobError
from tarnkappe.fixes import algorithm, criterion, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.plan import suppress_leftovers
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Tally, distinct_rows


@dataclass(frozen=True)
class IndividualSorting(Microaggregation):
    r"""Sort every column by itself, and publish the mean of k neighbours in that column only.

    .. math:: x'_{ij} = \frac{1}{|G_j(i)|} \sum_{h \in G_j(i)} x_{hj}

    with the group :math:`G_j(i)` that record i belongs to when column j is sorted and cut as by single-axis sorting.
    Very little is lost, because every group is as narrow as k records of one column can be.

    **Not k-anonymous.** Each published value stands for k records, but a record's *combination* of values mostly is its
    own: whoever knows two columns of a person finds them. `tarnkappe.evaluate.joint_anonymity` says how many records
    that concerns. So this accepts only criteria about what is known in part, such as LKC-privacy with L = 1, which it
    satisfies with groups of K. If a goal asks for more (L = 2, a confidence), the groups of all columns grow until it
    holds: the smallest size is found by doubling and bisection.

    The internal report holds the size of the groups and the share of records that are alone with their combination.
    Nominal columns are sorted as in their taxonomy. Takes :math:`O(d n \log n)` for every size that is tried.

    References
    ----------
    .. [MaDo98] Mateo-Sanz, Domingo-Ferrer. "A comparative study of microaggregation methods." Qüestiió 22, 1998.
    .. [DOTM02] Domingo-Ferrer, Oganian, Torres, Mateo-Sanz. "On the security of microaggregation with individual
       ranking: analytical attacks." IJUFKS 10(5), 2002.
    """

    name: ClassVar = "individual-sorting"
    title: ClassVar = "Individual sorting"
    summary: ClassVar = "Sorts and groups every column by itself; protects single columns only, not their combination."
    scopes: ClassVar[frozenset[Scope]] = frozenset({"projection"})

    def __post_init__(self) -> None:
        """Refuse refinement, which moves whole records."""
        super().__post_init__()
        if self.refine:
            raise JobError(
                "E110",
                f"{self.name} cannot refine its groups: every column has its own, and each is as narrow as can be",
                hint="Remove  refine, or choose another algorithm:  algorithm: {name: mdav}.",
            )

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k along one column, from both ends."""
        group = np.empty(len(points), np.int32)
        group[np.argsort(points[:, 0], kind="stable")] = from_both_ends(len(points), k)
        return group

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse criteria that speak of whole records, and say which to ask for instead."""
        whole = [c.name for c in goal.criteria if c.decided_on == "group"]
        if whole:
            raise JobError(
                "E111",
                f"{self.name} cannot guarantee {', '.join(whole)}: it protects single columns only, and several "
                "together may belong to one record",
                hint=say(
                    "Ask for what it promises:  {}   or choose another algorithm:  {}",
                    criterion("lkc-privacy", "LKCPrivacy", l=1, k=max(goal.min_size, 2)),
                    algorithm("mdav"),
                ),
            )
        super().require_supported(tally, goal)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """The smallest groups of single columns for which the goal holds."""
        self.require_supported(tally, goal)
        self._require_operators(tally)
        if tally.n_cells == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        too_small, k = 0, min(goal.min_size, tally.n_records)
        found = self._attempt(tally, goal, k, rng)
        while found is None:
            too_small, k = k, min(2 * k, tally.n_records)
            found = self._attempt(tally, goal, k, rng)
        while k - too_small > 1:
            middle = (too_small + k) // 2
            smaller = self._attempt(tally, goal, middle, rng)
            if smaller is None:
                too_small = middle
            else:
                k, found = middle, smaller
        return found

    def _attempt(self, tally: Tally, goal: Goal, k: int, rng: np.random.Generator) -> Grouping | None:
        """The release with groups of k in every column, without records that the goal forbids; None: too many."""
        cell = np.repeat(np.arange(tally.n_cells, dtype=np.int32), tally.count)
        columns = [self.partition(codes[:, None], k, rng) for codes in tally.quasi[cell].T.astype(np.float64)]
        sizes = [int(c.max()) + 1 for c in columns]
        group, first = distinct_rows(columns, sizes)
        pieces = tidy(cell, group, np.ones(len(cell), np.int64), len(first))
        keys = np.column_stack([c[first] for c in columns])
        centres = np.empty(keys.shape)
        lo, hi, node = np.empty_like(keys), np.empty_like(keys), np.empty_like(keys)
        operators = operators_of(tally, self.aggregate, self.aggregates)
        for j, domain in enumerate(tally.quasi_domains):
            alone = replace(tally, quasi=np.ascontiguousarray(tally.quasi[:, j : j + 1]), quasi_domains=(domain,))
            own = tidy(cell, columns[j], np.ones(len(cell), np.int64), sizes[j])
            found = centres_of(alone, own, operators[j : j + 1], self.decimals, whole=self.whole)
            centres[:, j] = found.values[keys[:, j], 0]
            box = own.boxes(alone)
            lo[:, j], hi[:, j], node[:, j] = (x[keys[:, j], 0] for x in (box.lo, box.hi, box.node))
        single = int((np.bincount(group) == 1).sum())
        notes = {"group size of single columns": k, "share of records alone": single / len(cell)}
        grouping = replace(pieces, form=Centres(centres, operators, fixed=Boxes(lo, hi, node)), notes=notes)
        return suppress_leftovers(tally, grouping, goal, keys)
