"""MDAV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.blocks import split
from tarnkappe.kernels.microaggregation.mdav import mdav
from tarnkappe.kernels.microaggregation.tiles import WIDTH

#: Records that are grouped together; more in blocks.
_AT_ONCE = 65_536


@dataclass(frozen=True)
class MDAV(Microaggregation):
    r"""Form groups of k around the records that are farthest from all others, two at a time.

    While at least 3k records are left: :math:`r` is the one farthest from their mean, :math:`s` the one farthest from
    :math:`r`. The first group is :math:`r` with the :math:`k - 1` records nearest to it, the second :math:`s` with the
    nearest of the rest. Of 2k or more that remain, the one farthest from the mean takes its nearest; the rest is the
    last group, of k to 2k - 1 records. Of equally far records the first counts.

    Takes :math:`O(n^2 d / k)` at most; tiles of records that are too near or too far are not looked at.

    Differs from the paper in: more than 65 536 records are grouped in blocks that lie together in space.

    References
    ----------
    .. [DoTo05] Domingo-Ferrer, Torra. "Ordinal, continuous and heterogeneous k-anonymity through microaggregation."
       Data Mining and Knowledge Discovery 2005.
    """

    name: ClassVar = "mdav"
    title: ClassVar = "MDAV"
    summary: ClassVar = "Groups of k around the records farthest from all others publish their mean."

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k, the last of up to 2k - 1."""
        n = len(points)
        group, place = np.empty(n, np.int32), np.empty(n, np.int32)
        mdav(points, split(points, WIDTH, np.empty((0, 2))), points.sum(axis=0), k, group, place)
        return group
