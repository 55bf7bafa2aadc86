"""MDAV within blocks, for many records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.blocks import block_count, split
from tarnkappe.kernels.microaggregation.mdav import mdav_blocks
from tarnkappe.kernels.microaggregation.tiles import WIDTH
from tarnkappe.params import param
from tarnkappe.threads import share_out


@dataclass(frozen=True)
class BlockMDAV(Microaggregation):
    r"""Divide the records into blocks that lie together in space, and apply MDAV to each.

    A block with more than `block` records is cut in two halves, at the median of the attribute that varies most in it.
    Blocks are grouped side by side in threads. Groups have k to 2k - 1 records.

    Takes :math:`O(n \log n + n b d / k)` for blocks of :math:`b` records. Groups do not reach across the borders of
    blocks, which costs some loss; refinement mends it.

    References
    ----------
    .. [DoTo05] Domingo-Ferrer, Torra. "Ordinal, continuous and heterogeneous k-anonymity through microaggregation."
       Data Mining and Knowledge Discovery 2005.
    .. [SMDM06] Solanas, Martínez-Ballesté, Domingo-Ferrer, Mateo-Sanz. "A 2^d-tree-based blocking method for
       microaggregating very large data sets." ARES 2006.
    """

    name: ClassVar = "block-mdav"
    title: ClassVar = "MDAV in blocks"
    summary: ClassVar = "MDAV within blocks of records that median cuts make; for a million records and more."

    block: int = param(8192, doc="Records that are grouped together, at most.", ge=2, kw_only=True)

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k in every block, its last of up to 2k - 1."""
        n = len(points)
        size = max(self.block, 2 * k)  # halves of more than 2k points have at least k
        count = block_count(n, size)
        order = split(points, min(WIDTH, size), np.empty((0, 2)))
        group, place = np.empty(n, np.int32), np.empty(n, np.int32)
        bounds = n * np.arange(count + 1) // count
        share_out(lambda a, b: mdav_blocks(points, order, count, k, a, b, group, place), bounds * size)
        held = np.maximum(np.diff(bounds) // k, 1)
        before = np.repeat(np.cumsum(held) - held, np.diff(bounds))
        group[order] += before.astype(np.int32)
        return group
