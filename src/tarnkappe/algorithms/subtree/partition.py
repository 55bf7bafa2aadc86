"""Groups that are divided step by step: the table of classes that top-down algorithms keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.groups import Draft, Grouping
from tarnkappe.kernels.subtree.specialising import NO_PART, part_groups, smallest_side
from tarnkappe.tally import Tally

_FIRST_CAPACITY = 256


@dataclass(frozen=True, eq=False)
class Pieces:
    """What groups fall into when a column is divided: per piece its group, its run of cells and its records."""

    group: Counts
    begin: Counts
    end: Counts
    size: Counts

    @cached_property
    def is_first(self) -> NDArray[np.bool_]:
        """Which pieces are the first of their group."""
        first: NDArray[np.bool_] = np.diff(self.group, prepend=-1) != 0
        return first

    @cached_property
    def is_part(self) -> NDArray[np.bool_]:
        """Which pieces are not all of their group."""
        is_last = np.append(self.is_first[1:], True)[: len(self.group)]
        part: NDArray[np.bool_] = ~(self.is_first & is_last)
        return part

    def only(self, chosen: NDArray[np.bool_]) -> Pieces:
        """Some of the pieces."""
        return Pieces(self.group[chosen], self.begin[chosen], self.end[chosen], self.size[chosen])


class Partition:
    """Cells in groups, each a run of `order`; only groups that a step concerns are touched by it.

    ``label[g, j]`` is the number of the value that group ``g`` has in column ``j``. Groups that are not `alive` are
    left out of the release and never divided again. `born` counts steps: when the group became what it is.
    """

    def __init__(self, rows: Codes, count: Counts, first_labels: Codes, min_size: int = 1) -> None:
        n_columns = rows.shape[1]
        self.rows = np.ascontiguousarray(rows)
        self.count = count
        self.min_size = min_size
        self.order = np.arange(len(rows), dtype=np.int32)
        self.n_groups = 1
        self.step = 0
        self._capacity = 0
        self.start = np.zeros(0, np.int64)
        self.stop = np.zeros(0, np.int64)
        self.size = np.zeros(0, np.int64)
        self.alive = np.zeros(0, np.bool_)
        self.born = np.zeros(0, np.int64)
        self.label = np.zeros((0, n_columns), np.int32)
        self._reserve(1)
        self.stop[0] = len(rows)
        self.size[0] = count.sum()
        self.alive[0] = True
        self.label[0] = first_labels

    def _reserve(self, n_groups: int) -> None:
        """Room for so many groups."""
        if n_groups <= self._capacity:
            return
        self._capacity = max(2 * self._capacity, n_groups, _FIRST_CAPACITY)
        for name in ("start", "stop", "size", "alive", "born", "label"):
            old = getattr(self, name)
            new = np.zeros((self._capacity, *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            setattr(self, name, new)

    @property
    def numbers(self) -> Counts:
        """The numbers of all groups."""
        return np.arange(self.n_groups, dtype=np.int64)

    @property
    def labels(self) -> Codes:
        """The values of all groups."""
        return self.label[: self.n_groups]

    @property
    def whole(self) -> Pieces:
        """All groups, each as one piece."""
        n = self.n_groups
        return Pieces(self.numbers, self.start[:n], self.stop[:n], self.size[:n])

    def carriers(self, j: int, value: int) -> Counts:
        """The living groups that have a value in column `j`."""
        n = self.n_groups
        return np.flatnonzero((self.label[:n, j] == value) & self.alive[:n])

    def part(self, groups: Counts, j: int, slot: Codes, rows: Codes | None = None) -> Pieces:
        """What groups fall into when leaves of column `j` (or of other `rows`) go to their slots; the groups stay."""
        rows = self.rows if rows is None else rows
        return Pieces(*part_groups(groups, rows, j, slot, self.count, self.order, self.start, self.stop))

    def cells(self, pieces: Pieces) -> tuple[Codes, Codes]:
        """The cells of all pieces, and the piece of each."""
        lengths = pieces.end - pieces.begin
        offsets = np.cumsum(lengths) - lengths
        at = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(pieces.begin - offsets, lengths)
        return self.order[at], np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)

    def grouping(self, pieces: Pieces) -> Draft:
        """The pieces alone as groups."""
        cell, piece = self.cells(pieces)
        return Draft(cell, piece, self.count[cell], len(pieces.size))

    def leaves(self, pieces: Pieces, j: int) -> Codes:
        """The leaf of one cell of each piece in column `j`."""
        leaves: Codes = self.rows[self.order[pieces.begin], j]
        return leaves

    def divide(self, pieces: Pieces, ok: NDArray[np.bool_]) -> Counts:
        """Make groups of pieces that `part` has just found; those that are not ok are left out. Returns their numbers.

        The first piece of a group takes its number, the others get new ones.
        """
        later = ~pieces.is_first
        made = np.where(later, self.n_groups - 1 + np.cumsum(later), pieces.group)
        self.n_groups += int(later.sum())
        self._reserve(self.n_groups)
        self.step += 1
        self.label[made] = self.label[pieces.group]  # read as a whole before it is written
        self.start[made], self.stop[made], self.size[made] = pieces.begin, pieces.end, pieces.size
        self.alive[made] = ok
        self.born[made] = self.step
        return made

    @property
    def anonymity(self) -> int:
        """The size of the smallest living group that is large enough."""
        size = self.size[: self.n_groups][self.alive[: self.n_groups]]
        return int(size[size >= self.min_size].min(initial=NO_PART))

    def smallest_side(self, j: int, value: int, last: int) -> int:
        """The smallest group that is large enough when those that have a value are cut after a leaf of column `j`."""
        groups = self.carriers(j, value)
        found = smallest_side(groups, self.rows, j, last, self.count, self.order, self.start, self.stop, self.min_size)
        return int(found)

    def release(self, tally: Tally, pieces: Pieces, j: int, value_of: Codes) -> tuple[Grouping, Codes]:
        """All groups as they would be with these pieces, and their labels.

        `value_of` is the number of the value that every leaf would have; only column `j` changes.
        """
        kept = np.ones(self.n_groups, np.bool_)
        kept[pieces.group] = False
        rest = np.flatnonzero(kept)
        begin = np.concatenate([self.start[rest], pieces.begin])
        end = np.concatenate([self.stop[rest], pieces.end])
        label = np.concatenate([self.label[rest], self.label[pieces.group]])
        label[len(rest) :, j] = value_of[self.leaves(pieces, j)]
        by_place = np.argsort(begin)
        group = np.empty(len(self.order), np.int32)
        group[self.order] = np.repeat(by_place, (end - begin)[by_place])
        return Grouping.of_cells(tally, group, len(begin)), label
