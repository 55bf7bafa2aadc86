"""Hilb: groups of neighbours on a space-filling curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.local.curve import hilbert_order, idistance_order
from tarnkappe.algorithms.local.line import Line
from tarnkappe.algorithms.local.nearness import different_values, shares
from tarnkappe.algorithms.local.pool import Pool, divide, improved
from tarnkappe.algorithms.steps.medians import MedianFront
from tarnkappe.algorithms.steps.swaps import swap_refine
from tarnkappe.algorithms.steps.units import deal_out, first_of_tuples, select, tuples_of
from tarnkappe.arrays import Codes, Counts
from tarnkappe.criteria.frequency_l_diversity import FrequencyLDiversity
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.params import param
from tarnkappe.tally import Tally

#: From how many cells of the line a group chooses at normal effort, and how many offers any table has besides.
_AHEAD, _OFFERS = 32, 1 << 23


@dataclass(frozen=True)
class Hilb(Improving):
    r"""Line up the records along a space-filling curve, and make groups of neighbours on the line.

    The combinations of quasi-identifiers are sorted by their index on a Hilbert curve through the positions of their
    leaves (`order: idistance`: by the nearest of some reference points and the distance from it). Then:

    *Criteria decided by the number of records*, such as k-anonymity: an exact dynamic programme over the line,

    .. math:: B_i = \min_{k \le s < 2k} B_{i-s} + s \cdot w(r_{i-s+1} \dots r_i)

    with the summed weighted width :math:`w` of the box round some neighbours.

    *Criteria that enough different values satisfy*, such as l-diversity (`Criterion.enough_different`): every value has
    a queue of its records. A group takes the first records of the l queues whose fronts come first on the line (greedy
    step), provided that the rest stays eligible: no value may have more records than the :math:`\lfloor n / l \rfloor`
    groups that are left. Values with just as many are due; if one is not among those l, the group takes all that are
    due and fills up with the nearest others (fall-back step). Groups have l to 2l − 1 records, and no value twice.

    *Any other monotone goal*: groups as for the strongest part of the goal, pooled with neighbours on the line until
    they satisfy all of it, and divided again where both parts do.

    Swap refinement follows. With `refine`, which is the default, there is more:

    * Groups of different values are formed within parts of the table that median cuts make (`Mondrian`), each of them
      eligible, instead of on the whole line. Where the records of one combination can form groups by themselves, they
      stay as they are, as many as leave the rest of the part eligible.
    * Mondrian's own groups are a way, too, and the way with the least loss counts: Hilb never loses more than Mondrian.
    * Groups are dissolved if their records cost less in groups nearby. Then every group is thrown together with a few
      near ones, eight of them in all in one round, then five, three and two, and their records grow into groups anew,
      each from a record far from where the last one began, always taking the record that widens the box least; the old
      groups stay unless the new ones cost less. That goes on for three rounds, or as the `effort` says, with swaps in
      between. It is done where sizes and the frequency of values keep the goal.

    Near is what stands close on one of several turned Hilbert curves: 12 neighbours on each of 4 of them, of 8 at best
    effort, and more in small tables.

    Records of a cell are alike, so groups are made many at a time: O(c · (log m + l)) for c cells and m values,
    however many records there are. Refinement is O(effort · c · d · (k + neighbours)). No size of the table changes
    the method. Consecutive groups that look the same are returned as one.

    With `partitions`, the line is divided into ranges with about equal records, which are joined with neighbours
    where they are not eligible and grouped in parallel. The parts of `refine` are finer and take their place.

    Differs from the papers in: all that `refine` adds; quasi-identifiers are stretched to the whole width of the grid
    (`stretch`), without which short domains hardly matter, and subtrees of taxonomies are aligned with it; the
    fall-back step takes the nearest of the values that are not due instead of the commonest; records at the same
    place of the line are taken commonest value first. The thesis extends a group in the greedy step if the whole
    frontier is eligible; that can only be if fewer than 2l values are left, and the fall-back step does as well. What
    it means to look beyond the frontier is our reading: a group begins with the first record of the line and always
    takes the one of the next `lookahead` cells that widens its box least. ``refine: false, lookahead: 1, swaps: 0`` is
    the algorithm of the papers; with ``as_published: true`` both steps are those of the thesis, one group after
    another, and groups may have up to as many records as there are values. ``by_value: true`` places numbers on the
    curve by their value instead of their rank, so that far-apart numbers are far apart there too.

    References
    ----------
    .. [GKKM07] Ghinita, Karras, Kalnis, Mamoulis. "Fast data anonymization with low information loss." VLDB 2007.
    .. [GKKM09] Ghinita, Karras, Kalnis, Mamoulis. "A framework for efficient data anonymization under privacy and
       accuracy constraints." ACM TODS 34(2), 2009.
    .. [HaRC08] Hamilton, Rau-Chaplin. "Compact Hilbert indices: space-filling curves for domains with unequal side
       lengths." Information Processing Letters 105(5), 2008.
    """

    name: ClassVar = "hilb"
    title: ClassVar = "Hilb"
    scheme: ClassVar = "local"
    summary: ClassVar = "Groups neighbours on a Hilbert curve; lower loss than Mondrian, any size."
    handles_wildcards: ClassVar = True
    decides_parts: ClassVar = True

    order: str = param(
        "hilbert",
        doc="What lines records up: a Hilbert curve, or the distance from reference points.",
        choices=("hilbert", "idistance"),
    )
    stretch: bool = param(True, doc="Stretch every quasi-identifier over the whole grid of the curve.", kw_only=True)
    lookahead: int = param(
        0,
        doc="From how many cells of the line a group chooses; 1: the nearest of each value, 0: as the effort allows.",
        ge=0,
        kw_only=True,
    )
    swaps: int = param(
        3, doc="Passes of swap refinement: records with equal secrets change groups.", ge=0, kw_only=True
    )
    refine: bool = param(
        True,
        doc="Group within parts made by median cuts, keep equal records together, dissolve and regrow groups.",
        kw_only=True,
    )
    as_published: bool = param(
        False,
        doc="Where the l nearest values do not do, add the next nearest, and failing that the commonest, as the thesis "
        "has it, instead of the values that are due.",
        kw_only=True,
    )
    by_value: bool = param(
        False, doc="Place numbers on the curve by their value instead of their rank among the numbers.", kw_only=True
    )
    partitions: int = param(1, doc="Ranges of the curve that are grouped apart, in parallel.", ge=1, kw_only=True)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Make groups in all ways worth trying, and improve the cheapest."""
        self.require_supported(tally, goal)
        pool, owner = Pool.whole(tally, goal, self.work, self.watch)
        line = Line.of(pool, self._order(pool, rng))
        ways = self._starts(line)
        if not self.refine:
            grouping = self._divided(pool, next(ways))
        elif shares(goal) is not None:
            grouping = self._divided(pool, improved(pool, min(ways, key=pool.loss)))
        else:  # groups will not grow anew, so where they began shows in the end
            grouping = min((self._divided(pool, improved(pool, way)) for way in ways), key=pool.loss)
        grouping = swap_refine(pool.tally, grouping, goal, self.swaps)
        return grouping if pool.tally is tally else deal_out(tally, owner, grouping)

    @staticmethod
    def _divided(pool: Pool, grouping: Grouping) -> Grouping:
        """The groups divided where both parts satisfy the goal; neighbours of a size on the line need not be."""
        if pool.goal.decided_by_size:
            return grouping
        return divide(pool, grouping, np.ones(grouping.n_groups, np.bool_))

    def _starts(self, line: Line) -> Iterator[Grouping]:
        """Groups that satisfy the goal, made in every way worth trying; the one of the papers first."""
        goal, tally = line.pool.goal, line.tally
        wanted = different_values(goal)
        easy = max(wanted.values(), default=0) * 2 <= goal.min_size  # neighbours mostly have enough different values
        for column, different in wanted.items() if not easy else ():
            value = tally.sensitive[:, tally.sensitive_index(column)]
            commonest = int(np.bincount(value, tally.count).max())
            eligible = [x for x in (max(different, goal.min_size), different) if commonest * x <= tally.n_records]
            for number in eligible[:1]:
                yield line.pooled(self._formed(line, column, value, number))
        yield line.pooled(line.cut(goal.min_size, self.partitions))
        yield line.pooled(MedianFront(tally, goal).exhaust())

    def _order(self, pool: Pool, rng: np.random.Generator) -> Codes:
        """The order of the distinct combinations of quasi-identifiers."""
        tally = pool.tally
        rows = tally.quasi[first_of_tuples(tally)]
        if self.order == "idistance":
            return idistance_order(rows, tally.quasi_domains, pool.ruler, rng, stretch=self.stretch)
        return hilbert_order(rows, tally.quasi_domains, stretch=self.stretch, by_value=self.by_value)

    def _formed(self, line: Line, column: str, value: Codes, different: int) -> Grouping:
        """Groups of different values, made in parts of the table or, without refinement, along the whole line."""
        if self.refine:
            return self._formed_in_parts(line, column, value, different)
        bounds = line.eligible_ranges(value, different, self.partitions)
        return line.form(value, different, self._ahead(line.tally), bounds, published=self.as_published)

    def _formed_in_parts(self, line: Line, column: str, value: Codes, different: int) -> Grouping:
        """Groups of different values within parts of the table; where equal records suffice, they stay together."""
        tally = line.tally
        first, own = first_of_tuples(tally), tuples_of(tally)
        eligible = Goal([FrequencyLDiversity(column, l=different)])
        alike = Grouping(np.arange(tally.n_cells, dtype=np.int32), own, tally.count, len(first))
        suffices = eligible.satisfied(eligible.stats(tally, alike))[own]
        part = MedianFront(tally, eligible, settled=suffices).exhaust().group  # strict cuts keep cells whole
        order = line.order[np.argsort(part[first][line.order], kind="stable")]
        parts = Line.of(line.pool, order)
        kept = parts.staying(value, different, _bounds(part[first][order]))
        kept = np.where(_all_of(part, suffices), tally.count, kept)
        alone = np.flatnonzero(kept).astype(np.int32)
        used, number = np.unique(own[alone], return_inverse=True)
        cell, group, quota, n = alone, number, kept[alone], len(used)
        if not np.array_equal(kept, tally.count):
            some, cells = select(tally, kept < tally.count, tally.count - kept)
            rest = line.pool.part(some)
            rank = np.empty(len(order), np.int64)
            rank[order] = np.arange(len(order))
            firsts = cells[first_of_tuples(some)]
            along = np.argsort(rank[own[firsts]]).astype(np.int32)
            formed = Line.of(rest, along).form(
                value[cells],
                different,
                self._ahead(some),
                _bounds(part[firsts][along]),
                published=self.as_published,
            )
            cell = np.concatenate([cell, cells[formed.cell]])
            group = np.concatenate([group, n + formed.group])
            quota = np.concatenate([quota, formed.quota])
            n += formed.n_groups
        _, sorting = group_order(cell, tally.n_cells)
        return Grouping(cell[sorting], group[sorting].astype(np.int32), quota[sorting], n)

    def _ahead(self, tally: Tally) -> int:
        """From how many cells of the line a group chooses: as asked, or as the effort allows."""
        return self.lookahead or self.work.of_usual(_AHEAD) + _OFFERS // tally.n_records


def _bounds(part: Codes) -> Counts:
    """Where each run of equal numbers begins, and the end."""
    return np.append(np.flatnonzero(np.diff(part, prepend=-1)), len(part))


def _all_of(part: Codes, holds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether something holds in all cells of a cell's part."""
    everywhere = np.ones(int(part.max()) + 1, np.bool_)
    everywhere[part[~holds]] = False
    return everywhere[part]
