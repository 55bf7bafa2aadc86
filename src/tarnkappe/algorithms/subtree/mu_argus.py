"""mu-Argus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.steps.giving_up import Rows, distinct_codes
from tarnkappe.arrays import Codes
from tarnkappe.criteria.base import Criterion, Scope
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.errors import InfeasibleError
from tarnkappe.fixes import algorithm
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.subtree.combinations import hit_combinations
from tarnkappe.params import param, parameters
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class MuArgus(Algorithm):
    r"""Recode columns until rare combinations of values are few, give up the cells behind the rest, then check jointly.

    A combination of up to `combinations` values is *unsafe* if fewer records have it than `thresholds` say for its
    length. While more than `local` of the records have an unsafe combination, or are in a group that violates the goal,
    the column with most records in unsafe combinations goes up one level of its taxonomy, for everybody. Then, record
    by record, cells are given up (published as the root of their taxonomy) so that every unsafe combination loses one:
    a greedy hitting set, the column that meets most combinations per weight first.

    Counts of small combinations do not make groups of all columns large. So groups, the records that publish the same,
    are checked against the goal: those that violate it give up further cells, first the column that settles most of
    their records. What is left with nothing to give up is suppressed within the limit, or else joined by the smallest
    groups until the goal is satisfied. O(n · C(d, combinations)) for each recoding step.

    Cells and records that are given up are missing where others counted on them. So thresholds above the size of every
    group become part of the goal, as LKC-privacy: whoever knows so many quasi-identifiers of a published record finds
    that many records. A cell that was given up counts like any other label there.

    Differs from the original in: the program leaves global recoding to its user, who is replaced by the greedy choice
    above, and checks neither all columns together nor the combinations that are left; here no release leaves without
    that. Records are weighed alike (the program can estimate how many people of the population share a combination).

    References
    ----------
    .. [HuWi96] Hundepool, Willenborg. "mu- and tau-Argus: software for statistical disclosure control." 3rd
       International Seminar on Statistical Confidentiality, Bled 1996.
    """

    name: ClassVar = "mu-argus"
    title: ClassVar = "mu-Argus"
    scheme: ClassVar = "subtree"
    scopes: ClassVar[frozenset[Scope]] = frozenset({"group", "projection"})
    summary: ClassVar = "Global recoding, then single cells given up where combinations of values are rare."

    combinations: int = param(3, doc="How many quasi-identifiers are combined at most.", ge=1)
    thresholds: tuple[int, ...] = param(
        (),
        doc="How many records must share a value, a pair, a triple (the last also counts for longer combinations; "
        "none given: as many as a group needs at least).",
        ge=1,
    )
    local: float = param(
        0.1, doc="Recode a column for everybody while more than this share of the records would lose cells.", ge=0, le=1
    )

    def promised(self, goal: Goal, n_quasi: int) -> Goal:
        """The goal with the thresholds that neither it nor those of longer combinations imply."""
        more: list[Criterion] = []
        implied = goal.min_size
        for n, threshold in reversed([*enumerate(self._by_length(n_quasi), 1)]):
            if threshold > implied:
                more.insert(0, LKCPrivacy(n, threshold))
                implied = threshold
        more = [c for c in more if c not in goal.criteria]  # a job that was carried out names them already
        return Goal([*goal.criteria, *more], goal.max_suppressed, goal.pause) if more else goal

    def _by_length(self, n_quasi: int) -> list[int]:
        """The thresholds that were given, for all combinations that there are; the last is for all longer ones."""
        given = [*self.thresholds, *self.thresholds[-1:] * self.combinations]
        return given[: min(self.combinations, n_quasi)]

    def require_supported(self, tally: Tally, goal: Goal) -> None:
        """Refuse thresholds that not even all records together reach."""
        super().require_supported(tally, goal)
        n, highest = tally.n_records, max(self._by_length(len(tally.quasi_domains)), default=0)
        if 0 < n < highest:
            changed = {p.name: v for p in parameters(type(self)) if (v := getattr(self, p.name)) != p.default}
            raise InfeasibleError(
                "E301",
                f"no release satisfies the thresholds of {self.name}: "
                f"they ask for {highest} records that share a value, the table has {n}",
                hint=algorithm(self.name, **{**changed, "thresholds": [min(t, n) for t in self.thresholds]}),
            )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Recode, give up cells, check."""
        goal = self.promised(goal, len(tally.quasi_domains))
        self.require_supported(tally, goal)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        q = len(tally.quasi_domains)
        thresholds = self._by_length(q) or [goal.min_size] * min(self.combinations, q)
        file = _File(tally, goal, thresholds)
        while file.share_to_protect() > self.local and file.recode():
            pass
        for grouping in file.settle(file.with_cells_given_up()):
            settled = suppress_leftovers(tally, grouping, goal)
            if settled is not None:
                return settled
        raise goal.infeasible(tally)


class _File(Rows):
    """The distinct rows of a tally with what each of them publishes at present: a node per column."""

    def __init__(self, tally: Tally, goal: Goal, thresholds: Sequence[int]) -> None:
        super().__init__(tally, goal, *distinct_codes(tally))
        self.thresholds = thresholds
        self.level = [0] * len(self.trees)
        self.node = self.leaves()
        longest = len(thresholds)
        self.sets = [c for n in range(1, longest + 1) for c in combinations(range(len(self.trees)), n)]
        self.unsafe = np.array([self._unsafe(c) for c in self.sets])
        self.columns = np.full((len(self.sets), longest), -1, np.int32)
        for i, chosen in enumerate(self.sets):
            self.columns[i, : len(chosen)] = chosen

    def _unsafe(self, columns: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which rows have a rare combination of values in some columns."""
        return self.rare(self.node, columns, self.thresholds[len(columns) - 1])

    def share_to_protect(self) -> float:
        """Share of the records that have an unsafe combination, or whose group violates the goal."""
        exposed = self.unsafe.any(axis=0)
        group, ok = self.judged(self.with_cells_given_up())
        exposed |= ~ok[group]
        return float(self.size[exposed].sum()) / self.tally.n_records

    def recode(self) -> bool:
        """Raise the column with most records in unsafe combinations, else most values; False if all are at the top."""
        able = [j for j, tree in enumerate(self.trees) if self.level[j] < tree.height]
        if not able:
            return False
        records = self.unsafe @ self.size
        rank = [
            (sum(r for r, c in zip(records, self.sets, strict=True) if j in c), len(np.unique(self.node[:, j])), -j)
            for j in able
        ]
        j = -max(rank)[2]
        self.level[j] += 1
        self.node[:, j] = self.trees[j].ancestors[self.level[j]][self.codes[:, j]]
        for i, chosen in enumerate(self.sets):
            if j in chosen:
                self.unsafe[i] = self._unsafe(chosen)
        return True

    def with_cells_given_up(self) -> Codes:
        """What each row publishes once its unsafe combinations are broken; a root is node 0."""
        given_up = hit_combinations(self.unsafe, self.columns, self.weight)
        return np.where(given_up, 0, self.node).astype(np.int32)
