"""The fixed-size maximum-distance method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.blocks import split
from tarnkappe.kernels.microaggregation.diameter import group_extremes
from tarnkappe.kernels.microaggregation.outwards import join_rest
from tarnkappe.kernels.microaggregation.tiles import WIDTH

#: Records that are grouped together; more in blocks.
_AT_ONCE = 16_384


@dataclass(frozen=True)
class MaximumDistance(Microaggregation):
    r"""Form groups of k around the two records that are farthest apart.

    While at least 2k records are left, the two of them with the greatest distance, :math:`r` and :math:`s`, each take
    their k - 1 nearest, :math:`r` first. Of k or more that remain, all become a group; fewer join the group with the
    nearest mean, one by one. Of equally far pairs the first counts.

    The greatest distance is exact. Each record keeps a bound of how far any other can be: at first by way of the mean,
    later the distance from the record that was farthest when it was last looked at. Only the record with the largest
    bound is compared with all others, until its bound is true. That takes :math:`O(n^2 d)` at best; data decide how
    much more.

    Differs from the paper in: more than 16 384 records are grouped in blocks that lie together in space, so the
    greatest distance is that within a block.

    References
    ----------
    .. [DoMa02] Domingo-Ferrer, Mateo-Sanz. "Practical data-oriented microaggregation for statistical disclosure
       control." TKDE 2002.
    """

    name: ClassVar = "maximum-distance"
    title: ClassVar = "Maximum distance"
    summary: ClassVar = "Groups of k around the two records that are farthest apart."

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        group = np.empty(len(points), np.int32)
        order = split(points, WIDTH, np.empty((0, 2)))
        n_groups = group_extremes(points, order, points.mean(axis=0), k, group)
        join_rest(points, group, n_groups)
        return group
