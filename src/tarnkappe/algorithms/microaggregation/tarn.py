"""Tarn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.blocks import BlockMDAV
from tarnkappe.algorithms.microaggregation.records import Records
from tarnkappe.algorithms.microaggregation.refinement import error, halved, refined
from tarnkappe.arrays import Codes, Floats
from tarnkappe.params import param

#: Kicks of a search unless given: for each group, and at most.
_KICKS, _MOST_KICKS = 25, 8_000


@dataclass(frozen=True)
class Tarn(Microaggregation, Improving):
    r"""Search for the groups of least squared error from several starts, again and again after kicks.

    Starts are MDAV (in blocks, if there are many records) and halves of halves of all records. From each, records
    move to near groups, change places, or follow each other in chains and cycles of three, and groups dissolve, as long
    as the squared error falls:

    .. math:: \Delta_{x: A \to B} = \frac{b}{b+1} \lVert x - \bar x_B \rVert^2
              - \frac{a}{a-1} \lVert x - \bar x_A \rVert^2

    for groups of :math:`a` and :math:`b` records. Two chains go on from there, side by side. Each kicks two to five
    neighbouring groups: their records form groups anew around random ones of them, and the search goes on where
    something has changed. The result stays if the squared error has not risen by more than an exponentially distributed
    number, whose mean sinks to 0; else all is undone. At last, the better chain is taken, part by part.

    Groups have k to 2k - 1 records. If the goal asks for more than a size, groups are formed by MDAV, pooled until they
    satisfy it, divided where they can be, and refined by moves that keep it.

    A chain makes 25 kicks for each group that there could be, 8 000 at most, or a multiple of them, as the `effort`
    says. Everything else takes :math:`O(n \log n)`.

    References
    ----------
    .. [LoMS03] Lourenço, Martin, Stützle. "Iterated local search." Handbook of Metaheuristics 2003.
    .. [HaMu03] Hansen, Mukherjee. "A polynomial algorithm for optimal univariate microaggregation." IEEE TKDE 2003.
    .. [TiWC15] Tinós, Whitley, Chicano. "Partition crossover for pseudo-Boolean optimization." FOGA 2015.
    """

    name: ClassVar = "tarn"
    title: ClassVar = "Tarn"
    summary: ClassVar = "Searches for groups of the least squared error; the lowest loss there is here."
    asks_watch: ClassVar = False  # only where it has found groups already

    refine: bool = param(True, doc="Search for less loss; else the better start counts.", kw_only=True)
    kicks: int | None = param(
        None,
        doc="Kicks of each of two searches at normal effort; none: 25 for each group, 8 000 at most.",
        ge=0,
        kw_only=True,
    )

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        starts = [BlockMDAV().partition(points, k, rng), halved(points, np.zeros(len(points), np.int32), k)]
        if not self.refine:
            return min(starts, key=lambda group: error(points, group))
        usual = min(_KICKS * (len(points) // k), _MOST_KICKS) if self.kicks is None else self.kicks
        kicks = self.work.of_usual(usual, least=0)
        group = refined(points, starts, k, rng, min(kicks, usual), watch=self.watch)
        if kicks > usual:  # from there on, so that more work never ends in more loss
            group = refined(points, [group], k, rng, kicks - usual, watch=self.watch)
        return group

    def _partitioned(self, records: Records, k: int, rng: np.random.Generator) -> Codes:
        if records.goal.decided_by_size:
            return self.partition(records.points, k, rng)
        return BlockMDAV().partition(records.points, k, rng)  # only a beginning: the search must keep the goal

    def _improved(self, records: Records, group: Codes, rng: np.random.Generator) -> Codes:
        return group if records.goal.decided_by_size else super()._improved(records, group, rng)
