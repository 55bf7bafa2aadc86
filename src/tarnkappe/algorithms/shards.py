"""A tally in parts: what can be counted part by part and added up.

Algorithms for tables of any size decide by counts alone: a function counts the records of one shard by some keys, it
is applied to all shards at once, and what they counted is added up. Here shards are parts of a tally in memory and
threads do the counting. An engine whose parts lie on other machines or on disk can take their place: it needs the same
three verbs, `count` (a sum grouped by keys), `each` (any function of a shard) and `exchange` (bring cells together).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, GroupStats
from tarnkappe.kernels.histograms import group_order, pooled_counts
from tarnkappe.publish.boxes import TIGHT
from tarnkappe.tally import Domain, Tally, distinct_rows
from tarnkappe.threads import map_threads

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Shard:
    """Some cells of a table: their tally, and their numbers in the whole."""

    tally: Tally
    cells: Codes


@dataclass(frozen=True, eq=False)
class Counted:
    """How many records have each key: rows of codes, all distinct and in ascending order; column ``j`` is `keys[j]`.

    Codes of column ``j`` are below ``sizes[j]``.

    >>> Counted.of([np.array([1, 0, 1])], (2,), np.array([3, 4, 5])).count.tolist()
    [4, 8]
    """

    keys: tuple[Codes, ...]
    sizes: tuple[int, ...]
    count: Counts

    @classmethod
    def of(cls, columns: Sequence[Codes], sizes: Sequence[int], count: Counts) -> Counted:
        """Add up the counts of equal rows."""
        rank, first = distinct_rows(columns, sizes)
        keys = tuple(np.asarray(c[first], np.int32) for c in columns)
        return cls(keys, tuple(sizes), pooled_counts(rank, count, len(first)))

    @classmethod
    def total(cls, parts: Sequence[Counted]) -> Counted:
        """What several shards counted by the same keys, added up."""
        columns = [np.concatenate([p.keys[j] for p in parts]) for j in range(len(parts[0].sizes))]
        return cls.of(columns, parts[0].sizes, np.concatenate([p.count for p in parts]))


@dataclass(frozen=True, eq=False)
class Shards:
    """A table in shards, and what can be asked of them."""

    shards: tuple[Shard, ...]

    @classmethod
    def of(cls, tally: Tally, n_shards: int) -> Shards:
        """Runs of cells of about equal length; never more shards than cells."""
        bounds = np.linspace(0, tally.n_cells, max(min(n_shards, tally.n_cells), 1) + 1).astype(np.int64)
        cells = np.arange(tally.n_cells, dtype=np.int32)
        return cls(tuple(part_of(tally, cells[a:b]) for a, b in pairwise(bounds)))

    @property
    def quasi_domains(self) -> tuple[Domain, ...]:
        """The domains of the quasi-identifiers."""
        return self.shards[0].tally.quasi_domains

    @property
    def sensitive_domains(self) -> tuple[Domain, ...]:
        """The domains of the other columns."""
        return self.shards[0].tally.sensitive_domains

    def each(self, task: Callable[[Shard], R]) -> list[R]:
        """Apply a function to every shard, in threads; results in the order of the shards."""
        return map_threads(task, self.shards)

    def count(self, task: Callable[[Shard], Sequence[Counted]]) -> list[Counted]:
        """Count every shard by one or several sets of keys in one scan, and add up what belongs together."""
        return [Counted.total(parts) for parts in zip(*self.each(task), strict=True)]

    def exchange(self, owner: Callable[[Shard], Codes], n_owners: int) -> list[Shard]:
        """Bring the cells together that belong to the same owner (-1: to none), each in the order of the table."""
        owners = np.concatenate(self.each(owner))
        cells = np.concatenate([shard.cells for shard in self.shards])
        whole = self.each(lambda shard: shard.tally)
        quasi = np.concatenate([t.quasi for t in whole])
        sensitive = np.concatenate([t.sensitive for t in whole])
        count = np.concatenate([t.count for t in whole])
        starts, order = group_order(owners, n_owners)

        def collected(i: int) -> Shard:
            at = order[starts[i] : starts[i + 1]]
            tally = replace(whole[0], quasi=quasi[at], sensitive=sensitive[at], count=count[at])
            return Shard(tally, cells[at])

        return [collected(i) for i in range(n_owners)]


def part_of(tally: Tally, cells: Codes, count: Counts | None = None) -> Shard:
    """Some cells of a tally as a shard, all their records or `count` of each."""
    records = tally.count[cells] if count is None else count
    people = None if tally.population is None else tally.population[cells]
    quasi, sensitive = tally.quasi[cells], tally.sensitive[cells]
    return Shard(replace(tally, quasi=quasi, sensitive=sensitive, count=records, population=people), cells)


def joined(groupings: Sequence[Grouping], parts: Sequence[Shard]) -> Grouping:
    """The groups of several parts of a table as one grouping of the whole, with whole cells or pieces of them."""
    before = np.cumsum([0, *(g.n_groups for g in groupings)]).astype(np.int32)
    cell = np.concatenate([p.cells[g.cell] for g, p in zip(groupings, parts, strict=True)])
    shift = zip(groupings, before[:-1], strict=True)
    group = np.concatenate([np.where(g.group == SUPPRESSED, SUPPRESSED, g.group + first) for g, first in shift])
    quota = np.concatenate([g.quota for g in groupings])
    said = [g.form for g in groupings if g.n_groups]  # a part without groups says nothing
    form = type(said[0]).joined(said) if said else TIGHT
    return replace(Grouping.sorted_by_cell(cell, group, quota, int(before[-1])), form=form)


class Secrets:
    """The combinations of values that a goal sees besides the quasi-identifiers, numbered alike in all shards.

    They are found in a first scan; from then on a goal can be asked about counts by group and combination.
    """

    def __init__(self, shards: Shards, goal: Goal) -> None:
        domains = shards.sensitive_domains
        self._columns = [s for s, d in enumerate(domains) if goal.joint or d.name in goal.columns]
        self._goal = goal
        self.domains = tuple(domains[s] for s in self._columns)
        #: Combination ``i`` stands for the values ``values[i]``.
        self.values = np.zeros((1, 0), np.int32)
        self.tables: dict[str, Counts] = {}
        self._known: dict[Shard, Codes] = {}
        if self._columns:
            (found,) = shards.count(
                lambda shard: [Counted.of(self._codes(shard.tally), self._sizes, shard.tally.count)]
            )
            self.values = np.column_stack(found.keys)
            self.tables = {
                d.name: np.bincount(found.keys[i], weights=found.count, minlength=d.size).astype(np.int64)
                for i, d in enumerate(self.domains)
                if d.name in goal.columns
            }
        whole = shards.shards[0].tally.whole
        if whole is not None:  # the shards are those of a part
            self.tables = goal.table_distributions(whole)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(d.size for d in self.domains)

    def _codes(self, tally: Tally) -> list[Codes]:
        return [tally.sensitive[:, s] for s in self._columns]

    def of(self, shard: Shard) -> Codes:
        """The combination of every cell of one of the shards, or of a part of them; looked up once."""
        if shard not in self._known:
            self._known[shard] = self._numbered(shard.tally)
        return self._known[shard]

    def _numbered(self, tally: Tally) -> Codes:
        if not self._columns:
            return np.zeros(tally.n_cells, np.int32)
        known = [np.concatenate([self.values[:, i], c]) for i, c in enumerate(self._codes(tally))]
        return distinct_rows(known, self._sizes)[0][len(self) :]

    def stats(self, group: Codes, secret: Codes, count: Counts) -> GroupStats:
        """What the goal sees of groups of which so many records have each combination."""
        sensitive = {
            d.name: (self.values[secret, i], d) for i, d in enumerate(self.domains) if d.name in self._goal.columns
        }
        joint = (self.domains, secret, self.values) if self._goal.joint else None
        return GroupStats.from_cells(group, count, sensitive, joint=joint, tables=self.tables)
