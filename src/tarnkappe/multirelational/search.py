"""Find levels for all quasi-identifiers of all tables at which enough persons look the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.recoding import Cut
from tarnkappe.arrays import Codes, Counts
from tarnkappe.criteria.base import as_fraction, times
from tarnkappe.kernels.multirelational.signatures import Hashes, add_rows, mix_column, mix_hashes
from tarnkappe.kernels.sorting import dense_ranks
from tarnkappe.multirelational.model import Rows
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.threads import share_out

#: Two hashes with different beginnings are kept of everything: 128 bits.
_BEGINNINGS = (0x243F6A8885A308D3, 0x13198A2E03707344)

#: What a table shows is kept for so many of the levels that were asked about last.
_REMEMBERED = 64

Levels = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The quasi-identifiers of one table as codes, and the person that each row belongs to."""

    codes: tuple[Codes, ...]
    domains: tuple[Domain, ...]
    owner: Codes
    rows: Rows
    _seen: dict[Levels, tuple[Hashes, ...]] = field(default_factory=dict)

    def signatures(self, levels: Levels, n_persons: int) -> tuple[Hashes, ...]:
        """Two hashes per person of the rows that are seen of him or her at some levels."""
        if levels not in self._seen:
            if len(self._seen) >= _REMEMBERED:
                del self._seen[next(iter(self._seen))]
            lanes = [np.full(len(self.owner), beginning, np.uint64) for beginning in _BEGINNINGS]
            for codes, domain, level in zip(self.codes, self.domains, levels, strict=True):
                for lane in lanes:
                    mix_column(lane, domain.taxonomy.ancestors[level], codes)
            rows = np.arange(len(self.owner), dtype=np.int32)
            if self.rows == "set":
                kind = _same(lanes)
                rows = distinct_rows([self.owner, kind], [n_persons, int(kind.max(initial=0)) + 1])[1]
            self._seen[levels] = tuple(add_rows(lane, self.owner, rows, n_persons) for lane in lanes)
        return self._seen[levels]


def _same(lanes: Sequence[Hashes]) -> Codes:
    """Number what has the same pair of hashes."""
    ranks = [dense_ranks(lane.copy(), 64, share_out)[:2] for lane in lanes]
    return distinct_rows([rank for rank, _ in ranks], [len(first) for _, first in ranks])[0]


@dataclass(frozen=True, eq=False)
class Secret:
    """Who has which value of a sensitive column, each pair once, and the l that is asked for."""

    person: Codes
    value: Codes
    n_values: int
    l: float  # noqa: E741

    @classmethod
    def of(cls, owner: Codes, value: Codes, n_values: int, n_persons: int, l: float) -> Secret:  # noqa: E741
        """Take the rows of a table."""
        _, first = distinct_rows([owner, value], [n_persons, n_values])
        return cls(owner[first], value[first], n_values, l)

    def common(self, group: Codes, sizes: Counts) -> NDArray[np.bool_]:
        """The groups in which one value belongs to more than one l-th of the persons."""
        pair, first = distinct_rows([group[self.person], self.value], [len(sizes), self.n_values])
        most = np.zeros(len(sizes), np.int64)
        np.maximum.at(most, group[self.person[first]], np.bincount(pair))
        exact = as_fraction(self.l)
        return np.asarray(times(most, exact.numerator) > times(sizes, exact.denominator), np.bool_)


@dataclass(frozen=True, eq=False)
class View:
    """What the tables show at some levels: the group of every person, and which groups violate the goal."""

    group: Codes
    sizes: Counts
    bad: NDArray[np.bool_]

    @property
    def n_violating(self) -> int:
        """Persons in groups that violate the goal."""
        return int(self.sizes[self.bad].sum())


#: So many rows are looked at, over all combinations of levels, before a search for a rare solution ends.
_PATIENCE = 1 << 28


@dataclass(frozen=True, eq=False)
class Found:
    """What a search came to."""

    #: The levels found and what they show; None if there are none.
    answer: tuple[Levels, View] | None
    #: The fewest persons suppressed at levels that were tried and leave something of every table; None if none does.
    fewest: int | None
    #: Whether all combinations of levels were ruled out, if there is no answer.
    exhaustive: bool = True


@dataclass(frozen=True, eq=False)
class Search:
    """Greedy full-domain search over the levels of all columns of all tables.

    Levels rise one at a time, from the bottom: always the one that frees most persons per detail lost; where none frees
    anybody, that of the column with most labels. When few enough persons violate the goal and something of every table
    is left, levels are lowered again as long as that stays so. In the end no single level can be lowered.

    Groups only grow as levels rise, so without an l the top is a release if anything is. With an l it need not be:
    persons who share a value too often may be suppressed by themselves further down, and spoil the group of everybody
    at the top. Where the way up finds nothing, all levels are looked at from the top, without those below too small
    groups.

    O(sum of heights · columns · rows). Persons are compared by 128-bit hashes of what is seen of them.
    """

    tables: Sequence[EncodedTable]
    secrets: Sequence[Secret]
    n_persons: int
    k: int
    budget: int

    def run(self) -> Found:
        """The levels found, or how far from a release they all are."""
        levels, view = self._raised()
        if self.is_release(view):
            return Found(self._lowered(levels, view), view.n_violating)
        if not self.secrets:
            return Found(None, view.n_violating if self._leaves_something(view.bad, view) else None)
        return self._looked_through()

    def _raised(self) -> tuple[Levels, View]:
        """The first release on the greedy way from the bottom, or the top."""
        levels: Levels = (0,) * len(self._domains)
        view = self.view(levels)
        while not self.is_release(view):
            higher = [_step(levels, j, 1) for j, level in enumerate(levels) if level < self.top[j]]
            if not higher:
                break
            views = {step: self.view(step) for step in higher}
            before, loss = view.n_violating, self.loss(levels)
            gain = {s: (before - v.n_violating) / max(self.loss(s) - loss, 1e-12) for s, v in views.items()}
            best = max(higher, key=lambda s: gain[s])
            if gain[best] <= 0:
                best = max(higher, key=lambda s: self._labels_at(levels, s))
            levels, view = best, views[best]
        return levels, view

    def _looked_through(self) -> Found:
        """Look at all levels from the top down, but at none below levels at which too many groups are too small."""
        patience = max(_PATIENCE // max(sum(len(t.owner) for t in self.tables), 1), 1)
        seen, fewest = {self.top}, None
        row = [self.top]
        while row:
            below: dict[Levels, None] = {}
            for levels in row:
                view = self.view(levels)
                if self.is_release(view):
                    return Found(self._lowered(levels, view), view.n_violating)
                if self._leaves_something(view.bad, view):
                    fewest = min(view.n_violating, self.n_persons if fewest is None else fewest)
                small = view.sizes < self.k
                if self._leaves_something(small, view) and int(view.sizes[small].sum()) <= self.budget:
                    below.update((_step(levels, j, -1), None) for j, level in enumerate(levels) if level > 0)
            row = list(below)
            seen.update(row)
            if len(seen) > patience:
                return Found(None, fewest, exhaustive=False)
        return Found(None, fewest)

    def is_release(self, view: View) -> bool:
        """Whether few enough persons would have to be suppressed, and something of every table is left."""
        return view.n_violating <= self.budget and self._leaves_something(view.bad, view)

    def _leaves_something(self, lost: NDArray[np.bool_], view: View) -> bool:
        """Whether every table has rows of persons who are in none of the groups that are lost."""
        kept = ~lost[view.group]
        return bool(kept.any()) and all(kept[table.owner].any() for table in self.tables)

    def _lowered(self, levels: Levels, view: View) -> tuple[Levels, View]:
        """Undo steps that turned out not to be needed, those that win most detail first."""
        while True:
            lower = [_step(levels, j, -1) for j in range(len(levels)) if levels[j] > 0]
            for step in sorted(lower, key=self.loss):
                found = self.view(step)
                if self.is_release(found):
                    levels, view = step, found
                    break
            else:
                return levels, view

    def view(self, levels: Levels) -> View:
        """What is seen of everybody at some levels."""
        lanes = [np.full(self.n_persons, beginning, np.uint64) for beginning in _BEGINNINGS]
        for table, part in zip(self.tables, self.by_table(levels), strict=True):
            for lane, more in zip(lanes, table.signatures(part, self.n_persons), strict=True):
                mix_hashes(lane, more)
        group = _same(lanes)
        sizes = np.bincount(group).astype(np.int64)
        bad = sizes < self.k
        for secret in self.secrets:
            bad |= secret.common(group, sizes)
        return View(group, sizes, bad)

    def by_table(self, levels: Levels) -> list[Levels]:
        """The levels of each table."""
        out, at = [], 0
        for table in self.tables:
            out.append(levels[at : at + len(table.domains)])
            at += len(table.domains)
        return out

    def loss(self, levels: Levels) -> float:
        """The detail that a column has lost on average."""
        return float(np.mean(self.losses(levels)))

    def losses(self, levels: Levels) -> list[float]:
        """The detail that each column has lost: 0 if it is published as it is, 1 if nothing is said."""
        columns = [(codes, domain) for table in self.tables for codes, domain in _columns(table)]
        return [_loss(codes, domain, level) for (codes, domain), level in zip(columns, levels, strict=True)]

    @property
    def top(self) -> Levels:
        """All columns at the roots of their taxonomies."""
        return tuple(domain.taxonomy.height for domain in self._domains)

    @property
    def _domains(self) -> list[Domain]:
        return [domain for table in self.tables for domain in table.domains]

    def _labels_at(self, levels: Levels, step: Levels) -> int:
        """Labels of the column in which a step differs."""
        j = next(j for j, (old, new) in enumerate(zip(levels, step, strict=True)) if old != new)
        return Cut.at_level(self._domains[j], levels[j]).n_parts


def _columns(table: EncodedTable) -> list[tuple[Codes, Domain]]:
    return list(zip(table.codes, table.domains, strict=True))


def _step(levels: Levels, j: int, by: int) -> Levels:
    return (*levels[:j], levels[j] + by, *levels[j + 1 :])


def _loss(codes: Codes, domain: Domain, level: int) -> float:
    cut = Cut.at_level(domain, level)
    rows = np.bincount(cut.part[codes], minlength=cut.n_parts)
    return float(rows @ domain.widths(cut.lo, cut.hi, cut.node)) / max(len(codes), 1)
