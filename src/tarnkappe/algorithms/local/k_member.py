"""k-member clustering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.blocks import along_the_curve, grouped_apart
from tarnkappe.algorithms.local.pool import Pool, settle
from tarnkappe.algorithms.steps.units import secret_values, select, tidy
from tarnkappe.arrays import Codes, Counts
from tarnkappe.groups import SUPPRESSED, Draft, Grouping
from tarnkappe.kernels.local.clusters import grow_clusters

#: Cells among which clusters are grown at normal effort; larger tables are grouped in blocks.
_BLOCK = 8192

#: How many clusters are tried before a size is taken for the whole pool.
_PROBE = 32


@dataclass(frozen=True)
class KMember(LocalRecoding):
    r"""Grow one cluster after another from a record far from the last one, always adding what widens its box least.

    The loss of a cluster is its records times the summed widths of its box,

    .. math:: IL(G) = |G| \sum_j w_j \, \mathrm{width}_j(G),

    ``(max - min) / extent`` for numbers and ``(leaves - 1) / (all leaves - 1)`` of the lowest common node for
    categories. A cluster is complete with `min_size` records of the goal. Cells are taken record by record, so one cell
    may serve several clusters. All is done twice, the second time with clusters that also take in the records inside
    their box when these are too few for a cluster of their own; the cheaper run counts.

    That is O(d n²) in the number n of distinct combinations, so tables of more than 8192 cells (of more at higher
    `effort`) are grouped in blocks of neighbours on a Hilbert curve. What blocks have torn apart is found again when
    near groups grow anew, as in all local recodings: O(d n · block).

    For criteria about sensitive values clusters are grown in rounds and asked about all at once: by distance alone;
    then with no value more often than its share of the pool, rounded up; then larger and larger. Clusters that satisfy
    the goal are kept, the records of the others go back into the pool. A size of which most of a few trial clusters
    fail is skipped. What is left over in the end joins the group where the loss rises least, and groups that still do
    not satisfy the goal are merged with their nearest.

    Differs from the paper in: the rounds for goals other than k-anonymity; combinations that satisfy the goal by
    themselves stay as they are; stragglers; categories are measured in leaves instead of heights; the first seed is the
    first cell instead of a random record, so the result does not depend on chance; blocks. Near clusters are thrown
    together and grown anew, clusters whose records are better off elsewhere are dissolved, which the paper's last
    clusters usually are, and swap refinement follows.

    References
    ----------
    .. [BKBL07] Byun, Kamra, Bertino, Li. "Efficient k-anonymization using clustering techniques." DASFAA 2007.
    """

    name: ClassVar = "k-member"
    title: ClassVar = "k-member clustering"
    summary: ClassVar = "Grows groups of nearest records one by one; very low loss."

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """Clusters of every block of the table."""
        block, n_blocks = along_the_curve(pool, self.work.of_usual(_BLOCK))
        return grouped_apart(pool, block, n_blocks, self._cheaper)

    def _cheaper(self, pool: Pool) -> Grouping:
        """The cheaper of two runs: clusters of exactly the smallest size, and clusters that take in stragglers."""
        runs = [settle(pool, self._grow(pool, absorb=absorb)) for absorb in (False, True)]
        return min(runs, key=pool.loss)

    @staticmethod
    def _grow(pool: Pool, *, absorb: bool) -> Grouping:
        """Rounds of clusters until the pool is empty, or too small for another one."""
        tally = pool.tally
        value, n_values = secret_values(tally, pool.goal)
        left = tally.count.copy()
        done: list[tuple[Codes, Codes, Counts]] = []
        n_done = 0
        size, capped = pool.goal.min_size, n_values == 1
        while int(left.sum()) >= size:
            part, cells = select(tally, left > 0, left)
            cap = _shares(value[cells], part.count, n_values, size) if capped else np.full(n_values, size, np.int64)
            given = (pool.ruler, part.quasi, part.count, value[cells], cap, size, absorb)
            here = pool.part(part)
            limits = (_PROBE, part.n_records) if not pool.goal.decided_by_size else (part.n_records,)
            for limit in limits:
                piece, group, quota, made = grow_clusters(*given, limit)
                ok = here.satisfied(Draft(piece, group, quota, made))
                if 2 * ok.sum() < made:
                    break
            else:
                kept = ok[group]
                cell = cells[piece[kept]]
                number = (np.cumsum(ok) - 1 + n_done).astype(np.int32)
                done.append((cell, number[group[kept]], quota[kept]))
                n_done += int(ok.sum())
                left -= np.bincount(cell, weights=quota[kept], minlength=tally.n_cells).astype(np.int64)
            if capped:
                size = max(size + 1, size * 3 // 2)
            capped = True
        rest = np.flatnonzero(left).astype(np.int32)
        done.append((rest, np.full(len(rest), SUPPRESSED, np.int32), left[rest]))
        cell, group, quota = (np.concatenate(parts) for parts in zip(*done, strict=True))
        return tidy(cell, group, quota, n_done)


def _shares(value: Codes, count: Counts, n_values: int, size: int) -> Counts:
    """How many records of each value a cluster of `size` may have: its share of the pool, rounded up."""
    records = np.bincount(value, weights=count, minlength=n_values).astype(np.int64)
    return -(-records * size // int(count.sum()))
