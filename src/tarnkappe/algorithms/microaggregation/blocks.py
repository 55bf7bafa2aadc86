"""MDAV within blocks, for many records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.in_blocks import BLOCK, mdav_in_blocks
from tarnkappe.arrays import Codes, Floats
from tarnkappe.params import param


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

    block: int = param(BLOCK, doc="Records that are grouped together, at most.", ge=2, kw_only=True)

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k in every block, its last of up to 2k - 1."""
        return mdav_in_blocks(points, k, self.block)
