"""LSH-RC: locality-sensitive hashing, then clusters part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.blocks import grouped_apart
from tarnkappe.algorithms.local.k_member import KMember
from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.arrays import Codes, Floats
from tarnkappe.groups import Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.local.sketches import join_most_alike, least_ranks
from tarnkappe.params import param
from tarnkappe.tally import Domain, Tally, distinct_rows

#: How many hash functions may divide the table one after another.
_ROUNDS = 64

#: How many hash values are compared to find the nearest part.
_SKETCH = 16

#: A part of fewer than this share of `part_cells` is joined to another.
_LEAST = 4


@dataclass(frozen=True)
class LSHRC(LocalRecoding):
    r"""Divide the table into parts of similar records by hashing, then grow clusters in every part side by side.

    A record is the set of the nodes on the way from its values up to the roots. A node weighs what it adds in detail,
    :math:`w_j (\mathrm{width}(\text{parent}) - \mathrm{width}(\text{node}))`, so that two records share
    :math:`W - D` of their weight :math:`W`, where :math:`D = \sum_j w_j \,\mathrm{width}_j(\text{lowest common node})`
    is the distance that k-member looks at. A min-hash, the element of the set that comes first in a random order by
    weight, is then the same for both with probability

    .. math:: \Pr[h(x) = h(y)] = \frac{W - D}{W + D}.

    On a scale every hash function draws a threshold; two values lie on the same side of it with probability
    :math:`1 - |x - y| / \mathrm{extent}`, so the same holds on average.

    As long as a part has more than `part_cells` cells it is divided by the next hash function. A bucket of fewer than
    a quarter of that, or one that could not satisfy the goal by itself, joins the one whose sketch, 16 further hash
    values, has most in common with its own. Parts are then grouped by k-member clustering, and leftovers, division and
    swap refinement follow as in all local recodings. O(n d) for hashing and O(p d) per cell for parts of p cells,
    instead of O(n d) per cell.

    Differs from the paper in: buckets are divided again only where they are too large, instead of one hash of several
    functions for all; k-member clustering instead of agglomerative clustering within a part; weights, scales, any
    monotone goal.

    References
    ----------
    .. [ZLDC16] Zhang, Leckie, Dou, Chen, Kotagiri, Salcic. "Scalable local-recoding anonymization using locality
       sensitive hashing for big data privacy preservation." CIKM 2016.
    .. [Brod97] Broder. "On the resemblance and containment of documents." Sequences 1997.
    .. [DIIM04] Datar, Immorlica, Indyk, Mirrokni. "Locality-sensitive hashing scheme based on p-stable distributions."
       SoCG 2004.
    """

    name: ClassVar = "lsh-rc"
    title: ClassVar = "LSH-RC"
    summary: ClassVar = "Hashing into parts of similar records, then k-member in each; low loss at almost linear time."

    part_cells: int = param(
        2000, doc="Parts of at most so many cells are grouped; larger ones are divided by hashing.", ge=1, kw_only=True
    )

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """k-member clusters of every part."""
        grower = KMember(effort=self.effort)
        part, n_parts = similar_parts(pool, self.part_cells, rng)
        return grouped_apart(pool, part, n_parts, lambda own: grower.cluster(own, rng))  # makes no use of chance


def similar_parts(pool: Pool, part_cells: int, rng: np.random.Generator) -> tuple[Codes, int]:
    """The part of every cell, and the number of parts; every part satisfies the goal if the pool does."""
    tally = pool.tally
    part, n_parts = np.zeros(tally.n_cells, np.int32), 1
    if tally.n_cells <= part_cells:
        return part, n_parts
    hashes = MinHashes(tally.quasi_domains)
    sketch = np.column_stack([hashes.of(tally, rng)[0] for _ in range(_SKETCH)])
    for _ in range(_ROUNDS):
        large = np.bincount(part, minlength=n_parts) > part_cells
        if not large.any():
            break
        value, n_values = hashes.of(tally, rng)
        # What is not divided is one bucket; numbers follow the parts, so those of a part stand together.
        bucket, first = distinct_rows([part, np.where(large[part], value, 0)], [n_parts, n_values])
        part, n_parts = _joined_buckets(pool, bucket, part[first], sketch, part_cells // _LEAST)
    return part, n_parts


def _joined_buckets(pool: Pool, bucket: Codes, parent: Codes, sketch: Codes, least: int) -> tuple[Codes, int]:
    """The buckets once those that are too small, or violate the goal, have joined others of the same parent."""
    while True:
        n = len(parent)
        starts, order = group_order(bucket, n)
        marks = np.minimum.reduceat(sketch[order], starts[:-1], axis=0)
        ok = pool.satisfied(Grouping.of_cells(pool.tally, bucket, n))
        runs = np.searchsorted(parent, np.arange(int(parent[-1]) + 2))
        into = join_most_alike(runs, marks, np.diff(starts), ~ok, least)
        used, number = np.unique(into, return_inverse=True)
        bucket, parent = number.astype(np.int32)[bucket], parent[used]
        if len(used) == n:
            return bucket, n


class MinHashes:
    """Min-hash functions of rows of codes; see `LSHRC` for what they hash."""

    def __init__(self, domains: Sequence[Domain]) -> None:
        self._domains = domains
        self._start = np.concatenate([[0], np.cumsum([d.size for d in domains])]).astype(np.int64)
        self._widths = [
            d.widths(d.taxonomy.lo, d.taxonomy.hi, np.arange(d.taxonomy.n_nodes, dtype=np.int32)) * d.weight
            for d in domains
        ]

    def of(self, tally: Tally, rng: np.random.Generator) -> tuple[Codes, int]:
        """One more random function: its value for every cell, and the number of values that it may have."""
        first = [_lowest(d, width, rng) for d, width in zip(self._domains, self._widths, strict=True)]
        known, rank = np.unique(np.concatenate(first), return_inverse=True)
        value: Codes = least_ranks(tally.quasi, self._start, rank.astype(np.int32))
        return value, len(known)


def _lowest(domain: Domain, width: Floats, rng: np.random.Generator) -> Floats:
    """The least of the random numbers of all elements that each code of a column has.

    The number of an element of weight ``w`` is exponential with rate ``w``: the heavier, the sooner it comes first.
    """
    tree = domain.taxonomy
    weight = np.append(0.0, width[tree.parent[1:]] - width[1:])
    on_scale = np.append(False, tree.ranges[tree.parent[1:]])
    place = domain.positions[tree.lo]
    cut = rng.uniform(size=tree.n_nodes) * (domain.positions[tree.hi] - place) + place
    chance = rng.exponential(size=(tree.n_nodes, 2))
    side = (place > cut[tree.parent]).astype(np.int64)  # leaves of a range: below or above its threshold
    drawn = np.where(on_scale, chance[tree.parent, side], chance[:, 0])
    with np.errstate(divide="ignore"):
        number = np.where(weight > 0, drawn / weight, np.inf)
    for depth in range(1, tree.height + 1):
        nodes = np.flatnonzero(tree.depth == depth)
        number[nodes] = np.minimum(number[nodes], number[tree.parent[nodes]])
    lowest: Floats = number[tree.leaf_nodes]
    if domain.wildcard:
        lowest[domain.missing] = np.inf  # like anything
    return lowest
