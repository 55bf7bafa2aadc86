"""Rothko-S."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.multidimensional.cut_tree import CutTree, Growth
from tarnkappe.algorithms.multidimensional.sharded import ShardedMondrian
from tarnkappe.algorithms.shards import Counted, Secrets, Shard, Shards, part_of
from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.goal import Goal
from tarnkappe.groups import Note
from tarnkappe.params import param


@dataclass(frozen=True)
class RothkoS(ShardedMondrian):
    r"""Mondrian that grows its tree on a sample, and undoes the cuts that fail on all records.

    `sample` records are drawn from the parts of more than `part_records` records, and cut as in `Mondrian`. A cut is
    taken only if both sides very probably satisfy the goal. For the size that is the exact hypergeometric test: with
    :math:`m` of :math:`N` records drawn, a side needs so many records :math:`x` in the sample that

    .. math:: \Pr[X \ge x] \le \alpha, \qquad X \sim \mathrm{Hypergeometric}(N,\; k - 1,\; m),

    where :math:`k` is the smallest size that could satisfy the goal: with fewer than :math:`k` records in the table, a
    side would hardly ever have :math:`x` in the sample. For criteria about sensitive values each side is drawn anew
    from itself :math:`\lceil 1/\alpha \rceil` times (a Poisson bootstrap, scaled up to the table), and every time the
    goal must hold.

    Then all records are counted by leaf. A cut with a side that violates the goal is undone: its leaf and everything
    below its sibling become one leaf again, up the tree until all leaves satisfy the goal. This check is never skipped,
    so chance decides about detail, but not about the guarantee. Parts that are still too large are sampled again; those
    that no sample could cut are cut as in Rothko-T; all others are finished in memory.

    Two scans per sample, instead of one per level of the tree.

    Differs from the paper in: the exact test instead of its normal approximation, and the bootstrap for other criteria,
    where the paper has a bound for each; medians as in `Mondrian`; any monotone goal; what is sampled and scanned is
    the tally in memory, in shards, not a table on disk.

    References
    ----------
    .. [LeDR08] LeFevre, DeWitt, Ramakrishnan. "Workload-aware anonymization techniques for large-scale datasets." ACM
       TODS 33(3), 2008.
    """

    name: ClassVar = "rothko-s"
    title: ClassVar = "Rothko-S"
    summary: ClassVar = "Mondrian whose first cuts are found on a sample, then checked on everything."

    sample: int = param(100_000, doc="How many records are drawn to find the first cuts.", ge=1, kw_only=True)
    alpha: float = param(
        0.05, doc="How probable it may be that a cut taken on the sample must be undone.", gt=0, le=1, kw_only=True
    )

    def grow(
        self, tree: CutTree, shards: Shards, goal: Goal, secrets: Secrets, rng: np.random.Generator
    ) -> tuple[Counts, dict[str, Note]]:
        """Samples until no part is too large, or none of the cuts of a part survives."""
        exact = Growth(shards, goal, secrets, with_secrets=True)
        stuck: list[Counts] = [np.zeros(0, np.int64)]
        samples = undone = 0
        nodes = np.flatnonzero(tree.size > self.part_records)
        while len(nodes):
            drawn, n_records = draw(shards, tree, nodes, self.sample, rng)
            sampled = _SampleGrowth(drawn, goal, secrets, self.alpha, n_records, rng)
            first = len(tree.attribute)
            sampled.grow_on(tree, nodes, self.part_records)
            undone += settle(shards, tree, nodes, first, goal, secrets)
            samples += 1
            stuck.append(nodes[tree.attribute[nodes] < 0])
            leaves = tree.leaves
            nodes = leaves[(leaves >= first) & (tree.size[leaves] > self.part_records)]
        closed = exact.grow(tree, np.concatenate(stuck), self.part_records)
        return closed, {"samples": samples, "scans": 2 * samples + exact.scans, "undone": undone}


class _SampleGrowth(Growth):
    """Grows a tree on a sample of the records; a cut must be allowed with some confidence."""

    def __init__(
        self, sample: Shard, goal: Goal, secrets: Secrets, alpha: float, n_records: int, rng: np.random.Generator
    ) -> None:
        super().__init__(Shards((sample,)), goal, secrets, with_secrets=True)
        drawn = sample.tally.n_records
        self.smallest = fewest_in_sample(n_records, goal.min_size - 1, drawn, alpha)
        self._scale = n_records / drawn
        self._resamples = math.ceil(1 / alpha) if drawn < n_records else 0
        self._rng = rng

    def grow_on(self, tree: CutTree, nodes: Counts, part_records: int) -> None:
        """Cut leaves until their estimated size is small; sizes are then those in the sample."""
        tally = self.shards.shards[0].tally
        tree.size[nodes] = np.bincount(tree.route(tally.quasi), tally.count, len(tree.size))[nodes]
        self.grow(tree, nodes, part_records / self._scale)

    def judge(self, halves: Counted) -> Flags:
        """Which halves satisfy the goal in the sample, and whenever they are drawn anew."""
        half, secret = halves.keys
        n = halves.sizes[0]
        ok = self._scaled_up(half, secret, halves.count, n)
        if self._resamples and ok.any():
            kept = np.flatnonzero(ok[half])
            again = self._rng.poisson(halves.count[kept], (self._resamples, len(kept)))
            turn, entry = np.nonzero(again)
            number = (turn * n + half[kept][entry]).astype(np.int32)
            each = self._scaled_up(number, secret[kept][entry], again[turn, entry], self._resamples * n)
            ok &= each.reshape(self._resamples, n).all(axis=0)
        return ok

    def _scaled_up(self, group: Codes, secret: Codes, count: Counts, n_groups: int) -> Flags:
        """Which groups would satisfy the goal with as many records as they probably have in the table."""
        records = np.maximum(np.rint(count * self._scale), 1).astype(np.int64)
        stats = self.secrets.stats(group, secret, records)
        ok = np.zeros(n_groups, np.bool_)
        ok[: stats.n_groups] = self.goal.satisfied(stats) & (stats.size > 0)
        return ok


def fewest_in_sample(n_records: int, too_few: int, drawn: int, alpha: float) -> int:
    r"""How many of `drawn` records a group must have to make it improbable that the table has but `too_few` of it.

    The least :math:`x` with :math:`\Pr[X \ge x] \le \alpha` for the hypergeometric distribution; at least 1.

    >>> fewest_in_sample(1000, 9, 1000, 0.05)  # everything was drawn: 10 records are 10 records
    10
    >>> fewest_in_sample(1000, 9, 100, 0.05)  # 0.9 expected; three or more with probability 0.052
    4
    """
    most = min(too_few, drawn)
    least = max(0, drawn + too_few - n_records)
    x = np.arange(least, most)
    ratio = (too_few - x) * (drawn - x) / ((x + 1.0) * (n_records - too_few - drawn + x + 1.0))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratio))])
    share = np.exp(logs - logs.max())
    at_least = np.cumsum(share[::-1])[::-1] / share.sum()
    return max(1, least + int((at_least > alpha).sum()))


def draw(shards: Shards, tree: CutTree, nodes: Counts, size: int, rng: np.random.Generator) -> tuple[Shard, int]:
    """Records of some leaves, drawn without replacement, as one shard; and how many records these leaves have.

    Places are drawn among all records of the leaves, one shard after another, so only their numbers must be known.
    """
    chosen = np.zeros(len(tree.attribute), np.bool_)
    chosen[nodes] = True
    counts = shards.each(lambda s: np.where(chosen[tree.route(s.tally.quasi)], s.tally.count, 0))
    bounds = np.cumsum([0, *(int(c.sum()) for c in counts)])
    n_records = int(bounds[-1])
    places = np.sort(rng.choice(n_records, min(size, n_records), replace=False, shuffle=False))
    parts = []
    for shard, count, a, b in zip(shards.shards, counts, bounds[:-1], bounds[1:], strict=True):
        own = places[np.searchsorted(places, a) : np.searchsorted(places, b)] - a
        cell, records = np.unique(np.searchsorted(np.cumsum(count), own, side="right"), return_counts=True)
        parts.append(part_of(shard.tally, cell.astype(np.int32), records.astype(np.int64)))
    (sample,) = Shards(tuple(parts)).exchange(lambda s: np.zeros(s.tally.n_cells, np.int32), 1)
    return sample, n_records


def settle(shards: Shards, tree: CutTree, nodes: Counts, first: int, goal: Goal, secrets: Secrets) -> int:
    """Count everything below some nodes, and undo cuts until all leaves satisfy the goal; returns how many.

    Below them are the nodes from number `first` on. The nodes satisfy the goal themselves, so this ends with them at
    the latest. Sizes are then those of all records.
    """
    concerned = np.arange(len(tree.attribute)) >= first
    concerned[nodes] = True

    def task(shard: Shard) -> list[Counted]:
        leaf = tree.route(shard.tally.quasi)
        here = concerned[leaf]
        secret = secrets.of(shard)[here]
        return [Counted.of([leaf[here], secret], (len(concerned), len(secrets)), shard.tally.count[here])]

    (counted,) = shards.count(task)
    undone = 0
    while True:
        leaf, number = np.unique(tree.leaf_of[counted.keys[0]], return_inverse=True)
        stats = secrets.stats(number.astype(np.int32), counted.keys[1], counted.count)
        failed = leaf[~goal.satisfied(stats)]
        if not len(failed):
            tree.size[leaf] = stats.size
            return undone
        parents = np.unique(tree.parent[failed])
        tree.undo(parents)
        undone += len(parents)
