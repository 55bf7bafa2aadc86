"""The lattice of full-domain generalisation: one level per quasi-identifier, and the classes that a node makes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Grouping, GroupStats
from tarnkappe.kernels.fulldomain.lattice import first_below, roll_up
from tarnkappe.tally import Domain, Tally, distinct_rows

#: A node: the level of each quasi-identifier.
Node = tuple[int, ...]

#: Keys below this are exact; larger products of column sizes are hashed instead.
_MOST_KEYS = 1 << 62

#: What a node takes in the grids of a search: three marks, a height, a bound and its place in two orders; and for each
#: column the cost of its level, twice while costs are summed.
_BYTES_PER_NODE, _BYTES_PER_COLUMN = 3 + 4 * 8, 8

#: A class table is worth keeping for later roll-ups if it is so much smaller than the one it came from.
_WORTH_KEEPING = 0.6

#: Class tables are kept until they hold this many classes or histogram entries together.
_MOST_KEPT = 12_000_000


@dataclass(frozen=True)
class Lattice:
    """All nodes between the lowest and the highest levels allowed, as a grid with one axis per quasi-identifier.

    Nodes below a node are the box of the grid that ends at it, nodes above it the box that starts at it.
    """

    low: Node
    high: Node

    @classmethod
    def of(cls, domains: Sequence[Domain]) -> Lattice:
        """The lattice that the levels of the columns span."""
        high = (d.taxonomy.height if d.max_level is None else min(d.max_level, d.taxonomy.height) for d in domains)
        return cls((0,) * len(domains), tuple(high))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of levels of each quasi-identifier."""
        return tuple(b - a + 1 for a, b in zip(self.low, self.high, strict=True))

    def __contains__(self, node: Node) -> bool:
        """Whether all levels of a node are allowed."""
        return all(a <= i <= b for a, i, b in zip(self.low, node, self.high, strict=True))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return prod(self.shape)

    @property
    def bytes_of_grids(self) -> int:
        """What it takes to remember every node: marks, heights, an order, and bounds with what they are summed from."""
        return self.n_nodes * (_BYTES_PER_NODE + 2 * _BYTES_PER_COLUMN * len(self.low))

    def node(self, index: int) -> Node:
        """The node at a flat position of the grid."""
        return self.node_at(np.unravel_index(index, self.shape))

    def node_at(self, place: Iterable[Any]) -> Node:
        """The node at a place of the grid."""
        return tuple(int(i) + a for i, a in zip(place, self.low, strict=True))

    def below(self, node: Node) -> tuple[slice, ...]:
        """The part of the grid with the node and all its specialisations."""
        return tuple(slice(0, i - a + 1) for i, a in zip(node, self.low, strict=True))

    def above(self, node: Node) -> tuple[slice, ...]:
        """The part of the grid with the node and all its generalisations."""
        return tuple(slice(i - a, None) for i, a in zip(node, self.low, strict=True))

    def successors(self, node: Node) -> Iterator[Node]:
        """The nodes one step more general."""
        for j, (level, top) in enumerate(zip(node, self.high, strict=True)):
            if level < top:
                yield (*node[:j], level + 1, *node[j + 1 :])

    def predecessors(self, node: Node) -> Iterator[Node]:
        """The nodes one step more special."""
        for j, (level, bottom) in enumerate(zip(node, self.low, strict=True)):
            if level > bottom:
                yield (*node[:j], level - 1, *node[j + 1 :])

    @cached_property
    def heights(self) -> NDArray[np.int64]:
        """The sum of levels of every node, as a grid."""
        total = np.full(self.shape, sum(self.low), np.int64)
        for j, size in enumerate(self.shape):
            total += np.arange(size).reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        return total


@dataclass(eq=False)
class Classes:
    """The classes of a node: one tuple of each and their sizes; `into` says which class each class of `finer` joined.

    `keys` is what every class publishes, where criteria ask for it.
    """

    node: Node
    tuple_of: Codes
    size: Counts
    finer: Classes | None = None
    into: Codes | None = None
    keys: Codes | None = None

    @cached_property
    def stats(self) -> GroupStats:
        """Their statistics, pooled from the finer classes when first asked for."""
        return self._pooled(None)

    def stats_of(self, which: NDArray[np.bool_]) -> GroupStats:
        """The statistics of some classes only; the others need not be pooled for it."""
        return self.stats.kept(which) if "stats" in self.__dict__ else self._pooled(which)

    def _pooled(self, which: NDArray[np.bool_] | None) -> GroupStats:
        assert self.finer is not None, "the finest classes are counted from the tally"
        assert self.into is not None
        if which is None:
            return replace(self.finer.stats.pooled(self.into), keys=self.keys)
        chosen = np.where(which, np.cumsum(which, dtype=np.int32) - np.int32(1), np.int32(SUPPRESSED))
        keys = None if self.keys is None else self.keys[which]
        return replace(self.finer.stats.pooled(chosen[self.into]), keys=keys)

    @property
    def weight(self) -> int:
        """How much memory it may take, in classes and histogram entries."""
        source = self if "stats" in self.__dict__ or self.finer is None else self.finer
        histograms = source.stats.histograms.values() if "stats" in source.__dict__ else ()
        return len(self.size) + sum(min(len(h.codes), len(self.size) * h.domain.size) for h in histograms)


class ClassTables:
    """Makes the classes of any node, rolled up from the smallest class table at hand that is finer.

    With `from_tuples` it always starts from the single tuples, for who needs to know what became of each. `target` is a
    further column to count, for a metric.
    """

    def __init__(self, tally: Tally, goal: Goal, target: str | None = None, *, from_tuples: bool = False) -> None:
        """Find the distinct tuples, and how their keys change when columns go up."""
        self.tally, self.goal, self.from_tuples = tally, goal, from_tuples
        domains = tally.quasi_domains
        columns = [tally.quasi[:, j] for j in range(len(domains))]
        into, first = distinct_rows(columns, [d.size for d in domains])
        self.quasi = np.ascontiguousarray(tally.quasi[first])
        size = np.bincount(into, weights=tally.count, minlength=len(first)).astype(np.int64)
        #: Whether sizes alone do not decide about the goal.
        self.needs_stats = not goal.decided_by_size or tally.population is not None or target is not None
        #: The row of each column's level 0 in `_parts` and `_rises`.
        self._first_row = np.cumsum([1, *(d.taxonomy.height + 1 for d in domains)]).astype(np.int32)[:-1]
        self._exact = prod(d.size for d in domains) < _MOST_KEYS
        self._parts, self._rises = self._keys(domains)
        bottom = (0,) * len(domains)
        finest = Classes(bottom, np.arange(len(first), dtype=np.int32), size)
        if self.needs_stats:
            counted = dict.fromkeys([*goal.columns, *([] if target is None else [target])])
            finest.stats = GroupStats.of(tally, Grouping.of_cells(tally, into, len(first)), counted, joint=goal.joint)
        self._kept = [finest]
        self._levels = np.array([bottom], np.int16)
        self._room = _MOST_KEPT
        self._slots = np.full(_slots(len(first)), -1, np.int32)

    def _keys(self, domains: Sequence[Domain]) -> tuple[Counts, Counts]:
        """What every column and level adds to the key of each tuple, and what going up from level 0 adds."""
        n = len(self.quasi)
        rows = 1 + sum(d.taxonomy.height + 1 for d in domains)
        rises = np.zeros((rows, n), np.int64)
        parts = np.zeros((0 if self._exact else rows, n), np.int64)
        unit = 1
        for j, d in enumerate(domains):
            worth = np.zeros(d.taxonomy.n_nodes, np.int64) if self._exact else _scattered(j, d.taxonomy.n_nodes)
            for level, nodes in enumerate(d.taxonomy.ancestors):
                if self._exact:  # numbers of the nodes of this level, in a mixed radix over columns
                    used = np.unique(nodes)
                    worth[used] = np.arange(len(used)) * unit
                row = self._first_row[j] + level
                rises[row] = worth[nodes][self.quasi[:, j]]
                if not self._exact:
                    parts[row] = rises[row]
            rises[0] += rises[self._first_row[j]]
            rises[self._first_row[j] : self._first_row[j] + d.taxonomy.height + 1] -= rises[self._first_row[j]].copy()
            unit *= d.size
        return parts, rises

    def roll_up(self, node: Node) -> Classes:
        """The classes of a node."""
        at = -1 if self.from_tuples else first_below(self._levels, np.array(node, np.int16))  # the smallest comes first
        return self.roll_up_from(self._kept[at], node)

    def roll_up_from(self, finer: Classes, node: Node) -> Classes:
        """The classes of a node, made of those of a finer one."""
        classes = Classes(node, *self._rolled_up(finer, node))
        if "projection" in self.goal.scopes:
            classes.keys = self._labels(classes)
        return classes

    def class_of_tuples(self, node: Node) -> Codes:
        """The class of every tuple, numbered as in `roll_up`: by their first tuples, whatever they came from."""
        return self._rolled_up(self.finest, node)[-1]

    def _rolled_up(self, finer: Classes, node: Node) -> tuple[Codes, Counts, Classes, Codes]:
        levels = np.array(node, np.int32)
        rows = self._first_row + levels
        raised = np.append(np.int32(0), rows[levels > 0])
        slots = self._slots[: _slots(len(finer.size))]
        into, tuple_of, size = roll_up(
            finer.tuple_of, finer.size, self._rises, raised, self._exact, self._parts, rows, slots
        )
        return tuple_of, size, finer, into

    @property
    def finest(self) -> Classes:
        """The single tuples."""
        return self._kept[-1]

    def keep(self, classes: Classes) -> None:
        """Keep classes for later roll-ups if that is worth the memory."""
        assert classes.finer is not None
        if len(classes.size) <= _WORTH_KEEPING * len(classes.finer.size) and (weight := classes.weight) <= self._room:
            self._room -= weight
            at = bisect_left(self._kept, len(classes.size), key=lambda kept: len(kept.size))
            self._kept.insert(at, classes)
            levels = np.array([classes.node], np.int16)
            self._levels = np.concatenate((self._levels[:at], levels, self._levels[at:]))

    def _labels(self, classes: Classes) -> Codes:
        """A number for each class and column: the taxonomy node that the class publishes."""
        columns = [
            d.taxonomy.ancestors[level][self.quasi[classes.tuple_of, j]]
            for j, (d, level) in enumerate(zip(self.tally.quasi_domains, classes.node, strict=True))
        ]
        return np.column_stack(columns).astype(np.int32)


def _slots(n: int) -> int:
    """The size of a hash table for so many classes."""
    return 1 << max((2 * n).bit_length(), 4)


def _scattered(column: int, n: int) -> Counts:
    """Different numbers all over 64 bits, whose sums over columns hardly ever coincide (SplitMix64)."""
    x = (np.arange(n, dtype=np.uint64) + np.uint64(column << 40)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (x ^ (x >> np.uint64(31))).astype(np.int64)
