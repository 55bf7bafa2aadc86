"""A holder of columns that are specialised: what it knows, what it offers, and how it carries an offer out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.algorithms.subtree.partition import Partition, Pieces
from tarnkappe.algorithms.subtree.target import leaf_classes
from tarnkappe.algorithms.subtree.values import ColumnCut, Value
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.subtree.specialising import ANYWHERE, CLOSED, NO_PART, SINGLY, weigh_groups
from tarnkappe.tally import Domain

#: How a specialisation is valued: by the information it gains per anonymity it loses, by the information alone, or by
#: how much the sum of squared group sizes decreases.
SCORES = ("gain-per-loss", "gain", "discernibility")


@dataclass(frozen=True, order=True)
class Offer:
    """The best specialisation of a party; of equal scores the one that wins more detail counts more."""

    score: float
    detail: float


@dataclass(frozen=True, eq=False)
class Message:
    """What the other parties learn about a specialisation: which groups fall apart, and into what."""

    groups: Counts
    cell: Codes
    piece: Codes
    ok: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Step:
    """A specialisation that may be carried out: what takes the place of a value, and what its groups fall into.

    Only the step that was made last may be carried out, because making one puts cells into another order.

    `value_of` is the number of the value that every leaf would have; the new values come after all old ones.
    """

    candidate: int
    number: int
    column: int
    values: list[Value]
    value_of: Codes
    pieces: Pieces


class _Weights:
    """What every candidate does to the groups of one partition; see the kernel."""

    def __init__(self, n_leaves: int) -> None:
        self.lost = np.zeros(n_leaves, np.int64)
        self.freed = np.zeros(n_leaves)
        self.least = np.full(n_leaves, NO_PART, np.int64)

    def forget(self, leaves: Codes) -> None:
        self.lost[leaves] = 0
        self.freed[leaves] = 0.0
        self.least[leaves] = NO_PART


class Party:
    """A holder of some columns of all records.

    `codes` has a row per cell and a column per domain; `classes` are the class of every cell and the number of classes.
    At most `budget` records may end in groups smaller than `min_size`, which are left out.

    `sets` are the columns whose combinations are counted for the loss of anonymity: by default one set of all columns.
    `start` is the node that each leaf of each column is published as in the beginning: by default the root.
    """

    def __init__(
        self,
        codes: Codes,
        domains: Sequence[Domain],
        count: Counts,
        classes: tuple[Codes, int],
        *,
        min_size: int = 1,
        budget: int = 0,
        score: str = SCORES[0],
        granularity: str = "sibling",
        sets: Sequence[Sequence[int]] = (),
        start: Sequence[Codes] | None = None,
    ) -> None:
        self.score = score
        self.budget = budget
        self.left_out = 0
        self.n_records = int(count.sum())
        self.values: list[Value] = []
        self._column: list[int] = []
        self._on_cut: list[list[int]] = [[] for _ in domains]
        self._cuts = [
            ColumnCut(d, leaf_classes(codes[:, j], d.size, *classes, count), granularity) for j, d in enumerate(domains)
        ]
        self._offset = np.append(0, np.cumsum([d.size for d in domains])).astype(np.int32)
        n_leaves = int(self._offset[-1])
        self._value_of = np.zeros(n_leaves, np.int32)
        self._mode = np.zeros(n_leaves, np.int8)
        self._slot = np.zeros(n_leaves, np.int32)
        self._home = np.zeros(n_leaves, np.int32)
        self._open = np.zeros(n_leaves, np.bool_)
        self._gain = np.zeros(n_leaves)
        self._detail = np.zeros(n_leaves)
        rows = codes + self._offset[:-1]
        self.groups = Partition(rows, count, np.zeros(rows.shape[1], np.int32), min_size)
        self._sets = [(Partition(rows[:, list(s)], count, np.zeros(len(s), np.int32)), list(s)) for s in sets]
        self._weights = {id(p): _Weights(n_leaves) for p in self._partitions}
        for j, cut in enumerate(self._cuts):
            self._add(j, cut.first(None if start is None else start[j]))
        for partition in self._partitions:
            for j in range(partition.rows.shape[1]):
                self._divide(partition, j, partition.part(partition.numbers, j, self._value_of))
            self._weigh(partition, partition.numbers, None, 1)

    @property
    def _partitions(self) -> list[Partition]:
        return [self.groups, *(partition for partition, _ in self._sets)]

    def _add(self, j: int, values: list[Value], before: Value | None = None) -> None:
        """Put values on the cut of a column, in place of one that was there `before`."""
        at = self._offset[j]
        for value in values:
            number = len(self.values)
            self.values.append(value)
            self._column.append(j)
            self._on_cut[j].append(number)
            leaves, candidates = value.leaves + at, value.candidates + at
            self._value_of[leaves] = number
            self._home[leaves] = leaves[0]
            self._slot[leaves] = leaves
            for a, b in value.parts:
                self._slot[at + a : at + b + 1] = at + a
            self._gain[candidates] = value.gain
            self._detail[candidates] = value.detail
            if before is None or not _continues(before, value):
                self._open[leaves] = False
                self._open[candidates] = True
                for weights in self._weights.values():
                    weights.forget(leaves)
            self._mode[leaves] = value.mode if self._open[candidates].any() else CLOSED

    def _weigh(self, partition: Partition, groups: Counts, column: int | None, sign: int) -> None:
        """Add what candidates of one column, or of all, do to living groups, or take it away."""
        weights = self._weights[id(partition)]
        weigh_groups(
            groups[partition.alive[groups]],
            np.arange(partition.rows.shape[1]) if column is None else np.array([column]),
            sign,
            partition.rows,
            partition.count,
            partition.order,
            partition.start,
            partition.stop,
            self._mode,
            self._slot,
            self._home,
            partition.min_size,
            weights.lost,
            weights.freed,
            weights.least,
        )

    def _sums(self, sums: NDArray[Any]) -> NDArray[Any]:
        """The sums of all candidates; those of cuts anywhere are kept as differences."""
        out = sums.copy()
        for j, value in self._ranges():
            span = slice(self._offset[j] + value.lo, self._offset[j] + value.hi + 1)
            out[span] = np.cumsum(sums[span])
        return out

    def candidates(self) -> Codes:
        """The specialisations that do not make too many groups too small; the others are never looked at again."""
        lost = self._sums(self._weights[id(self.groups)].lost)
        for candidate in np.flatnonzero(self._open & ~self._worth(lost, self._detail)):
            self.drop(int(candidate))  # groups only get smaller, so it stays that way
        return np.flatnonzero(self._open).astype(np.int32)

    def _worth(self, lost: Counts, detail: Floats) -> NDArray[np.bool_]:
        """Whether so many more records may be left out to win this much detail.

        The share of records that are lost must be smaller than the share of the column's width that all win; otherwise
        a generous limit would be spent on steps that gain next to nothing.
        """
        total = self.left_out + lost
        pays: NDArray[np.bool_] = (lost == 0) | (lost < detail * self.n_records)
        return pays & (total <= self.budget) & (total < self.n_records)

    def is_worth(self, step: Step, lost: int) -> bool:
        """Whether a step may leave out so many more records."""
        return bool(self._worth(np.array([lost]), self._detail[[step.candidate]])[0])

    def gains(self, candidates: Codes) -> tuple[Floats, Floats]:
        """The information about the target that each candidate gains by itself, and the detail it wins."""
        return self._gain[candidates], self._detail[candidates]

    def best(self) -> tuple[Offer, int] | None:
        """The best candidate and its score."""
        candidates = self.candidates()
        if not len(candidates):
            return None
        score = self._score()[candidates]
        ties = candidates[score == score.max()]
        best = int(ties[np.argmax(self._detail[ties])])
        return Offer(float(score.max()), float(self._detail[best])), best

    def _score(self) -> Floats:
        """The score of every candidate."""
        if self.score == "discernibility":
            return self._sums(self._weights[id(self.groups)].freed)
        cuts = self._best_cuts()
        gain = np.where(self._mode == ANYWHERE, -1.0, self._gain)
        gain[cuts] = self._gain[cuts]
        return gain if self.score == "gain" else gain / (self._anonymity_loss(cuts) + 1)

    def _best_cuts(self) -> list[int]:
        """For each range the cut that gains most by itself; if none gains anything, the one that wins most detail."""
        best = []
        for j, value in self._ranges():
            cuts = value.candidates[self._open[value.candidates + self._offset[j]]] + self._offset[j]
            order = np.lexsort((-cuts, self._detail[cuts], self._gain[cuts]))
            best.append(int(cuts[order[-1]]))
        return best

    def _anonymity_loss(self, cuts: list[int]) -> Floats:
        """Per candidate, the mean over the sets of columns of how much smaller the smallest group becomes."""
        every = list(range(len(self._cuts)))
        losses = []
        for partition, columns in self._sets or [(self.groups, every)]:
            least = self._weights[id(partition)].least.copy()
            for cut in cuts:
                number = int(self._value_of[cut])
                if self._column[number] in columns:
                    least[cut] = partition.smallest_side(columns.index(self._column[number]), number, cut)
            losses.append(partition.anonymity - np.minimum(partition.anonymity, least))
        loss: Floats = np.mean(losses, axis=0)
        return loss

    def _ranges(self) -> Iterator[tuple[int, Value]]:
        """Column and value of every range that may still be cut."""
        for j, numbers in enumerate(self._on_cut):
            for value in (self.values[number] for number in numbers):
                if self._mode[self._offset[j] + value.leaves[0]] == ANYWHERE:
                    yield j, value

    def step(self, candidate: int) -> Step:
        """What a candidate would do."""
        number = int(self._value_of[candidate])
        j = self._column[number]
        values = self._cuts[j].specialise(self.values[number], candidate - int(self._offset[j]))
        value_of = self._value_of.copy()
        for i, value in enumerate(values):
            value_of[value.leaves + self._offset[j]] = len(self.values) + i
        pieces = self._part(self.groups, j, number, value_of)
        return Step(candidate, number, j, values, value_of, pieces)

    def _part(self, partition: Partition, j: int, number: int, value_of: Codes) -> Pieces:
        slot = np.maximum(value_of - np.int32(len(self.values)), 0)
        return partition.part(partition.carriers(j, number), j, slot)

    def drop(self, candidate: int) -> None:
        """Never look at a candidate again."""
        self._open[candidate] = False
        value = self.values[self._value_of[candidate]]
        at = self._offset[self._column[self._value_of[candidate]]]
        if not self._open[value.candidates + at].any():
            self._mode[value.leaves + at] = CLOSED

    def carry_out(self, step: Step, ok: NDArray[np.bool_]) -> Message:
        """Specialise; pieces that are not ok are left out. Returns what the other parties must know."""
        pieces = step.pieces
        cell, piece = self.groups.cells(pieces)
        message = Message(pieces.group[pieces.is_first], cell, piece, ok)
        parted = [(self.groups, step.column, pieces, ok)]
        for partition, columns in self._sets:
            if step.column in columns:
                j = columns.index(step.column)
                parts = self._part(partition, j, step.number, step.value_of)
                parted.append((partition, j, parts, np.ones(len(parts.size), np.bool_)))
        before = self.values[step.number]
        moved = np.array([not _continues(before, value) for value in step.values])
        concerned = []
        for partition, j, parts, _ in parted:
            split = parts.is_part
            new = moved[step.value_of[partition.leaves(parts, j)] - len(self.values)] & ~split
            self._weigh(partition, np.unique(parts.group[split]), None, -1)
            self._weigh(partition, parts.group[new], j, -1)
            concerned.append((split, new))
        self._open[step.candidate] = False
        self._on_cut[step.column].remove(step.number)
        self._add(step.column, step.values, before)
        for (partition, j, parts, fine), (split, new) in zip(parted, concerned, strict=True):
            made = self._divide(partition, j, parts, fine)
            self._weigh(partition, made[split], None, 1)
            self._weigh(partition, made[new], j, 1)
        self.left_out += int(pieces.size[~ok].sum())
        return message

    def _divide(self, partition: Partition, j: int, pieces: Pieces, ok: NDArray[np.bool_] | None = None) -> Counts:
        """Make groups of pieces of column `j`; those that are not ok are left out."""
        made = partition.divide(pieces, np.ones(len(pieces.size), np.bool_) if ok is None else ok)
        partition.label[made, j] = self._value_of[partition.leaves(pieces, j)]
        return made

    def relax(self, min_size: int, budget: int) -> None:
        """Ask for smaller groups from now on: everything that was dropped may be tried again."""
        self.budget = budget
        self.groups.min_size = min_size
        for j, numbers in enumerate(self._on_cut):
            for value in (self.values[number] for number in numbers):
                leaves, candidates = value.leaves + self._offset[j], value.candidates + self._offset[j]
                self._open[candidates] = True
                self._mode[leaves] = value.mode
        for partition in self._partitions:
            self._weights[id(partition)].forget(np.arange(len(self._open), dtype=np.int32))
            self._weigh(partition, partition.numbers, None, 1)

    def leave_out(self, groups: Counts) -> None:
        """Leave groups out of the release."""
        self._weigh(self.groups, groups, None, -1)
        self.groups.alive[groups] = False
        self.left_out += int(self.groups.size[groups].sum())

    def follow(self, message: Message) -> None:
        """Divide the groups as another party has done."""
        piece = np.zeros((len(self.groups.order), 1), np.int32)
        piece[message.cell, 0] = message.piece
        numbers = np.arange(len(message.ok), dtype=np.int32)
        pieces = self.groups.part(message.groups, 0, numbers, piece)
        split = pieces.is_part
        self._weigh(self.groups, np.unique(pieces.group[split]), None, -1)
        made = self.groups.divide(pieces, message.ok)
        self._weigh(self.groups, made[split], None, 1)
        self.left_out += int(pieces.size[~message.ok].sum())

    def cuts(self) -> list[Cut]:
        """How every column is recoded now."""
        return [
            cut.cut([self.values[number] for number in numbers])
            for cut, numbers in zip(self._cuts, self._on_cut, strict=True)
        ]


def _continues(before: Value, after: Value) -> bool:
    """Whether the candidates of a value are the same as before, but for those that were used up."""
    if before.mode == ANYWHERE:
        return True
    return before.mode == SINGLY == after.mode and before.node == after.node
