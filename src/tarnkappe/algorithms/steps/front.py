"""The front of a partitioning: the groups that may still be cut."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats, read_only
from tarnkappe.goal import Goal
from tarnkappe.groups import Draft, Grouping, GroupStats, Histogram
from tarnkappe.kernels.histograms import FEW_CODES, counted_in_shares, group_order, room_for, run_sums
from tarnkappe.kernels.multidimensional.mondrian import count_halves, count_secrets, segment_boxes, write_halves
from tarnkappe.tally import Domain, Tally, begins_run
from tarnkappe.threads import share_out


class Front(ABC):
    """The groups that may still be cut, as contiguous segments of pieces, and those that are finished.

    A subclass says where each segment is cut; all segments of a round are cut at once. A piece is some or all of the
    records of a cell. If cuts keep cells `whole`, cells that differ in nothing but their secrets are one piece, which
    is known by the first of them; then a round costs no more than there are combinations of quasi-identifiers.

    By default all cells are one segment. `part` says to which of several each cell belongs at the beginning; `tables`
    are the distributions that criteria compare with, if the tally is not the whole table. A segment is not cut any
    further if all of its cells are `settled`.
    """

    def __init__(
        self,
        tally: Tally,
        goal: Goal,
        *,
        part: Codes | None = None,
        tables: Mapping[str, Counts] | None = None,
        settled: NDArray[np.bool_] | None = None,
        whole: bool = False,
    ) -> None:
        self.goal = goal
        self.tally = tally
        self.tables = goal.table_distributions(tally) if tables is None else tables
        self.can_tear = [d.taxonomy.height > 1 for d in tally.quasi_domains]  # else all gaps are alike
        self.wild = np.array([d.missing if d.wildcard else -1 for d in tally.quasi_domains], np.int32)
        first = np.arange(tally.n_cells, dtype=np.int32)
        if whole:
            told_apart = [tally.quasi, *(x[:, np.newaxis] for x in (part, settled) if x is not None)]
            first = first[np.any([begins_run(x) for x in told_apart], axis=0)]
        self.after = np.empty(tally.n_cells, np.int32)  # what the last cell of a piece is followed by
        self.after[first] = np.append(first[1:], tally.n_cells)
        self.cell, self.quota = first, np.add.reduceat(tally.count, first) if whole else tally.count
        self.starts = np.array([0, len(first)], np.int64)
        if part is not None:
            self.starts, order = group_order(part[first], int(part.max(initial=-1)) + 1)
            self.cell, self.quota = first[order], self.quota[order]
        self.rows = tally.quasi[self.cell]
        self.settled = settled
        self.done: list[tuple[Codes, Codes, Counts]] = []
        self.n_done = 0

    def exhaust(self) -> Grouping:
        """Cut until no cut is allowed."""
        while self.n_segments:
            if self.settled is not None:
                self._part_with(np.flatnonzero(np.logical_and.reduceat(self.settled[self.cell], self.starts[:-1])))
            attribute, code, ties = self.choose(*self._boxes())
            self._finish(np.flatnonzero(attribute < 0))
            self._cut(np.flatnonzero(attribute >= 0), attribute, code, ties)
        return self.grouping()

    @abstractmethod
    def choose(self, lo: Codes, hi: Codes, size: Counts) -> tuple[Counts, Codes, Counts]:
        """An allowed cut of every segment: attribute (-1: there is none), code and tie share."""

    @property
    def n_segments(self) -> int:
        """Number of groups that may still be cut."""
        return len(self.starts) - 1

    def _boxes(self) -> tuple[Codes, Codes, Counts]:
        """Box and size of every segment."""
        shape = self.n_segments, self.rows.shape[1]
        lo, hi, size = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape[0], np.int64)
        share_out(
            lambda a, b: segment_boxes(self.rows, self.quota, self.starts, self.wild, lo, hi, size, a, b), self.starts
        )
        return lo, hi, size

    def work(self, segments: Counts) -> Counts:
        """Cumulated number of pieces of segments."""
        lengths = self.starts[segments + 1] - self.starts[segments]
        return np.concatenate([[0], np.cumsum(lengths)])

    def shape(self, j: int) -> tuple[Floats, Codes, Codes, int, int]:
        """What a kernel needs to know about the domain of attribute `j`."""
        return domain_shape(self.tally.quasi_domains[j])

    def allowed(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> NDArray[np.bool_]:
        """Whether both halves of each cut satisfy the goal (their sizes are known to be large enough)."""
        if not len(segments) or self.goal.decided_by_size:
            return np.ones(len(segments), np.bool_)
        ok = self.goal.satisfied(self._stats(segments, attribute, code, ties))
        return ok[0::2] & ok[1::2]

    def _stats(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> GroupStats:
        """The statistics of both halves of each cut."""
        tally, columns = self.tally, self.goal.columns
        domains = [tally.sensitive_domains[tally.sensitive_index(name)] for name in columns]
        counted = domains and not self.goal.joint and tally.population is None
        if not counted or max(domain.size for domain in domains) > FEW_CODES:
            cell, records, bounds = self.halves(segments, attribute, code, ties)
            half = np.repeat(np.arange(2 * len(segments), dtype=np.int32), np.diff(bounds))
            draft = Draft(cell, half, records, 2 * len(segments))
            return GroupStats.of(tally, draft, columns, joint=self.goal.joint, tables=self.tables)
        found = {domain.name: self._secrets(domain, segments, attribute, code, ties) for domain in domains}
        some = found[domains[0].name]
        quasi = tuple(d.name for d in tally.quasi_domains)
        return GroupStats(run_sums(some.indptr, some.counts), found, quasi=quasi)

    def _secrets(self, domain: Domain, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> Histogram:
        """The secrets in both halves of each cut, counted without making the halves."""
        tally = self.tally
        secret = read_only(np.ascontiguousarray(tally.sensitive[:, tally.sensitive_index(domain.name)]))
        pieces = (self.rows, self.quota, self.cell, self.after, self.starts, segments)
        cuts = (attribute, np.ascontiguousarray(code), np.ascontiguousarray(ties), self.wild)
        given = (*pieces, *cuts, secret, tally.count)
        cells = np.append(0, np.cumsum(self.after[self.cell] - self.cell))[self.starts]
        work = np.append(0, np.cumsum(cells[segments + 1] - cells[segments]))

        def count(a: int, b: int, sizes: Counts, found: Codes, of_code: Counts) -> tuple[int, int]:
            begin = int(work[a]) + a  # a piece on the cut may belong to both halves
            seen, occurs = room_for(domain.size, groups=2)
            return begin, count_secrets(*given, seen, occurs, sizes, found, of_code, begin, a, b)

        n = len(segments)
        parts = counted_in_shares(count, 2 * n, int(work[-1]) + n, lambda task: share_out(task, work))
        return Histogram(domain, *parts, self.tables[domain.name])

    def _finish(self, segments: Counts) -> None:
        """Turn segments into final groups."""
        lengths = self.starts[segments + 1] - self.starts[segments]
        at = _positions(self.starts[segments], lengths)
        group = np.repeat(np.arange(len(segments), dtype=np.int32) + np.int32(self.n_done), lengths)
        self.done.append((self.cell[at], group, self.quota[at]))
        self.n_done += len(segments)

    def _part_with(self, segments: Counts) -> None:
        """Turn segments into final groups, and keep the others."""
        if len(segments):
            self._finish(segments)
            others = np.delete(np.arange(self.n_segments), segments)
            lengths = self.starts[others + 1] - self.starts[others]
            at = _positions(self.starts[others], lengths)
            self.rows, self.cell, self.quota = self.rows[at], self.cell[at], self.quota[at]
            self.starts = np.concatenate([[0], np.cumsum(lengths)])

    def _cut(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> None:
        """Replace segments by their halves; everything else leaves the front."""
        self.rows, self.cell, self.quota, self.starts = self._halves(
            segments, attribute[segments], code[segments], ties[segments], with_rows=True
        )

    def halves(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> tuple[Codes, Counts, Counts]:
        """The cells left and right of each cut, their records there, and where each half begins."""
        _, first, quota, bounds = self._halves(segments, attribute, code, ties, with_rows=False)
        cell, records, lengths = self._cells(first, quota)
        return cell, records, np.append(0, np.cumsum(lengths))[bounds]

    def _halves(
        self, segments: Counts, attribute: Counts, code: Codes, ties: Counts, *, with_rows: bool
    ) -> tuple[Codes, Codes, Counts, Counts]:
        """The pieces left and right of each cut: codes, first cells, records, and where each half begins."""
        cuts = (segments, attribute, np.ascontiguousarray(code), np.ascontiguousarray(ties), self.wild)
        work = self.work(segments)
        pieces = np.empty(2 * len(segments), np.int64)
        share_out(lambda a, b: count_halves(self.rows, self.quota, self.starts, *cuts, pieces, a, b), work)
        bounds = np.concatenate([[0], np.cumsum(pieces)])
        n = int(bounds[-1])
        rows = np.empty((n if with_rows else 0, self.rows.shape[1]), np.int32)
        cell, quota = np.empty(n, np.int32), np.empty(n, np.int64)
        given = (self.rows, self.quota, self.cell, self.starts, *cuts, bounds, rows, quota, cell)
        share_out(lambda a, b: write_halves(*given, a, b), work)
        return rows, cell, quota, bounds

    def _cells(self, first: Codes, quota: Counts) -> tuple[Codes, Counts, Counts]:
        """The cells of pieces and their records, one piece after another, and how many cells each has."""
        lengths = (self.after[first] - first).astype(np.int64)
        if len(first) == lengths.sum():
            return first, quota, lengths
        cell = _positions(first.astype(np.int64), lengths)
        return cell.astype(np.int32), self.tally.count[cell], lengths

    def grouping(self) -> Grouping:
        """All finished groups."""
        first, group, quota = (np.concatenate(parts) for parts in zip(*self.done, strict=True))
        _, order = group_order(first, self.tally.n_cells)
        first, group = first[order], group[order]
        lengths = self.after[first] - first
        if np.array_equal(first[1:], first[:-1] + lengths[:-1]):  # every cell is whole
            cell, records = np.arange(self.tally.n_cells, dtype=np.int32), self.tally.count
        else:
            cell, records, lengths = self._cells(first, quota[order])
        return Grouping(cell, np.repeat(group, lengths), records, self.n_done)


def domain_shape(domain: Domain) -> tuple[Floats, Codes, Codes, int, int]:
    """What the kernels that look for cuts need to know about a domain."""
    tree = domain.taxonomy
    if tree.ranges.any():  # a scale: any gap will do, no need to look at the tree
        gaps = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    else:
        gaps = tree.splits[0], tree.split_minima
    return domain.positions, *gaps, domain.missing, domain.missing if domain.wildcard else -1


def weighted_widths(domains: Sequence[Domain], lo: Codes, hi: Codes) -> Floats:
    """How wide every segment is in every attribute, times its weight; -1 where it cannot be cut."""
    out = np.empty(lo.shape, np.float64)
    for j, domain in enumerate(domains):
        out[:, j] = domain.widths(lo[:, j], hi[:, j], domain.nodes(lo[:, j], hi[:, j])) * domain.weight
        out[:, j] = np.where(hi[:, j] > lo[:, j], np.maximum(out[:, j], 1e-300), -1.0)
    return out


def _positions(starts: Counts, lengths: Counts) -> Counts:
    """The positions ``starts[i] .. starts[i] + lengths[i]`` of all runs, one after another."""
    offsets = np.cumsum(lengths) - lengths
    positions: Counts = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(starts - offsets, lengths)
    return positions
