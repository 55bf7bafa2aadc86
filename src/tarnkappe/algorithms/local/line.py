"""Records lined up, and the ways to make groups of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from tarnkappe.algorithms.local.hilb_partitions import even_ranges, merge_ineligible
from tarnkappe.algorithms.local.pool import Measures, Pool, merge_weak
from tarnkappe.algorithms.steps.units import tuples_of
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.groups import Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.hilb_cutting import cut_line
from tarnkappe.kernels.local.hilb_forming import Queues, form_groups, form_groups_ahead
from tarnkappe.kernels.local.hilb_published import form_groups_as_published
from tarnkappe.kernels.local.hilb_staying import stay
from tarnkappe.kernels.sorting import pack, sorted_keys
from tarnkappe.kernels.widths import Ruler, box_widths
from tarnkappe.tally import Tally
from tarnkappe.threads import map_threads, share_out

#: Pairs of places to cut at that are compared at most before only the likeliest places are.
_EXACT_PAIRS = 1 << 30

#: Cells, groups, quotas, and how many groups.
_Pieces = tuple[Codes, Codes, Counts, int]


@dataclass(frozen=True, eq=False)
class Line:
    """The cells of a pool in an order that keeps like beside like.

    Cells with the same quasi-identifiers stand together, those with most records first. `order` is that of the distinct
    combinations; `combination` holds the first cell of each and the end of all.
    """

    pool: Pool
    order: Codes
    cells: Codes
    combination: Counts

    @classmethod
    def of(cls, pool: Pool, order: Codes) -> Line:
        """Line up the cells; `order` is that of the distinct combinations of quasi-identifiers."""
        tally = pool.tally
        own = tuples_of(tally)
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        keys = rank[own].astype(np.uint64)
        bits = len(order).bit_length()
        # Commonest first: whoever takes different values from the front then has few of them left in the end.
        room = 63 - bits
        fewer = np.minimum(int(tally.count.max()) - tally.count, (1 << room) - 1)
        count_bits = int(fewer.max()).bit_length()
        pack(keys, fewer, count_bits)
        _, cells = sorted_keys(keys, bits + count_bits, share_out)
        sizes = np.bincount(rank[own], minlength=len(order))
        return cls(pool, order, cells, np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def tally(self) -> Tally:
        """The cells and their counts."""
        return self.pool.tally

    @cached_property
    def records(self) -> Counts:
        """Records per combination, along the line."""
        sums: Counts = np.add.reduceat(self.tally.count[self.cells], self.combination[:-1])
        return sums

    def cut(self, smallest: int, partitions: int = 1) -> Grouping:
        """Neighbours in groups of `smallest` to ``2·smallest − 1`` records, at the least loss that cuts can have.

        Groups that hold equal records only may be larger: they are several groups that look the same.
        """
        bounds = even_ranges(self.records, partitions)
        sizes = np.add.reduceat(self.records, bounds[:-1])[:, None]
        ranges = merge_ineligible(sizes, lambda n: bool(n[0] >= smallest))
        return self._grouping(map_threads(partial(self._cut_range, smallest), [bounds[[a, b]] for a, b in ranges]))

    def eligible_ranges(self, value: Codes, different: int, partitions: int) -> Counts:
        """The bounds of ranges of the line that can be grouped apart, as combinations: about so many, if possible."""
        n_values = int(value.max()) + 1
        bounds = even_ranges(self.records, partitions)
        part = np.repeat(np.arange(len(bounds) - 1), np.diff(self.combination[bounds]))
        mixed = part * n_values + value[self.cells]
        counts = np.bincount(mixed, self.tally.count[self.cells], (len(bounds) - 1) * n_values)
        histograms = counts.astype(np.int64).reshape(-1, n_values)
        ranges = merge_ineligible(histograms, lambda h: bool(h.max() * different <= h.sum()))
        return np.array([bounds[a] for a, _ in ranges] + [bounds[-1]])

    def form(self, value: Codes, different: int, ahead: int, bounds: Counts, *, published: bool = False) -> Grouping:
        """Groups of `different` to ``2·different − 1`` records of a range, whose values are all different.

        `value` is that of every cell; the commonest of a range has at most one in `different` of its records. If
        `ahead` is above 1, groups choose from so many cells of the line instead of taking the nearest. If `published`,
        they are those of the thesis, step by step, and may have more records.
        """
        formed = partial(self._form_range, value, int(value.max()) + 1, different, 0 if published else ahead)
        return self._grouping(map_threads(formed, np.column_stack([bounds[:-1], bounds[1:]])))

    def staying(self, value: Codes, different: int, bounds: Counts) -> Counts:
        """How many records of each cell can form such groups with equal ones only; then the others can be grouped too.

        As many as possible within every range, up to a share of all that equal records could form.
        """
        kept = np.empty(self.tally.n_cells, np.int64)
        n_values, count = int(value.max()) + 1, self.tally.count[self.cells]
        kept[self.cells] = stay(bounds, self.combination, value[self.cells], count, n_values, different)
        return kept

    def _form_range(self, value: Codes, n_values: int, different: int, ahead: int, bounds: Counts) -> _Pieces:
        begin, end = self.combination[bounds]
        cells = self.cells[begin:end]
        starts, place = group_order(value[cells], n_values)
        cells = cells[place]
        queues = Queues(starts, cells, place, self.tally.count[cells])
        rows = self.tally.quasi[cells]
        if ahead == 0:
            return form_groups_as_published(self.pool.ruler, rows, queues, different)
        if ahead > 1:
            pieces: _Pieces = form_groups_ahead(self.pool.ruler, rows, queues, different, ahead)
        else:
            pieces = form_groups(self.pool.ruler, rows, queues, different)
        return pieces

    def _cut_range(self, smallest: int, bounds: Counts) -> _Pieces:
        first, last = bounds
        own = self.combination[first : last + 1]
        rows = self.tally.quasi[self.cells[own[:-1]]]
        starts = np.concatenate([[0], np.cumsum(self.records[first:last])])
        begins = cut_line(self.pool.ruler, rows, rows, starts, _places(starts, smallest), smallest)
        cells = self.cells[own[0] : own[-1]]
        cell_ends = np.cumsum(self.tally.count[cells])
        ends = np.union1d(cell_ends, np.append(begins[1:], cell_ends[-1]))
        group = np.searchsorted(begins, ends, side="left") - 1
        piece = cells[np.searchsorted(cell_ends, ends)]
        return piece, group.astype(np.int32), np.diff(ends, prepend=0), len(begins)

    def _grouping(self, parts: list[_Pieces]) -> Grouping:
        """The pieces of all ranges, sorted by cell."""
        before = np.cumsum([0, *(n for *_, n in parts)])
        cell = np.concatenate([c for c, *_ in parts])
        group = np.concatenate([g + np.int32(n) for (_, g, _, _), n in zip(parts, before[:-1], strict=True)])
        quota = np.concatenate([q for _, _, q, _ in parts])
        _, order = group_order(cell, self.tally.n_cells)
        return Grouping(cell[order], group[order], quota[order], int(before[-1]))

    def pooled(self, grouping: Grouping) -> Grouping:
        """Merge groups with neighbours on the line until all satisfy the goal.

        Groups that are too small for it are pooled at the least loss, the others with the neighbour where it rises
        least.
        """
        place = np.empty(self.tally.n_cells, np.int64)
        place[self.cells] = np.arange(self.tally.n_cells)
        front = np.full(grouping.n_groups, self.tally.n_cells)
        np.minimum.at(front, grouping.group, place[grouping.cell])
        grouping = _renamed(grouping, np.argsort(np.argsort(front)))
        lo, hi, size, _ = self.pool.measured(grouping)
        smallest = self.pool.goal.min_size
        if size.min() < smallest:
            starts = np.concatenate([[0], np.cumsum(size)])
            begins = cut_line(self.pool.ruler, lo, hi, starts, starts, smallest)
            grouping = _renamed(grouping, np.searchsorted(begins, starts[:-1], side="right") - 1)
        if self.pool.goal.decided_by_size:
            return grouping
        return merge_weak(self.pool, grouping, partial(_neighbours, self.pool.ruler))


def _renamed(grouping: Grouping, new: Counts) -> Grouping:
    return grouping.relabel(new.astype(np.int32), int(new.max()) + 1)


def _neighbours(ruler: Ruler, _: Grouping, groups: Measures, wanted: Counts) -> tuple[Counts, Floats]:
    """The group before or after, whichever is cheaper to merge with, and its price, for some groups."""
    lo, hi, size, total = groups
    both = box_widths(ruler, np.minimum(lo[:-1], lo[1:]), np.maximum(hi[:-1], hi[1:]))
    cost = size * total
    price = (size[:-1] + size[1:]) * both - cost[:-1] - cost[1:]
    before = np.concatenate([[np.inf], price])[wanted]
    after = np.concatenate([price, [np.inf]])[wanted]
    return np.where(after < before, wanted + 1, wanted - 1), np.minimum(before, after)


def _places(starts: Counts, smallest: int) -> Counts:
    """Where a line of runs of equal records may be cut.

    No group that goes beyond a run reaches further into it than twice the smallest size, so cuts in the middle of a
    long run need not be tried, and what is found is optimal. Where even these are too many, cuts are tried at the ends
    of runs and at one or two times the smallest size from them.
    """
    size = np.diff(starts)
    head = np.minimum(size, 2 * smallest)
    tail = np.minimum(size - head, 2 * smallest)
    near = head + tail
    if int(near.sum()) * 2 * smallest > _EXACT_PAIRS:
        around = np.concatenate([starts + i * smallest for i in range(-2, 3)])
        return np.unique(np.clip(around, 0, starts[-1]))
    offset = np.arange(int(near.sum())) - np.repeat(np.cumsum(near) - near, near)
    skipped = np.where(offset < np.repeat(head, near), 0, np.repeat(size - near, near))
    return np.append(np.repeat(starts[:-1], near) + offset + skipped, starts[-1])
