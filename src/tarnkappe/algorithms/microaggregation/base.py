"""What all microaggregation shares: records as points, groups that satisfy the goal, and the centres they publish."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.microaggregation.centres import OPERATORS, centres_of, operators_of
from tarnkappe.algorithms.microaggregation.constrained import divided, exchanged
from tarnkappe.algorithms.microaggregation.in_blocks import blocks_of, in_halves, joined, mdav_in_blocks
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.algorithms.microaggregation.refinement import refined
from tarnkappe.algorithms.steps.units import deal_out, project, tidy
from tarnkappe.algorithms.watch import TimeOver
from tarnkappe.arrays import Codes, Floats
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.fixes import assignment, say
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Tally
from tarnkappe.threads import map_threads

#: Sizes of groups that are tried where a goal asks for more than a size.
_SIZES = 2

#: If so many groups of MDAV become one on average, or groups are so many times as large as they need be, the goal says
#: what they are, and any method would be much the same.
_POOLED, _SWOLLEN = 8, 64


@dataclass(frozen=True)
class Microaggregation(Algorithm):
    """Groups near records and publishes the centre of each group.

    A subclass says how points are grouped (`partition`) into groups of at least k. If the goal asks for more than a
    size, groups that fall short are pooled with near ones; the same `Records` serve all methods.
    """

    scheme: ClassVar = "microaggregation"
    publishes: ClassVar = Centres

    aggregate: str = param("mean", doc="What a group publishes of its numbers.", choices=OPERATORS, kw_only=True)
    aggregates: Mapping[str, str] = param(
        {}, doc="What a group publishes of single columns: mean, median or mode.", kw_only=True
    )
    whole: bool = param(
        False,
        doc="Publish whole numbers where a column has nothing else; its total stays as near as can be.",
        kw_only=True,
    )
    decimals: int | None = param(
        2, doc="Decimal places of a mean beyond those of its column; none: exact means.", ge=0, kw_only=True
    )
    refine: bool = param(False, doc="Let records move between near groups as long as the loss falls.", kw_only=True)

    @abstractmethod
    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """The group of every point, numbered from 0.

        Every group has at least `k` points; there are at least `k` of them.
        """

    @property
    def at_once(self) -> int | None:
        """How many records are grouped together at most, if the time grows with the square of them; more in blocks."""
        return None

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Group the records, make every group satisfy the goal, and find the centres."""
        self.require_supported(tally, goal)
        self._require_operators(tally)
        if tally.n_cells == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        seen, owner = project(tally, goal)
        records = Records.of(seen, goal)
        group = self._improved(records, self._formed(records, rng), rng)
        pieces = tidy(records.cell, group, np.ones(records.n, np.int64), int(group.max()) + 1)
        grouping = pieces if seen is tally else deal_out(tally, owner, pieces)
        return self._with_centres(tally, grouping)

    def all_in_one(self, tally: Tally) -> Grouping | None:
        """One group with its centre."""
        together = super().all_in_one(tally)
        return None if together is None else self._with_centres(tally, together)

    def _formed(self, records: Records, rng: np.random.Generator) -> Codes:
        """Groups that satisfy the goal.

        If it asks for more than a size, small groups mostly fall short, and pooling them one by one costs more than to
        form larger ones in the first place. MDAV, which is fast, tells which sizes are cheapest. Where even then nearly
        all groups have to be pooled, or are very large, it hardly matters how they were formed, and those of MDAV will
        do.
        """
        k = min(records.goal.min_size, records.n)
        if records.goal.decided_by_size:
            return self._partitioned(records, k, rng)
        found = []
        for trial in _cheapest(_trials(records, k)):
            if trial.pooled >= _POOLED or trial.size >= _SWOLLEN * k:
                found.append(trial.group)
                continue
            group = self._partitioned(records, trial.size, rng)
            found.append(records.settled(group))
            if found[-1] is group:
                break
        return min(found, key=records.error)

    def _partitioned(self, records: Records, k: int, rng: np.random.Generator) -> Codes:
        """Groups of at least k records, by their points alone unless a method looks at single columns."""
        points = records.points
        blocks = [] if self.at_once is None else blocks_of(points, k, self.at_once)
        if len(blocks) <= 1:
            return self.partition(points, k, rng)
        own = zip(blocks, rng.spawn(len(blocks)), strict=True)
        return joined(len(points), blocks, map_threads(lambda b: self.partition(points[b[0]], k, b[1]), own))

    def _improved(self, records: Records, group: Codes, rng: np.random.Generator) -> Codes:
        """The groups after refinement.

        If the goal asks for more than a size, groups that have been pooled are divided where they can be, at any rate.
        """
        if records.goal.decided_by_size:
            k = min(records.goal.min_size, records.n)
            return refined(records.points, [group], k, rng) if self.refine else group
        try:
            group = divided(records, group)
            return exchanged(records, group, rng) if self.refine else group
        except TimeOver:
            return group  # which satisfies the goal already

    def _with_centres(self, tally: Tally, grouping: Grouping) -> Grouping:
        operators = operators_of(tally, self.aggregate, self.aggregates)
        return replace(grouping, form=centres_of(tally, grouping, operators, self.decimals, whole=self.whole))

    def _require_operators(self, tally: Tally) -> None:
        names = [d.name for d in tally.quasi_domains]
        for name, operator in self.aggregates.items():
            if name not in names:
                raise JobError(
                    "E110",
                    f"'aggregates' names '{name}', which is no quasi-identifier{did_you_mean(name, names)}",
                    hint=f"Quasi-identifiers: {', '.join(names)}.",
                )
            if operator not in OPERATORS:
                raise JobError(
                    "E110",
                    f"there is no operator '{operator}'{did_you_mean(operator, OPERATORS)}",
                    hint=say(f"{{}}   Operators: {', '.join(OPERATORS)}.", assignment("aggregates", {name: "median"})),
                )


class _Trial(NamedTuple):
    """What MDAV makes of groups of a size: groups that satisfy the goal, their error, and how many became one."""

    size: int
    group: Codes
    error: float
    pooled: float


def _trials(records: Records, k: int) -> Iterator[_Trial]:
    """Sizes of groups, k times powers of two, until no group has to be pooled."""
    order = in_halves(records.points)
    while True:
        group = mdav_in_blocks(records.points, k, order=order)
        settled = records.settled(group)
        yield _Trial(k, settled, records.error(settled), (int(group.max()) + 1) / (int(settled.max()) + 1))
        if settled is group or 2 * k > records.n:
            return
        k *= 2


def _cheapest(trials: Iterator[_Trial]) -> list[_Trial]:
    """The trials with the least errors; others are forgotten at once."""
    return heapq.nsmallest(_SIZES, trials, key=lambda trial: trial.error)
