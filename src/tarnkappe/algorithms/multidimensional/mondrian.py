"""Mondrian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.base import Algorithm
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, GroupStats
from tarnkappe.kernels.mondrian import count_halves, find_cuts, find_halves, segment_boxes, write_halves
from tarnkappe.params import param
from tarnkappe.tally import Codes, Counts, Domain, Floats, Tally
from tarnkappe.threads import share_out


@dataclass(frozen=True)
class Mondrian(Algorithm):
    r"""Halve the widest quasi-identifier of a group at its median as long as both halves satisfy the goal.

    Groups are cut breadth-first, all groups of a round at once, so that criteria are asked about a whole frontier and
    never about a single group. Per group, attributes are tried by decreasing normalised width times weight.

    *Strict* cuts keep equal values together: ``x <= median`` and ``x < median`` are tried, first the one that leaves
    the tighter halves. On a taxonomy cuts fall between children of the lowest common ancestor; only where no attribute
    has such a cut may one go through a subtree. *Relaxed* cuts halve the records and divide those that have the median
    value.

    Published are tight boxes: ``[min max]``, or the lowest node covering the values. O(d · n · log n).

    Differs from the paper in: the second try at ``x < median``, without which low-cardinality columns are given up too
    early; cuts of taxonomies by consecutive children instead of all children at once; tight boxes instead of cut cells.

    References
    ----------
    .. [LeDR06] LeFevre, DeWitt, Ramakrishnan. "Mondrian multidimensional k-anonymity." ICDE 2006.
    """

    name: ClassVar = "mondrian"
    title: ClassVar = "Mondrian"
    scheme: ClassVar = "multidimensional"
    summary: ClassVar = "Cuts the table into ever smaller boxes at medians; low loss, fast, any size."
    handles_wildcards: ClassVar = True

    cut: str = param(
        "strict",
        doc="Keep equal values together (strict) or divide them to halve the records (relaxed).",
        choices=("strict", "relaxed"),
    )

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Cut until no cut is allowed."""
        self.require_supported(tally, goal)
        everyone = Grouping.of_cells(tally, np.zeros(tally.n_cells, np.int32), 1)
        if tally.n_cells == 0 or not goal.satisfied(goal.stats(tally, everyone)).all():
            raise goal.infeasible(tally)
        front = _Front(tally, goal, relaxed=self.cut == "relaxed")
        while front.n_segments:
            front.advance()
        return front.grouping()


class _Front:
    """The groups that may still be cut, as contiguous segments of pieces, and those that are finished."""

    def __init__(self, tally: Tally, goal: Goal, *, relaxed: bool) -> None:
        self.goal = goal
        self.tally = tally
        self.relaxed = relaxed
        self.tables = goal.table_distributions(tally)
        self.can_tear = [d.taxonomy.height > 1 for d in tally.quasi_domains]  # else all gaps are alike
        self.wild = np.array([d.missing if d.wildcard else -1 for d in tally.quasi_domains], np.int32)
        self.rows = np.ascontiguousarray(tally.quasi)
        self.cell = np.arange(tally.n_cells, dtype=np.int32)
        self.quota = tally.count
        self.starts = np.array([0, tally.n_cells], np.int64)
        self.done: list[tuple[Codes, Codes, Counts]] = []
        self.n_done = 0

    @property
    def n_segments(self) -> int:
        return len(self.starts) - 1

    def advance(self) -> None:
        """Cut every segment once where some cut is allowed; the others are finished."""
        lo, hi, size = self._boxes()
        ranking, breadth = _rank_attributes(self.tally.quasi_domains, lo, hi)
        attribute = np.full(self.n_segments, -1, np.int64)
        code = np.zeros(self.n_segments, np.int32)
        ties = np.zeros(self.n_segments, np.int64)
        pending = np.flatnonzero(size >= 2 * self.goal.min_size)
        for torn in (False,) if self.relaxed else (False, True):
            for rank in range(ranking.shape[1]):
                pending = pending[attribute[pending] < 0]
                ranked = pending[breadth[pending] > rank]
                for j in np.unique(ranking[ranked, rank]):
                    if torn and not self.can_tear[j]:
                        continue
                    here = ranked[ranking[ranked, rank] == j]
                    for cut_code, cut_ties, left in self._cuts(here, int(j), lo, hi, torn):
                        smaller = np.minimum(left, size[here] - left)
                        good = (attribute[here] < 0) & (cut_code >= 0) & (smaller >= self.goal.min_size)
                        tried = np.flatnonzero(good)
                        tried = tried[self._allowed(here[tried], int(j), cut_code[tried], cut_ties[tried])]
                        attribute[here[tried]] = j
                        code[here[tried]] = cut_code[tried]
                        ties[here[tried]] = cut_ties[tried]
        self._finish(np.flatnonzero(attribute < 0))
        self._cut(np.flatnonzero(attribute >= 0), attribute, code, ties)

    def _boxes(self) -> tuple[Codes, Codes, Counts]:
        """Box and size of every segment."""
        shape = self.n_segments, self.rows.shape[1]
        lo, hi, size = np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape[0], np.int64)
        share_out(
            lambda a, b: segment_boxes(self.rows, self.quota, self.starts, self.wild, lo, hi, size, a, b), self.starts
        )
        return lo, hi, size

    def _cuts(
        self, segments: Counts, j: int, lo: Codes, hi: Codes, torn: bool
    ) -> Iterator[tuple[Codes, Counts, Counts]]:
        """The cuts of attribute `j` worth trying, each as code, tie share and records on the left per segment."""
        given = (self.rows, self.quota, self.starts, segments, j, lo, hi)
        n, work = len(segments), self._work(segments)
        ties = np.zeros(n, np.int64)
        if self.relaxed:
            code, left = np.empty(n, np.int32), np.empty(n, np.int64)
            wild = int(self.wild[j])
            share_out(lambda a, b: find_halves(*given, wild, code, ties, left, a, b), work)
            yield code, ties, left
            return
        codes, lefts = np.empty((n, 2), np.int32), np.zeros((n, 2), np.int64)
        shape = self._shape(j)
        share_out(lambda a, b: find_cuts(*given, *shape, torn, codes, lefts, a, b), work)
        for attempt in range(2):
            yield codes[:, attempt], ties, lefts[:, attempt]

    def _work(self, segments: Counts) -> Counts:
        """Cumulated number of pieces of segments."""
        lengths = self.starts[segments + 1] - self.starts[segments]
        return np.concatenate([[0], np.cumsum(lengths)])

    def _shape(self, j: int) -> tuple[Floats, Codes, Codes, int, int]:
        """What a kernel needs to know about the domain of attribute `j`."""
        domain = self.tally.quasi_domains[j]
        tree = domain.taxonomy
        if tree.ranges.any():  # a scale: any gap will do, no need to look at the tree
            gaps = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
        else:
            gaps = tree.splits[0], tree.split_minima
        return domain.positions, *gaps, domain.missing, int(self.wild[j])

    def _allowed(self, segments: Counts, j: int, code: Codes, ties: Counts) -> NDArray[np.bool_]:
        """Whether both halves of each cut satisfy the goal (their sizes are known to be large enough)."""
        if not len(segments) or self.goal.decided_by_size:
            return np.ones(len(segments), np.bool_)
        attribute = np.full(len(segments), j, np.int64)
        _, cell, records, bounds = self._halves(segments, attribute, code, ties, with_rows=False)
        half = np.repeat(np.arange(2 * len(segments), dtype=np.int32), np.diff(bounds))
        grouping = Grouping(cell, half, records, 2 * len(segments))
        stats = GroupStats.of(self.tally, grouping, self.goal.columns, joint=self.goal.joint, tables=self.tables)
        ok = self.goal.satisfied(stats)
        return ok[0::2] & ok[1::2]

    def _finish(self, segments: Counts) -> None:
        """Turn segments into final groups."""
        lengths = self.starts[segments + 1] - self.starts[segments]
        at = _positions(self.starts[segments], lengths)
        group = np.repeat(np.arange(len(segments), dtype=np.int32) + np.int32(self.n_done), lengths)
        self.done.append((self.cell[at], group, self.quota[at]))
        self.n_done += len(segments)

    def _cut(self, segments: Counts, attribute: Counts, code: Codes, ties: Counts) -> None:
        """Replace segments by their halves; everything else leaves the front."""
        self.rows, self.cell, self.quota, self.starts = self._halves(
            segments, attribute[segments], code[segments], ties[segments], with_rows=True
        )

    def _halves(
        self, segments: Counts, attribute: Counts, code: Codes, ties: Counts, *, with_rows: bool
    ) -> tuple[Codes, Codes, Counts, Counts]:
        """The pieces left and right of each cut: codes, cells, records, and where each half begins."""
        cuts = (segments, attribute, np.ascontiguousarray(code), np.ascontiguousarray(ties), self.wild)
        work = self._work(segments)
        pieces = np.empty(2 * len(segments), np.int64)
        share_out(lambda a, b: count_halves(self.rows, self.quota, self.starts, *cuts, pieces, a, b), work)
        bounds = np.concatenate([[0], np.cumsum(pieces)])
        n = int(bounds[-1])
        rows = np.empty((n if with_rows else 0, self.rows.shape[1]), np.int32)
        cell, quota = np.empty(n, np.int32), np.empty(n, np.int64)
        given = (self.rows, self.quota, self.cell, self.starts, *cuts, bounds, rows, quota, cell)
        share_out(lambda a, b: write_halves(*given, a, b), work)
        return rows, cell, quota, bounds

    def grouping(self) -> Grouping:
        """All finished groups, pieces sorted by cell."""
        cell, group, quota = (np.concatenate(parts) for parts in zip(*self.done, strict=True))
        order = np.argsort(cell, kind="stable")
        return Grouping(cell[order], group[order], quota[order], self.n_done)


def _rank_attributes(domains: tuple[Domain, ...], lo: Codes, hi: Codes) -> tuple[Codes, Codes]:
    """Per segment, attributes by decreasing weighted width, and how many of them can be cut at all."""
    width = np.empty(lo.shape, np.float64)
    for j, domain in enumerate(domains):
        width[:, j] = domain.widths(lo[:, j], hi[:, j], domain.nodes(lo[:, j], hi[:, j])) * domain.weight
        width[:, j] = np.where(hi[:, j] > lo[:, j], np.maximum(width[:, j], 1e-300), -1.0)
    ranking = np.argsort(-width, axis=1, kind="stable").astype(np.int32)
    return ranking, (width > 0).sum(axis=1).astype(np.int32)


def _positions(starts: Counts, lengths: Counts) -> Counts:
    """The positions ``starts[i] .. starts[i] + lengths[i]`` of all runs, one after another."""
    offsets = np.cumsum(lengths) - lengths
    positions: Counts = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(starts - offsets, lengths)
    return positions
