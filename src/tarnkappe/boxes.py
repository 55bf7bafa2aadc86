"""What groups cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.tally import Domain, distinct_rows


def renamed(values: NDArray[Any], new: Codes, n_groups: int) -> NDArray[Any]:
    """What each group has after group ``g`` was renamed to ``new[g]`` (-1: dropped)."""
    kept = new >= 0
    out = np.zeros((n_groups, *values.shape[1:]), values.dtype)
    out[new[kept]] = values[kept]
    return out


@dataclass(frozen=True, eq=False)
class Boxes:
    """What each group covers: ``lo .. hi`` per quasi-identifier, and the taxonomy node it publishes.

    ``lo > hi`` means that the group has no known value there (all its cells are missing wildcards). For domains that
    publish sets, `members` holds the values that occur in each group, as bits.
    """

    lo: Codes
    hi: Codes
    node: Codes
    members: Mapping[int, NDArray[np.uint64]] = field(default_factory=dict)

    @classmethod
    def of_nodes(cls, node: Codes, domains: Sequence[Domain]) -> Boxes:
        """The boxes that publish whole taxonomy nodes: one row of nodes per group."""
        lo, hi = np.empty_like(node), np.empty_like(node)
        for j, domain in enumerate(domains):
            lo[:, j] = domain.taxonomy.lo[node[:, j]]
            hi[:, j] = domain.taxonomy.hi[node[:, j]]
        return cls(lo, hi, node)

    @classmethod
    def joined(cls, parts: Sequence[Boxes]) -> Boxes:
        """The boxes of several sets of groups, one after the other."""
        lo, hi, node = (np.concatenate([getattr(p, name) for p in parts]) for name in ("lo", "hi", "node"))
        sets = {j for part in parts for j in part.members}
        members = {j: np.concatenate([p._members_of(j) for p in parts]) for j in sets}
        return cls(lo, hi, node, members)

    def _members_of(self, j: int) -> NDArray[np.uint64]:
        """The values that each group may have, as bits; boxes without sets publish nodes, and all that lies below."""
        if j in self.members:
            return self.members[j]
        lo, hi = self.lo[:, j].astype(np.int64), self.hi[:, j].astype(np.int64)
        wide = np.where(lo <= hi, hi - lo, 0).astype(np.uint64)
        low = np.where(lo <= hi, lo, 0).astype(np.uint64)
        bits = ((np.uint64(2) << wide) - np.uint64(1)) << low  # all 64 of them: 2 << 63 is 0, and one less is all
        return np.where(lo <= hi, bits, np.uint64(0))

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.lo)

    def below_ceilings(self, domains: Sequence[Domain]) -> NDArray[np.bool_]:
        """Which groups publish no column above the highest level it may have."""
        ok = np.ones(self.n_groups, np.bool_)
        for j, domain in enumerate(domains):
            ok &= domain.below_ceiling[self.node[:, j]]
        return ok

    def relabel(self, new: Codes, n_groups: int) -> Boxes:
        """The boxes after group ``g`` was renamed to ``new[g]`` (-1: dropped).

        Groups that become one have one box, or at least labels that read alike: then the widest box is that of all.
        """
        kept = np.flatnonzero(new >= 0)
        if np.bincount(new[kept], minlength=1).max() > 1:
            return self._widest(kept, new[kept], n_groups)
        members = {j: renamed(bits, new, n_groups) for j, bits in self.members.items()}
        lo, hi, node = (renamed(codes, new, n_groups) for codes in (self.lo, self.hi, self.node))
        return Boxes(lo, hi, node, members)

    def _widest(self, groups: Counts, into: Codes, n_groups: int) -> Boxes:
        """The widest boxes, column by column, of groups that become one."""
        lo, hi, node = (np.zeros((n_groups, self.lo.shape[1]), np.int32) for _ in range(3))
        members = {j: np.zeros(n_groups, np.uint64) for j in self.members}
        for j in range(self.lo.shape[1]):
            order = np.argsort(self.hi[groups, j] - self.lo[groups, j], kind="stable")
            new, old = into[order], groups[order]  # the last one to come stays
            lo[new, j], hi[new, j], node[new, j] = self.lo[old, j], self.hi[old, j], self.node[old, j]
            if j in members:
                members[j][new] = self.members[j][old]
        return Boxes(lo, hi, node, members)

    def united(self, new: Codes, n_groups: int, domains: Sequence[Domain]) -> Boxes:
        """The smallest boxes that say no more than these: group ``g`` becomes a part of ``new[g]`` (-1: dropped)."""
        kept = np.flatnonzero(new >= 0)
        into, shape = new[kept], (n_groups, len(domains))
        lo, hi = np.full(shape, np.iinfo(np.int32).max, np.int32), np.full(shape, -1, np.int32)
        np.minimum.at(lo, into, self.lo[kept])
        np.maximum.at(hi, into, self.hi[kept])
        node = np.empty_like(lo)
        for j, domain in enumerate(domains):
            node[:, j] = domain.nodes(lo[:, j], hi[:, j])
            # One of them may publish a node above that, of which all leaves are those of a node below it.
            known = kept[self.lo[kept, j] <= self.hi[kept, j]]
            depth = domain.taxonomy.depth
            deepest_first = known[np.argsort(-depth[self.node[known, j]], kind="stable")]
            widest = node[:, j].copy()
            widest[new[deepest_first]] = self.node[deepest_first, j]  # the last one to come stays
            node[:, j] = np.where(depth[widest] < depth[node[:, j]], widest, node[:, j])
        members = {j: np.zeros(n_groups, np.uint64) for j in self.members}
        for j, bits in self.members.items():
            np.bitwise_or.at(members[j], into, bits[kept])
        return Boxes(lo, hi, node, members)

    def keys(self, domains: Sequence[Domain]) -> Codes:
        """A number per group and quasi-identifier: the same where the same is published."""
        out = np.empty_like(self.node)
        for j, domain in enumerate(domains):
            spread = self.publishes_range(j, domain)
            low, high = np.where(spread, self.lo[:, j], 0), np.where(spread, self.hi[:, j], 0)
            sizes = [domain.taxonomy.n_nodes, domain.size, domain.size]
            out[:, j] = distinct_rows([self.node[:, j], low, high], sizes)[0]
        return out

    def publishes_range(self, j: int, domain: Domain) -> NDArray[np.bool_]:
        """Which groups publish an interval of values, or a set of them, instead of a node."""
        return (
            domain.is_range[self.node[:, j]] & (self.lo[:, j] < self.hi[:, j]) & (not domain.sets or j in self.members)
        )

    def covered(self, j: int, domain: Domain) -> Counts:
        """How many values of the domain each group's label stands for."""
        leaves = domain.values_covered[self.node[:, j]]
        in_range = self.publishes_range(j, domain)
        if j in self.members:
            return np.where(in_range, np.bitwise_count(self.members[j]), leaves)
        return np.where(in_range, self.hi[:, j] - self.lo[:, j] + 1, leaves)

    def extent(self, j: int, domain: Domain) -> Floats:
        """``max - min`` of each group on a numeric scale; 0 where nothing is known."""
        lo, hi = self.lo[:, j], self.hi[:, j]
        known = lo <= hi
        span = domain.positions[np.where(known, hi, 0)] - domain.positions[np.where(known, lo, 0)]
        return np.where(known, span, 0.0)
