"""Mondrian for tables in shards: a tree of cuts that is grown from counts, and finished part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tarnkappe.algorithms.shards import Counted, Secrets, Shard, Shards, joined
from tarnkappe.algorithms.steps.front import domain_shape, weighted_widths
from tarnkappe.algorithms.steps.medians import MedianFront, first_allowed
from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.multidimensional.mondrian import find_cuts
from tarnkappe.kernels.multidimensional.routing import leaves_above, route
from tarnkappe.kernels.multidimensional.segments import scratch
from tarnkappe.tally import Domain
from tarnkappe.threads import map_threads


class CutTree:
    """Cuts of a table as a binary tree (see the kernel); it is all a shard must know to say where its records belong.

    `size` is the number of records of each node, as far as it is known.
    """

    def __init__(self, domains: tuple[Domain, ...], n_records: int) -> None:
        self.attribute = np.full(1, -1, np.int32)
        self.code = np.zeros(1, np.int32)
        self.child = np.full(1, -1, np.int32)
        self.parent = np.full(1, -1, np.int32)
        self.size = np.array([n_records], np.int64)
        self._wild = np.array([d.missing if d.wildcard else -1 for d in domains], np.int32)

    def route(self, rows: Codes) -> Codes:
        """The leaf of every row of codes."""
        leaf: Codes = route(rows, self.attribute, self.code, self.child, self._wild)
        return leaf

    def is_left(self, j: int, value: Codes, code: Codes) -> Flags:
        """Whether a value of column `j` lies to the left of a cut."""
        left: Flags = (value == self._wild[j]) | (value < code)
        return left

    def cut(self, nodes: Counts, attribute: Counts, code: Codes, left: Counts) -> Counts:
        """Cut leaves, `left` of whose records go left; returns the new leaves."""
        n, made = len(self.attribute), 2 * len(nodes)
        self.attribute[nodes], self.code[nodes] = attribute, code
        self.child[nodes] = n + 2 * np.arange(len(nodes))
        sizes = np.column_stack([left, self.size[nodes] - left]).ravel()
        self.attribute = np.append(self.attribute, np.full(made, -1, np.int32))
        self.code = np.append(self.code, np.zeros(made, np.int32))
        self.child = np.append(self.child, np.full(made, -1, np.int32))
        self.parent = np.append(self.parent, np.repeat(nodes, 2).astype(np.int32))
        self.size = np.append(self.size, sizes)
        return np.arange(n, n + made)

    def undo(self, nodes: Codes) -> None:
        """Make leaves of nodes, whatever is below them."""
        self.attribute[nodes] = -1

    @property
    def leaf_of(self) -> Codes:
        """For every leaf itself; for every node below an undone cut, the leaf that has its records now."""
        above: Codes = leaves_above(self.attribute, self.child, self.parent)
        return above

    @property
    def leaves(self) -> Counts:
        """The leaves that records can reach."""
        every = np.arange(len(self.attribute))
        return np.flatnonzero((self.attribute < 0) & (self.leaf_of == every))


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The frequency sets of some nodes: per attribute, the records of each node by value (and, if needed, by secrets).

    ``sets[j]`` has the keys (place of the node, value) or (place of the node, value, combination of secrets).
    """

    domains: tuple[Domain, ...]
    sets: list[Counted]
    n_nodes: int

    def starts(self, j: int) -> Counts:
        """Where the entries of each node begin in the set of attribute `j`."""
        return np.searchsorted(self.sets[j].keys[0], np.arange(self.n_nodes + 1))

    def boxes(self) -> tuple[Codes, Codes, Counts]:
        """Lowest and highest value of every node and attribute, and its records."""
        lo = np.full((self.n_nodes, len(self.sets)), np.iinfo(np.int32).max, np.int32)
        hi = np.full_like(lo, -1)
        for j, (domain, counted) in enumerate(zip(self.domains, self.sets, strict=True)):
            known = counted.keys[1] != (domain.missing if domain.wildcard else -1)
            node, value = counted.keys[0][known], counted.keys[1][known]
            np.minimum.at(lo[:, j], node, value)
            np.maximum.at(hi[:, j], node, value)
        first = self.sets[0]
        size = np.bincount(first.keys[0], weights=first.count, minlength=self.n_nodes).astype(np.int64)
        return lo, hi, size

    def cuts(self, nodes: Counts, j: int, lo: Codes, hi: Codes, torn: bool) -> tuple[Codes, Counts]:
        """Two median cuts of attribute `j` per node, as `find_cuts`: codes, and records on the left."""
        counted = self.sets[j]
        codes, lefts = np.empty((len(nodes), 2), np.int32), np.zeros((len(nodes), 2), np.int64)
        values = np.ascontiguousarray(counted.keys[1][:, None])
        box = np.ascontiguousarray(lo[:, j : j + 1]), np.ascontiguousarray(hi[:, j : j + 1])
        shape = domain_shape(self.domains[j])
        starts = self.starts(j)
        given = (values, counted.count, starts, nodes, 0, *box, *shape)
        find_cuts(*given, torn, codes, lefts, *scratch(starts, nodes), 0, len(nodes))
        return codes, lefts


class Growth:
    """Grows a tree of median cuts breadth-first, level by level, from counts of the shards.

    Per level, one scan counts the records of every node by attribute and value. With `with_secrets` the same scan also
    counts the secrets beside each value, so that any cut can be judged without another look at the data; otherwise a
    scan of its own counts the secrets of both halves of the cuts that are asked about.
    """

    def __init__(self, shards: Shards, goal: Goal, secrets: Secrets, *, with_secrets: bool) -> None:
        self.shards = shards
        self.goal = goal
        self.secrets = secrets
        self.with_secrets = with_secrets and not goal.decided_by_size
        #: The fewest records that a half may have.
        self.smallest = goal.min_size
        #: How often the shards were read.
        self.scans = 0
        self._tearable = [d.taxonomy.height > 1 for d in shards.quasi_domains]

    def grow(self, tree: CutTree, nodes: Counts, enough: float) -> Counts:
        """Cut leaves until each has at most `enough` records or no allowed cut; returns those that have none."""
        done: list[Counts] = [np.zeros(0, np.int64)]
        while len(nodes := nodes[tree.size[nodes] > enough]):
            found = self._counted(tree, nodes)
            lo, hi, size = found.boxes()
            attribute, code, left = self._choose(tree, nodes, found, lo, hi, size)
            cut = attribute >= 0
            done.append(nodes[~cut])
            nodes = tree.cut(nodes[cut], attribute[cut], code[cut], left[cut])
        return np.concatenate(done)

    def _places(self, tree: CutTree, nodes: Counts, shard: Shard) -> Codes:
        """The place of each cell's leaf among some nodes; -1 if it is none of them."""
        place = np.full(len(tree.attribute), -1, np.int32)
        place[nodes] = np.arange(len(nodes))
        return place[tree.route(shard.tally.quasi)]

    def _counted(self, tree: CutTree, nodes: Counts) -> Frequencies:
        """The frequency sets of some leaves, in one scan."""
        domains = self.shards.quasi_domains

        def task(shard: Shard) -> list[Counted]:
            place = self._places(tree, nodes, shard)
            here = place >= 0
            count = shard.tally.count[here]
            keys = [place[here], np.zeros(0, np.int32)]
            sizes = [len(nodes), 0]
            if self.with_secrets:
                keys.append(self.secrets.of(shard)[here])
                sizes.append(len(self.secrets))
            out = []
            for j, domain in enumerate(domains):
                keys[1], sizes[1] = shard.tally.quasi[here, j], domain.size
                out.append(Counted.of(keys, sizes, count))
            return out

        self.scans += 1
        return Frequencies(domains, self.shards.count(task), len(nodes))

    def _choose(
        self, tree: CutTree, nodes: Counts, found: Frequencies, lo: Codes, hi: Codes, size: Counts
    ) -> tuple[Counts, Codes, Counts]:
        """The first allowed median cut of every node: attribute (-1: none), code, and records on the left."""
        left = np.zeros(len(nodes), np.int64)

        def cuts(places: Counts, j: int, torn: bool) -> Iterator[tuple[Codes, Counts, Counts]]:
            codes, lefts = found.cuts(places, j, lo, hi, torn)
            for attempt in range(2):
                yield codes[:, attempt], np.zeros(len(places), np.int64), lefts[:, attempt]

        def allowed(places: Counts, attribute: Counts, code: Codes, _: Counts) -> Flags:
            if not len(places) or self.goal.decided_by_size:
                return np.ones(len(places), np.bool_)
            halves = (
                self._halves_of(tree, found, places, int(attribute[0]), code)
                if self.with_secrets
                else self._halves_counted(tree, nodes[places], int(attribute[0]), code)
            )
            ok = self.judge(halves)
            return ok[0::2] & ok[1::2]

        width = weighted_widths(found.domains, lo, hi)
        attribute, code, _ = first_allowed(width, size, self.smallest, cuts, allowed, self._tearable)
        for j in np.unique(attribute[attribute >= 0]):
            here = np.flatnonzero(attribute == j)
            halves = self._halves_of(tree, found, here, int(j), code[here])
            left[here] = np.bincount(halves.keys[0], weights=halves.count, minlength=2 * len(here))[0::2]
        return attribute, code, left

    def judge(self, halves: Counted) -> Flags:
        """Which halves satisfy the goal; keys are the half and the combination of secrets."""
        half, secret = halves.keys
        return self.goal.satisfied(self.secrets.stats(half, secret, halves.count))

    def _halves_of(self, tree: CutTree, found: Frequencies, places: Counts, j: int, code: Codes) -> Counted:
        """The records on both sides of cuts of attribute `j`, by secrets if these were counted, from what is known."""
        counted = found.sets[j]
        cut = np.full(found.n_nodes, -1, np.int32)
        cut[places] = np.arange(len(places))
        number = cut[counted.keys[0]]
        here = number >= 0
        number, value = number[here], counted.keys[1][here]
        half = 2 * number + ~tree.is_left(j, value, code[number])
        secret = counted.keys[2][here] if self.with_secrets else np.zeros_like(half)
        return Counted.of([half, secret], (2 * len(places), len(self.secrets)), counted.count[here])

    def _halves_counted(self, tree: CutTree, nodes: Counts, j: int, code: Codes) -> Counted:
        """The records on both sides of cuts of attribute `j`, by secrets, in a scan of their own."""

        def task(shard: Shard) -> list[Counted]:
            place = self._places(tree, nodes, shard)
            here = place >= 0
            value = shard.tally.quasi[here, j]
            half = 2 * place[here] + ~tree.is_left(j, value, code[place[here]])
            secret = self.secrets.of(shard)[here]
            return [Counted.of([half, secret], (2 * len(nodes), len(self.secrets)), shard.tally.count[here])]

        self.scans += 1
        return self.shards.count(task)[0]


def finished(
    shards: Shards, tree: CutTree, closed: Counts, goal: Goal, secrets: Secrets, part_records: int
) -> Grouping:
    """Every leaf of a tree cut on in memory by Mondrian, but for those that are `closed`: they are groups as they are.

    Leaves are taken together as long as they have at most `part_records` records, and each such batch is finished by
    itself.
    """
    closed = np.unique(closed)
    leaves = np.setdiff1d(tree.leaves, closed)
    batch = _batches(tree.size[leaves], part_records)
    n_batches = int(batch.max(initial=-1)) + 1
    owner = np.full(len(tree.attribute), -1, np.int32)
    owner[leaves] = batch
    owner[closed] = n_batches + np.arange(len(closed), dtype=np.int32)
    parts = shards.exchange(lambda shard: owner[tree.route(shard.tally.quasi)], n_batches + len(closed))

    def finish(part: Shard) -> Grouping:
        _, number = np.unique(tree.route(part.tally.quasi), return_inverse=True)
        return MedianFront(part.tally, goal, part=number.astype(np.int32), tables=secrets.tables).exhaust()

    made = map_threads(finish, parts[:n_batches])
    made += [Grouping.of_cells(p.tally, np.zeros(p.tally.n_cells, np.int32), 1) for p in parts[n_batches:]]
    return joined(made, parts)


def _batches(size: Counts, most: int) -> Codes:
    """Consecutive leaves in batches of at most so many records; a larger leaf is a batch of its own.

    >>> _batches(np.array([3, 3, 5, 1, 9]), 6).tolist()
    [0, 0, 1, 1, 2]
    """
    out = np.zeros(len(size), np.int32)
    batch, held = 0, 0
    for i, records in enumerate(size.tolist()):
        if held and held + records > most:
            batch, held = batch + 1, 0
        held += records
        out[i] = batch
    return out
