"""Quasi-identifiers as points: every column a block of coordinates in which squared distances are losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.tally import Domain, Tally
from tarnkappe.taxonomy.tree import Taxonomy

#: Coordinates that stand for one nominal column, and taxonomy nodes that are looked at to find them.
_MOST_COORDINATES = 16
_MOST_NODES = 512


@dataclass(frozen=True, eq=False)
class Block:
    r"""One quasi-identifier in the space: where each of its values lies, with variance 1 over the records.

    A number or a rank lies on a line. A nominal value lies so that the squared distance of two values is that of the
    taxonomy: the share of all values below their lowest common node. (Node :math:`v` has a coordinate of its own,
    :math:`\sqrt{(h(\mathrm{parent}) - h(v))/2}` for the leaves below it and 0 for the others; principal components
    leave few of them.) A missing value lies off the line, at the mean of the others.

    `origin` and `unit` say how a number becomes the first coordinate: ``(x - origin) / unit``.
    """

    coordinates: Floats
    on_line: bool
    origin: float
    unit: float
    missing: int

    @classmethod
    def of(cls, domain: Domain, counts: Counts) -> Block:
        """The block of a column whose code ``i`` is that of ``counts[i]`` records."""
        if domain.is_line:
            return cls._line(domain, counts)
        coordinates = _embedded(domain.taxonomy, counts)
        unit = _spread(coordinates, counts) or 1.0
        return cls(coordinates / unit, False, 0.0, unit, domain.missing)

    @classmethod
    def of_column(cls, tally: Tally, j: int) -> Block:
        """The block of a quasi-identifier of a tally."""
        domain = tally.quasi_domains[j]
        return cls.of(domain, np.bincount(tally.quasi[:, j], tally.count, domain.size).astype(np.int64))

    @classmethod
    def _line(cls, domain: Domain, counts: Counts) -> Block:
        known = counts * domain.known
        n_known = max(int(known.sum()), 1)
        place = np.nan_to_num(domain.positions)
        origin = float(place @ known / n_known)
        unit = float(np.sqrt((place - origin) ** 2 @ known / n_known)) or 1.0
        line = np.where(domain.known, (place - origin) / unit, 0.0)[:, None]
        if domain.missing < 0:
            return cls(line, True, origin, unit, -1)
        absent = np.zeros((domain.size, 1))
        absent[domain.missing] = 1.0
        coordinates = np.hstack([line, absent])
        rescale = _spread(coordinates, counts) or 1.0
        return cls(coordinates / rescale, True, origin, unit * rescale, domain.missing)

    def at(self, value: Floats) -> Floats:
        """Where published values lie: numbers of a line, else codes; NaN is the missing value."""
        absent = np.isnan(value)
        if not self.on_line:
            return self.coordinates[np.where(absent, self.missing, value).astype(np.int64)]
        out = np.zeros((len(value), self.coordinates.shape[1]))
        out[:, 0] = (value - self.origin) / self.unit
        if absent.any():
            out[absent] = self.coordinates[self.missing]
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


def _spread(coordinates: Floats, counts: Counts) -> float:
    """The root of the variance of points, all coordinates together."""
    n = max(int(counts.sum()), 1)
    mean = counts @ coordinates / n
    return float(np.sqrt(counts @ ((coordinates - mean) ** 2).sum(axis=1) / n))


def _embedded(tree: Taxonomy, counts: Counts) -> Floats:
    """Points of a taxonomy's leaves whose squared distances are those of the taxonomy, in few coordinates."""
    height = (tree.leaf_counts - 1) / max(tree.n_leaves - 1, 1)
    nodes = np.arange(1, tree.n_nodes)
    below = np.append(0, np.cumsum(counts))
    share = (below[tree.hi[nodes] + 1] - below[tree.lo[nodes]]) / max(int(counts.sum()), 1)
    length = (height[tree.parent[nodes]] - height[nodes]) / 2
    matter = nodes[np.argsort(-length * share * (1 - share), kind="stable")[:_MOST_NODES]]
    if len(matter) == 0:
        return np.zeros((tree.n_leaves, 1))
    leaf = np.arange(tree.n_leaves)[:, None]
    inside = (tree.lo[matter] <= leaf) & (leaf <= tree.hi[matter])
    points = inside * np.sqrt((height[tree.parent[matter]] - height[matter]) / 2)
    centred = points - counts @ points / max(int(counts.sum()), 1)
    _, axes = np.linalg.eigh((centred * counts[:, None]).T @ centred)
    return np.ascontiguousarray(centred @ axes[:, ::-1][:, :_MOST_COORDINATES])
