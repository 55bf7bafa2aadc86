"""Three classical ways to mark single values of a table, to be compared with marks that are made of groups."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Flags, Floats
from tarnkappe.fingerprint.code import TardosCode
from tarnkappe.fingerprint.keys import DatasetKey, stream
from tarnkappe.fingerprint.tracing import code_book
from tarnkappe.plan import Plan
from tarnkappe.tally import distinct_rows

#: Labels of every cell by number, one row per record; -1 where there is none, or one that the table did not have.
Cells = NDArray[np.int64]

#: Numbers that the key gives every row: whether it is marked, in which column, for which position, and three more.
_DRAWN = 6

#: Neighbours that decide what is usual in a row's surroundings.
_NEIGHBOURS = 50


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """A k-anonymous table, record by record: labels by number in the order of their columns."""

    cells: Cells
    labels: tuple[int, ...]
    #: Columns whose labels are ranges of numbers.
    numeric: tuple[bool, ...]

    @classmethod
    def of(cls, plan: Plan) -> PublishedCells:
        """The table that a plan publishes."""
        columns, labels, numeric = [], [], []
        for node, domain in zip(plan.boxes.node.T, plan.tally.quasi_domains, strict=True):
            tree = domain.taxonomy
            own = np.unique(node)
            own = own[np.lexsort((tree.hi[own], tree.lo[own]))]
            number = np.full(tree.n_nodes, -1, np.int64)
            number[own] = np.arange(len(own))
            columns.append(np.repeat(number[node], plan.sizes))
            labels.append(len(own))
            numeric.append(domain.values is not None or _are_numbers(tree.leaves))
        return cls(np.column_stack(columns), tuple(labels), tuple(numeric))

    @property
    def n_rows(self) -> int:
        """Number of records."""
        return len(self.cells)


def _are_numbers(texts: Sequence[str]) -> bool:
    return all(text.lstrip("-").replace(".", "", 1).isdigit() for text in texts)


@dataclass(frozen=True, eq=False)
class ValueScheme(ABC):
    """One row in `gamma` is marked in one column with one bit of the recipient; the key decides which.

    Rows are found again by a number that no attack takes away. The published table has none: that favours these
    schemes, and what happens without it is measured as an attack ("sorted").
    """

    table: PublishedCells
    key: DatasetKey
    gamma: int

    name: ClassVar[str]
    title: ClassVar[str]
    length: ClassVar[int]

    @cached_property
    def draws(self) -> NDArray[np.uint32]:
        """What the key says about every row by its number; a leak may have as many rows again."""
        n = 2 * self.table.n_rows
        return stream(self.key.purpose("row", self.name), _DRAWN * n).reshape(n, _DRAWN)

    @property
    @abstractmethod
    def columns(self) -> list[int]:
        """The columns that carry marks."""

    def places(
        self, numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.uint32]]:
        """The rows that are marked, the column and the position of each, and the rest of what the key says."""
        drawn = self.draws[numbers]
        rows = np.flatnonzero(drawn[:, 0] % self.gamma == 0)
        column = np.array(self.columns)[drawn[rows, 1] % len(self.columns)]
        return rows, column, (drawn[rows, 2] % self.length).astype(np.int64), drawn[rows, 3:]

    def book(self, recipients: Sequence[str]) -> tuple[Flags, Floats]:
        """The bits of all recipients, and how likely each is a 1."""
        bits = [stream(self.key.purpose("code", self.name, r), self.length) & 1 for r in recipients]
        return np.array(bits, np.bool_), np.full(self.length, 0.5)

    @abstractmethod
    def marked(self, bits: Flags) -> Cells:
        """The copy with these bits."""

    @abstractmethod
    def votes(self, cells: Cells, numbers: NDArray[np.int64]) -> Floats:
        """Rows of a leak that speak for a 0 and for a 1, position by position."""

    def accused(self, votes: Floats, book: Flags) -> set[int]:
        """Whose bits are all the same as what most rows say; nobody if a single one differs."""
        zero, one = votes.T
        return set(np.flatnonzero((book == (one > zero)).all(axis=1) & (zero != one).all()).tolist())


def _voted(position: NDArray[np.int64], bit: NDArray[np.int64], length: int) -> Floats:
    return np.bincount(2 * position + bit, minlength=2 * length).reshape(length, 2).astype(np.float64)


class _Parity(ValueScheme):
    """A mark is the parity of a label's number, turned over where the key says so."""

    length = 32

    def marked(self, bits: Flags) -> Cells:
        """The copy with these bits: the neighbouring label where the parity is wrong."""
        out = self.table.cells.copy()
        rows, column, position, rest = self.places(np.arange(len(out)))
        wanted = bits[position] ^ (rest[:, 0] & 1).astype(np.bool_)
        now = out[rows, column]
        other = now ^ 1
        most = np.array(self.table.labels)[column]
        out[rows, column] = np.where(now % 2 == wanted, now, np.where(other < most, other, now - 1))
        return out

    def votes(self, cells: Cells, numbers: NDArray[np.int64]) -> Floats:
        """What the parities of a leak say."""
        rows, column, position, rest = self.places(numbers)
        shown = cells[rows, column]
        there = shown >= 0
        bit = (shown[there] % 2) ^ (rest[there, 0] & 1).astype(np.int64)
        return _voted(position[there], bit, self.length)


class LastBits(_Parity):
    """AK / LSJ: the last bit of a number, in columns of numbers only.

    Differs from the paper in: the number of a range stands for the number that it replaced.

    References
    ----------
    .. [AHK03] Agrawal, Haas, Kiernan. "Watermarking relational data." VLDB Journal 12(2), 2003.
    .. [LSJ05] Li, Swarup, Jajodia. "Fingerprinting relational databases: schemes and specialties." IEEE TDSC 2005.
    """

    name = "ak-lsj"
    title = "AK / LSJ: last bit of numbers"

    @property
    def columns(self) -> list[int]:
        """Columns of numbers with more than one label."""
        able = [j for j, n in enumerate(self.table.labels) if n > 1]
        return [j for j in able if self.table.numeric[j]] or able


class AnyColumn(_Parity):
    """Universal-style: the parity of the label's number, in columns of any kind."""

    name = "universal"
    title = "Universal-style: parity of any label"

    @property
    def columns(self) -> list[int]:
        """All columns with more than one label."""
        return [j for j, n in enumerate(self.table.labels) if n > 1]


class Neighbourhood(ValueScheme):
    """NCorr-style: a 1 is a value that is usual among a row's neighbours, a 0 one that is rare; a Tardos code.

    Neighbours agree in the columns that are associated most with the marked one: in as many of them as leave enough
    neighbours. A reader looks at the leak alone. Accused is who agrees in more positions than the mean of all
    recipients and a standard deviation, as in the published experiments with colluders.

    Differs from the paper in: neighbours are found by agreement, not by distance; so much for labels that are ranges.
    """

    name = "ncorr"
    title = "NCorr-style: usual or rare among neighbours"
    length = 128

    @property
    def columns(self) -> list[int]:
        """All columns with more than one label."""
        return [j for j, n in enumerate(self.table.labels) if n > 1]

    def book(self, recipients: Sequence[str]) -> tuple[Flags, Floats]:
        """The bits of a Tardos code, and its biases."""
        code = TardosCode(self.key, self.length)
        return code_book(code, recipients), code.biases()

    def marked(self, bits: Flags) -> Cells:
        """The copy with these bits: a value drawn among the usual or the rare ones of the neighbours."""
        cells = self.table.cells
        out = cells.copy()
        rows, column, position, rest = self.places(np.arange(len(out)))
        for j in self.columns:
            own = column == j
            here, bit = rows[own], bits[position[own]]
            where, counts, usual = self._known[j]
            able = np.where(bit[:, None], usual[where[here]], ~usual[where[here]] & (counts[where[here]] > 0))
            chance = np.cumsum(able * counts[where[here]], axis=1)
            total = chance[:, -1]
            drawn = rest[own, 1] / float(1 << 32) * total
            value = (chance <= drawn[:, None]).sum(axis=1)
            out[here, j] = np.where(total > 0, np.minimum(value, counts.shape[1] - 1), cells[here, j])
        return out

    def votes(self, cells: Cells, numbers: NDArray[np.int64]) -> Floats:
        """Whether the values of marked rows are usual in the leak."""
        rows, column, position, _ = self.places(numbers)
        out = np.zeros((self.length, 2))
        for j in self.columns:
            own = np.flatnonzero((column == j) & (cells[rows, j] >= 0))
            if not len(own):
                continue
            here = rows[own]
            where, counts, usual = self._surroundings(cells, j)
            tells = (~usual[where[here]] & (counts[where[here]] > 0)).any(axis=1)
            bit = usual[where[here], cells[here, j]][tells].astype(np.int64)
            out += _voted(position[own[tells]], bit, self.length)
        return out

    def accused(self, votes: Floats, book: Flags) -> set[int]:
        """Who agrees more than the mean and a standard deviation: there is no bound on accusing the innocent."""
        zero, one = votes.T
        told = zero != one
        agree = (book == (one > zero))[:, told].sum(axis=1).astype(np.float64)
        return set(np.flatnonzero(agree > agree.mean() + agree.std()).tolist()) if told.any() else set()

    @cached_property
    def _known(self) -> dict[int, tuple[NDArray[np.int64], NDArray[np.int64], Flags]]:
        """The surroundings in the table before it is marked."""
        return {j: self._surroundings(self.table.cells, j) for j in self.columns}

    def _surroundings(self, cells: Cells, j: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Flags]:
        """The neighbourhood of every row, how often each value of the column occurs there, and which are usual."""
        order = [i for i in self._associated[j] if (cells[:, i] >= 0).any()]
        best = np.zeros(len(cells), np.int64)
        n = 1
        for depth in range(1, len(order) + 1):
            used = order[:depth]
            rank, first = distinct_rows([cells[:, i] + 1 for i in used], [self.table.labels[i] + 1 for i in used])
            enough = np.bincount(rank, minlength=len(first))[rank] >= _NEIGHBOURS
            best = np.where(enough, n + rank, best)
            n += len(first)
        _, where = np.unique(best, return_inverse=True)
        most = self.table.labels[j]
        known = cells[:, j] >= 0
        flat = where[known] * most + cells[known, j]
        counts = np.bincount(flat, minlength=(int(where.max(initial=0)) + 1) * most).reshape(-1, most)
        falling = np.argsort(-counts, axis=1, kind="stable")
        before = np.cumsum(np.take_along_axis(counts, falling, axis=1), axis=1)
        before -= np.take_along_axis(counts, falling, axis=1)
        usual = np.zeros(counts.shape, np.bool_)
        np.put_along_axis(usual, falling, 2 * before < counts.sum(axis=1, keepdims=True), axis=1)
        return where.astype(np.int64), counts, usual

    @cached_property
    def _associated(self) -> list[list[int]]:
        """Of every column the others, the one that tells most about it first; the owner knows them from the table."""
        cells, labels = self.table.cells, self.table.labels

        def told(j: int, i: int) -> float:
            both = np.bincount(cells[:, i] * labels[j] + cells[:, j], minlength=labels[i] * labels[j]) / len(cells)
            both = both.reshape(labels[i], labels[j])
            expected = both.sum(axis=1, keepdims=True) * both.sum(axis=0)
            seen = both > 0
            return float((both[seen] * np.log(both[seen] / expected[seen])).sum())

        every = range(len(labels))
        return [sorted((i for i in every if i != j), key=lambda i, j=j: (-told(j, i), i)) for j in every]  # type: ignore[misc]


#: What block marks are compared with.
VALUE_SCHEMES: tuple[type[ValueScheme], ...] = (LastBits, AnyColumn, Neighbourhood)
