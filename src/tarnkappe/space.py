"""Quasi-identifiers as points: every column a block of coordinates in which squared distances are losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy

#: Coordinates that stand for one nominal column at most, and how many of them nodes share if there are too many.
_MOST_COORDINATES, _SHARED = 64, 32

#: The share of a column's variance that a coordinate must have; less is rounding.
_LEAST_SHARE = 1e-12

#: Numbers that differ by a smaller part of themselves lose the digits that tell them apart.
_LAST_DIGITS = 1e-6


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """One quasi-identifier in the space: where each of its values lies, with variance 1 over the records.

    `apart` and `from_mean` are exact, whatever the number of values. `coordinates` are what groups are formed by.
    """

    domain: Domain
    counts: Counts

    @staticmethod
    def of(domain: Domain, counts: Counts) -> Block:
        """The block of a column whose code ``i`` is that of ``counts[i]`` records."""
        return (Line if domain.is_line else Tree)(domain, counts)

    @staticmethod
    def of_column(tally: Tally, j: int) -> Block:
        """The block of a quasi-identifier of a tally."""
        domain = tally.quasi_domains[j]
        return Block.of(domain, tally.value_counts[j])

    @property
    @abstractmethod
    def coordinates(self) -> Floats:
        """The point of every code, one row each."""

    @abstractmethod
    def apart(self, code: Codes, published: Floats) -> Floats:
        """The squared distance of each value from what is published for it.

        That is a number of a line, else a code; NaN is the missing value.
        """

    @property
    @abstractmethod
    def from_mean(self) -> Floats:
        """The squared distance of every code from the mean of all records."""

    @cached_property
    def variance(self) -> float:
        """The mean of the squared distances of all records from their mean: 1, or 0 if all are equal."""
        return float(self.counts @ self.from_mean / max(int(self.counts.sum()), 1))


class Line(Block):
    """Numbers or ranks lie on a line; a missing value lies off it, at the mean of the others."""

    @cached_property
    def _start(self) -> float:
        """Where numbers are measured from: the first of them if they differ in their last digits only, else zero."""
        place = self.domain.positions[self.domain.known]
        if not len(place) or float(np.ptp(place)) > _LAST_DIGITS * float(np.abs(place).max()):
            return 0.0
        return float(place[0])

    @cached_property
    def _scale(self) -> tuple[float, float, float]:
        """The largest number, and the mean and standard deviation of all in units of it: so no square overflows."""
        known = self.counts * self.domain.known
        n_known = max(int(known.sum()), 1)
        place = np.nan_to_num(self.domain.positions - self._start)
        largest = float(np.abs(place).max(initial=0.0)) or 1.0
        origin = float((place / largest) @ known / n_known)
        unit = float(np.sqrt((place / largest - origin) ** 2 @ known / n_known)) or 1.0
        return largest, origin, unit

    def _standardised(self, value: Floats) -> Floats:
        largest, origin, unit = self._scale
        return ((value - self._start) / largest - origin) / unit

    @cached_property
    def _raw(self) -> Floats:
        """The coordinates before a missing value's share of the variance is seen."""
        known, missing = self.domain.known, self.domain.missing
        line = np.where(known, self._standardised(np.nan_to_num(self.domain.positions)), 0.0)[:, None]
        if missing < 0:
            return line
        absent = np.zeros((self.domain.size, 1))
        absent[missing] = 1.0
        return np.hstack([line, absent])

    @cached_property
    def _rescale(self) -> float:
        if self.domain.missing < 0:
            return 1.0
        return float(np.sqrt(self.counts @ _from_mean(self._raw, self.counts) / max(int(self.counts.sum()), 1))) or 1.0

    @cached_property
    def coordinates(self) -> Floats:
        """The place on the line and, where values are missing, the place off it."""
        return self._raw / self._rescale

    def apart(self, code: Codes, published: Floats) -> Floats:
        """Squared differences on the line, and of presence."""
        record = self.coordinates[code]
        absent = np.isnan(published)
        at = np.zeros_like(record)
        at[:, 0] = self._standardised(np.where(absent, 0.0, published)) / self._rescale
        if absent.any():
            at[absent] = self.coordinates[self.domain.missing]
        out: Floats = ((record - at) ** 2).sum(axis=1)
        return out

    @cached_property
    def from_mean(self) -> Floats:
        """Squared differences from the mean of the coordinates."""
        return _from_mean(self.coordinates, self.counts)


class Tree(Block):
    r"""Nominal values lie so that the squared distance of two is that of the taxonomy: :math:`h(\mathrm{lca}(a, b))`.

    :math:`h(v)` is the share of all values below node :math:`v`. In coordinates: every node has an axis of its own, on
    which the leaves below it are at :math:`\sqrt{l_v}`, :math:`l_v = (h(\mathrm{parent}) - h(v))/2`, and the others at
    0. Up to 65 values, turning the axes leaves at most 64 coordinates, and all distances are exact. Of more values, the
    32 nodes that matter most keep their axes. The others share 32, each 32 of them in a row at right angles: distances
    are then true but for some per cent, and no two values fall together.
    """

    @property
    def _tree(self) -> Taxonomy:
        return self.domain.taxonomy

    @cached_property
    def _height(self) -> Floats:
        """The share of all values below each node: 0 for leaves, 1 for the root."""
        return (self._tree.leaf_counts - 1) / max(self._tree.n_leaves - 1, 1)

    @cached_property
    def lengths(self) -> Floats:
        """Half of what the squared distances grow by from each node to its parent."""
        out = np.zeros(self._tree.n_nodes)
        out[1:] = (self._height[self._tree.parent[1:]] - self._height[1:]) / 2
        return out

    @cached_property
    def _shares(self) -> Floats:
        """The share of all records below each node."""
        below = np.append(0, np.cumsum(self.counts))
        out: Floats = (below[self._tree.hi + 1] - below[self._tree.lo]) / max(int(self.counts.sum()), 1)
        return out

    @cached_property
    def _unit(self) -> float:
        """The variance of all records by the taxonomy's distances; 1 if there is none."""
        share = self._shares
        return float(self.lengths @ (share * (1 - share))) or 1.0

    def apart(self, code: Codes, published: Floats) -> Floats:
        """The height of the lowest common node."""
        other = np.where(np.isnan(published), self.domain.missing, published).astype(np.int64)
        common = self._tree.lca(np.minimum(code, other), np.maximum(code, other))
        return np.where(code == other, 0.0, self._height[common]) / self._unit

    @cached_property
    def from_mean(self) -> Floats:
        """On the axis of a node of share p, leaves below it are 1 - p away from the mean, others p."""
        p, length = self._shares, self.lengths
        own = _sums_from_root(self._tree, (length * ((1 - p) ** 2 - p**2))[:, None])[:, 0]
        return np.maximum(own[self._tree.leaf_nodes] + length @ p**2, 0.0) / self._unit

    def from_own_means(self, group: Counts, code: Codes, records: Counts) -> Floats:
        """The squared distance of values from the mean of their groups, but for a number that is the same in a group.

        Each value of a group is given once, with its number of records, sorted by group and code.
        """
        size, so_far = self.domain.size, np.append(0, np.cumsum(records))
        key, own = group * size + code, np.bincount(group, records)[group]
        out, node = np.zeros(len(code)), self._tree.leaf_nodes[code]
        while node.any():  # up to the root, which tells nobody apart
            first = np.searchsorted(key, group * size + self._tree.lo[node])
            last = np.searchsorted(key, group * size + self._tree.hi[node], side="right")
            out += self.lengths[node] * (1 - 2 * (so_far[last] - so_far[first]) / own)
            node = np.maximum(self._tree.parent[node], 0)
        return out

    @cached_property
    def coordinates(self) -> Floats:
        """The values' principal coordinates."""
        n, p = self._tree.n_nodes - 1, self._shares[1:]
        if n == 0:
            return np.zeros((1, 1))
        size = n if self._tree.n_leaves <= _MOST_COORDINATES + 1 else _MOST_COORDINATES
        axes = np.zeros((n + 1, size))
        axes[1 + np.argsort(-self.lengths[1:] * p * (1 - p), kind="stable")] = _axes(n, size)
        points = _sums_from_root(self._tree, axes * np.sqrt(self.lengths)[:, None])[self._tree.leaf_nodes]
        centred = points - self.counts @ points / max(int(self.counts.sum()), 1)
        spread, turned = np.linalg.eigh((centred * self.counts[:, None]).T @ centred)
        kept = np.flatnonzero(spread > _LEAST_SHARE * spread.sum())[::-1]
        kept = kept[:_MOST_COORDINATES] if len(kept) else np.array([size - 1])
        out: Floats = np.ascontiguousarray(centred @ turned[:, kept]) / np.sqrt(self._unit)
        return out


@dataclass(frozen=True, eq=False)
class Space:
    """The quasi-identifiers of a tally as points; a column of twice the weight counts twice."""

    blocks: tuple[Block, ...]
    scale: Floats

    @classmethod
    def of(cls, tally: Tally) -> Space:
        """The space in which the records of a tally have variance 1 in every quasi-identifier."""
        blocks = [Block.of_column(tally, j) for j in range(len(tally.quasi_domains))]
        return cls(tuple(blocks), np.sqrt(tally.weights * len(blocks)))

    def points(self, quasi: Codes) -> Floats:
        """The points of combinations of codes, one row each."""
        parts = [b.coordinates[quasi[:, j]] * self.scale[j] for j, b in enumerate(self.blocks)]
        return np.ascontiguousarray(np.hstack(parts))


def _from_mean(points: Floats, counts: Counts) -> Floats:
    """The squared distances of points from the mean of all records."""
    mean = counts @ points / max(int(counts.sum()), 1)
    out: Floats = ((points - mean) ** 2).sum(axis=1)
    return out


def _sums_from_root(tree: Taxonomy, weight: Floats) -> Floats:
    """The sum of a node's weights and those of all its ancestors, for every node; the root has none."""
    out = weight.copy()
    for depth in range(2, tree.height + 1):
        at = np.flatnonzero(tree.depth == depth)
        out[at] += out[tree.parent[at]]
    return out


def _axes(n: int, size: int) -> Floats:
    """Directions for n nodes in so many dimensions: the first nodes have theirs to themselves, the rest share some.

    What is shared are Hadamard's vectors, with other signs every time round: at right angles to each other in one
    round, and nearly so to those of others.
    """
    if n <= size:
        return np.eye(n, size)
    alone = size - _SHARED
    line = np.arange(_SHARED)
    hadamard = 1.0 - 2.0 * (np.bitwise_count(line[:, None] & line) % 2)
    rest = np.arange(n - alone)
    sign = 1.0 - 2.0 * (_scattered(rest[:, None] // _SHARED * _SHARED + line) % 2)
    out = np.zeros((n, size))
    out[:alone, :alone] = np.eye(alone)
    out[alone:, alone:] = hadamard[rest % _SHARED] * sign / np.sqrt(_SHARED)
    return out


def _scattered(number: Counts) -> NDArray[np.uint64]:
    """Numbers without any pattern, one for each that is given (SplitMix64)."""
    x = number.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))
