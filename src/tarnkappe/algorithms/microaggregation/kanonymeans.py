"""kAnonyMeans."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.means import AnonymousMeans
from tarnkappe.arrays import Codes, Floats
from tarnkappe.params import param

#: Records that are clustered together; more in blocks.
_AT_ONCE = 4096

#: So many runs are started at a time, so that few groupings are kept.
_AT_A_TIME = 32


@dataclass(frozen=True)
class KAnonyMeans(AnonymousMeans):
    r"""Cluster by k-means, merge clusters that are too small, split those that are too large.

    κ-means starts with κ records (`clusters`, `start`), gives every record to the nearest centre, moves every centre to
    the mean of its records, and so on until nothing changes. *Merge* pools clusters of fewer than k records with
    others, *Split* divides those of 2k or more by MDAV+. So groups have k to 2k - 1 records. The best of several `runs`
    counts:

    .. math:: \min \sum_G \sum_{x \in G} \lVert x - c(G) \rVert^2

    The slides leave some words open. Here they mean:

    * *Merge with inner loop*: one small cluster after another is merged with the most suitable one until it has k
      records. *With outer loop*: each small cluster is merged once, then those that are still too small again, and so
      on. *Without a further loop* (``once``): each small cluster is merged with the most suitable of those that
      make it large enough.
    * *Suitable* by ``distance``: :math:`\lVert c(A) - c(B) \rVert^2` is least; by ``sse``: what the merge adds,
      :math:`\frac{|A| |B|}{|A| + |B|} \lVert c(A) - c(B) \rVert^2`.
    * *MergeAndSplit during k-means* (`interleave`): after every round, or whenever k-means has converged, clusters are
      merged and split, and k-means goes on from the means of the groups. This may go round in circles (livelock): a
      grouping that was there before ends it, and so do five in a row that are no better. The best one counts.
    * A cluster that has lost all its records is no more.

    A round takes :math:`O(n c d)` for c clusters at first and much less later: a record whose centre has not gone away
    from it is compared only with the centres that have moved, and only with those that may be nearer. Runs are done
    side by side. More than 4096 records are clustered in blocks that lie together in space, each from its best run.

    References
    ----------
    .. [Stol19] Stoldt. "Datenbankanonymisierung auf Basis von k-means-Algorithmen." Slides, 2019.
    .. [ArVa07] Arthur, Vassilvitskii. "k-means++: the advantages of careful seeding." SODA 2007.
    """

    name: ClassVar = "kanonymeans"
    title: ClassVar = "kAnonyMeans"
    summary: ClassVar = "Clusters of k-means, merged and split to groups of k to 2k - 1; strong on clustered data."

    runs: int = param(
        5, doc="Number of runs from different centres, of which the best counts, at normal effort.", ge=1, kw_only=True
    )

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        best, least = np.zeros(len(points), np.int32), np.inf
        runs = self.work.of_usual(self.runs)
        for done in range(0, runs, _AT_A_TIME):
            starts = self._starts(points, k, min(_AT_A_TIME, runs - done), rng)
            group, loss = min(self._grouped(points, k, starts), key=lambda found: found[1])
            if loss < least:
                best, least = group, loss
            if self.watch.over:
                break
        return best
