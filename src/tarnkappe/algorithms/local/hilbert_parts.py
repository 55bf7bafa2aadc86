"""Hilbert order as a preprocessing of other algorithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms import algorithm_class
from tarnkappe.algorithms.base import Algorithm
from tarnkappe.algorithms.local.curve import hilbert_order
from tarnkappe.algorithms.local.hilb_partitions import even_ranges
from tarnkappe.algorithms.shards import Shard, joined, part_of
from tarnkappe.algorithms.steps.units import first_of_tuples, tuples_of
from tarnkappe.arrays import Codes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.params import param
from tarnkappe.tally import Tally

#: What parts are given to: algorithms that publish boxes and look at single groups.
_INNER = ("mondrian", "k-member", "oka", "bottom-up-greedy", "top-down-greedy")


@dataclass(frozen=True)
class HilbertParts(Algorithm):
    """Line up the records along a Hilbert curve, cut the line into parts, and let another algorithm group each part.

    Neighbours on the curve are alike, so little is lost at the ends of a part, and an algorithm whose work grows faster
    than the table sees small tables only. Combinations of quasi-identifiers stay together. A part that cannot satisfy
    the goal as a whole is joined with the one after it on the line, the last one with the one before. Criteria that
    compare with the table still compare with the whole of it.

    O(n log n) for the order, besides what the other algorithm takes for each part.

    Differs from the thesis in: it names the idea in its outlook, with no rule; parts of equal size and joining
    neighbours are those of its own algorithm 2.

    References
    ----------
    .. [GKKM07] Ghinita, Karras, Kalnis, Mamoulis. "Fast data anonymization with low information loss." VLDB 2007.
    """

    name: ClassVar = "hilbert-parts"
    title: ClassVar = "Parts of a Hilbert curve"
    scheme: ClassVar = "local"
    summary: ClassVar = "Cuts the table into parts along a Hilbert curve; another algorithm groups each of them."

    inner: str = param("k-member", doc="The algorithm that groups each part.", choices=_INNER)
    records: int = param(5000, doc="About how many records a part has.", ge=1, samples=(2000, 1000))
    by_value: bool = param(
        False, doc="Place numbers on the curve by their value instead of their rank among the numbers.", kw_only=True
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut the line, and group each part."""
        self.require_supported(tally, goal)
        if tally.n_cells == 0 or not goal.satisfied(goal.together(tally)).all():
            raise goal.infeasible(tally)
        part = self._parts(tally, goal)
        algorithm = algorithm_class(self.inner)().watched(self.watch)
        if not part.any():
            return algorithm.decide(tally, goal, rng=rng)
        parts, decided = [], []
        for i in range(int(part.max()) + 1):
            own = part_of(tally, np.flatnonzero(part == i).astype(np.int32))
            parts.append(Shard(replace(own.tally, whole=tally), own.cells))
            decided.append(algorithm.decide(parts[-1].tally, goal, rng=rng))
        return replace(joined(decided, parts), notes={"parts of the curve": len(parts)})

    def _parts(self, tally: Tally, goal: Goal) -> Codes:
        """The part of every cell; each part as a whole satisfies the goal."""
        rows = tally.quasi[first_of_tuples(tally)]
        order = hilbert_order(rows, tally.quasi_domains, by_value=self.by_value)
        bounds = even_ranges(tally.tuple_sizes[order], max(1, tally.n_records // self.records))
        tables = goal.table_distributions(tally)
        of_tuple = np.empty(len(rows), np.int32)
        while True:
            of_tuple[order] = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
            part = of_tuple[tuples_of(tally)]
            n = len(bounds) - 1
            ok = goal.satisfied(goal.stats(tally, Grouping.of_cells(tally, part, n), tables))
            if ok.all() or n == 1:
                return part
            bad = np.flatnonzero(~ok)
            run = np.maximum.accumulate(np.where(np.diff(bad, prepend=-2) > 1, np.arange(len(bad)), 0))
            first = bad[(np.arange(len(bad)) - run) % 2 == 0]  # bad parts that follow each other join in pairs
            bounds = np.delete(bounds, np.minimum(first + 1, n - 1))
