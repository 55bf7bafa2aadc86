"""The steps by which subtree recodings get finer: opening a node of a taxonomy, or cutting a range.

A recoding of all columns is a set of such steps. With none of them every column is one label. A step in a taxonomy
replaces a node by its children, so its starts are where they begin; a step in a range cuts it in two. A step counts
only if the one it stands on was made. More steps never make a group larger, which is what searches rely on.

Parts publish the lowest node, or the tightest interval, that covers the values which occur. Nodes with a single child
that occurs therefore need no step, and every part is a node (or an interval of a range): cuts respect the taxonomy.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.boxes import Boxes
from tarnkappe.groups import Grouping
from tarnkappe.kernels.subtree.refinements import group_rows
from tarnkappe.tally import Domain, Tally

Steps = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Refinements:
    """All steps of all columns; those of a column stand together, each after the one it stands on.

    Step ``i`` cuts ``column[i]`` at ``starts[begin[i]:begin[i + 1]]``, if step ``below[i]`` (-1: none) was made.
    """

    domains: tuple[Domain, ...]
    #: The codes of each column that occur.
    present: tuple[Codes, ...]
    column: Codes
    below: Codes
    begin: Counts
    starts: Codes

    @classmethod
    def of(cls, tally: Tally, max_cuts: int | None = None) -> Refinements:
        """The steps for a tally; a range is cut at no more than `max_cuts` places, at quantiles of its records."""
        max_cuts = max(d.size for d in tally.quasi_domains) if max_cuts is None else max_cuts
        column: list[int] = []
        below: list[int] = []
        starts: list[Codes] = []
        present = []
        for j, domain in enumerate(tally.quasi_domains):
            counts = tally.value_counts[j].astype(np.float64)
            present.append(np.flatnonzero(counts).astype(np.int32))
            ahead = len(column)
            for stands_on, at in _steps(domain, counts, max_cuts):
                column.append(j)
                below.append(stands_on + ahead if stands_on >= 0 else -1)
                starts.append(at)
        begin = np.append(0, np.cumsum([len(s) for s in starts])).astype(np.int64)
        cuts = np.concatenate([*starts, np.zeros(0, np.int32)]).astype(np.int32)
        to_array = np.array(column, np.int32), np.array(below, np.int32)
        return cls(tally.quasi_domains, tuple(present), *to_array, begin, cuts)

    def __len__(self) -> int:
        return len(self.column)

    @cached_property
    def offset(self) -> Counts:
        """Where the codes of each column begin when they stand one after another."""
        return np.append(0, np.cumsum([d.size for d in self.domains])).astype(np.int64)

    @cached_property
    def cuts(self) -> tuple[Codes, Counts, Counts]:
        """Column, begin and end of the starts of every step, and at last (index -1) of making no step: no starts."""
        nothing = np.zeros(1, np.int64)
        column = np.append(self.column, np.int32(0))
        return column, np.append(self.begin[:-1], nothing), np.append(self.begin[1:], nothing)

    @cached_property
    def _column_of_code(self) -> Codes:
        return np.repeat(np.arange(len(self.domains), dtype=np.int32), np.diff(self.offset))

    @cached_property
    def _start_place(self) -> tuple[Codes, Counts]:
        """The step of every start, and its place among the codes of all columns."""
        step = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.begin))
        return step, self.offset[self.column[step]] + self.starts

    @cached_property
    def _storeys(self) -> list[Codes]:
        """The steps that stand on others, by how many are below them."""
        height = np.zeros(len(self), np.int32)
        for i, on in enumerate(self.below):
            height[i] = height[on] + 1 if on >= 0 else 0
        return [np.flatnonzero(height == h).astype(np.int32) for h in range(1, int(height.max(initial=0)) + 1)]

    def counting(self, steps: Steps) -> Steps:
        """The steps that count: those that stand on steps which count."""
        out = steps.copy()
        for storey in self._storeys:
            out[storey] &= out[self.below[storey]]
        return out

    def ready(self, made: Steps, steps: Steps) -> Codes:
        """Those of some steps that stand on steps which were made."""
        stands = np.append(made, True)[self.below]  # -1 is the ground
        return np.flatnonzero(steps & stands).astype(np.int32)

    def parts(self, steps: Steps) -> Codes:
        """The part of every code of every column, numbered per column, after some steps."""
        step, place = self._start_place
        cut = np.zeros(len(self._column_of_code), np.int32)
        cut[place[self.counting(steps)[step]]] = 1
        part = np.cumsum(cut, dtype=np.int32)
        return part - part[self.offset[:-1]][self._column_of_code]

    def column_parts(self, part: Codes, j: int) -> Codes:
        """The parts of the codes of one column."""
        return part[self.offset[j] : self.offset[j + 1]]

    def boxes(self, j: int, part: Codes) -> Boxes:
        """What each part of column `j` publishes: a box of one column per part."""
        domain, codes = self.domains[j], self.present[j]
        first = np.flatnonzero(np.r_[True, np.diff(part[codes]) > 0])
        lo, hi = codes[first], codes[np.append(first[1:], len(codes)) - 1]
        node = domain.nodes(lo, hi)
        in_range = domain.is_range[node]
        lo = np.where(in_range, lo, domain.taxonomy.lo[node]).astype(np.int32)
        hi = np.where(in_range, hi, domain.taxonomy.hi[node]).astype(np.int32)
        members = {}
        if domain.sets:
            bits = np.left_shift(np.uint64(1), codes.astype(np.uint64))
            members[0] = np.bitwise_or.reduceat(bits, first)
        return Boxes(lo[:, None], hi[:, None], node[:, None], members)

    def grouping(self, tally: Tally, steps: Steps) -> Grouping:
        """The recoded table: cells that look the same form a group."""
        part = self.parts(steps)
        group, first = group_rows(tally.quasi, part, self.offset)
        lo, hi, node = (np.empty((len(first), len(self.domains)), np.int32) for _ in range(3))
        members = {}
        for j in range(len(self.domains)):
            of_code = self.column_parts(part, j)
            boxes, at = self.boxes(j, of_code), of_code[tally.quasi[first, j]]
            lo[:, j], hi[:, j], node[:, j] = boxes.lo[at, 0], boxes.hi[at, 0], boxes.node[at, 0]
            if boxes.members:
                members[j] = boxes.members[0][at]
        return Grouping.of_cells(tally, group, len(first), Boxes(lo, hi, node, members))


def _steps(domain: Domain, counts: NDArray[np.float64], max_cuts: int) -> Iterator[tuple[int, Codes]]:
    """The steps of one column: the one each stands on (-1: none), and its starts."""
    tree = domain.taxonomy
    before = np.append(0.0, np.cumsum(counts))
    children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    for v in range(1, tree.n_nodes):
        if before[tree.hi[v] + 1] > before[tree.lo[v]]:
            children[tree.parent[v]].append(v)
    made = 0
    todo = [(0, -1)]
    while todo:
        node, on = todo.pop()
        if tree.ranges[node]:
            for start in _range_cuts(counts, int(tree.lo[node]), int(tree.hi[node]), max_cuts):
                yield on, np.array([start], np.int32)
                made += 1
            continue
        if len(children[node]) > 1:
            yield on, tree.lo[children[node][1:]]
            on = made
            made += 1
        todo.extend((child, on) for child in reversed(children[node]))


def _range_cuts(counts: NDArray[np.float64], lo: int, hi: int, max_cuts: int) -> Codes:
    """Where a range may be cut: at its values that occur, but the first; of too many, at quantiles of the records."""
    codes = np.flatnonzero(counts[lo : hi + 1]).astype(np.int32) + np.int32(lo)
    if len(codes) - 1 <= max_cuts:
        return codes[1:]
    before = np.cumsum(counts[codes])
    wanted = np.arange(1, max_cuts + 1) * before[-1] / (max_cuts + 1)
    at = np.minimum(np.searchsorted(before, wanted) + 1, len(codes) - 1)
    chosen: Codes = codes[np.unique(at)]
    return chosen
