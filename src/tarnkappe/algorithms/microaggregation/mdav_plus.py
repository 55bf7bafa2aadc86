"""MDAV+."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.blocks import split
from tarnkappe.kernels.microaggregation.outwards import FIXED, group_outwards, join_rest
from tarnkappe.kernels.microaggregation.tiles import WIDTH

#: Records that are grouped together; more in blocks.
_AT_ONCE = 65_536


@dataclass(frozen=True)
class MDAVPlus(Microaggregation):
    r"""Form one group of k after the other, around the record that is farthest from the mean of all records.

    The mean :math:`c(X)` is computed once. While at least k records have no group, the one of them that is farthest
    from :math:`c(X)` and the k - 1 of them that are nearest to it become a group. The rest, fewer than k records, join
    the group with the nearest mean. Of equally far records the first counts.

    Takes :math:`O(n^2 d / k)` at most. More than 65 536 records are grouped in blocks that lie together in space.

    References
    ----------
    .. [Stol19] Stoldt. "Datenbankanonymisierung auf Basis von k-means-Algorithmen." 2019.
    """

    name: ClassVar = "mdav-plus"
    title: ClassVar = "MDAV+"
    summary: ClassVar = "Groups of k, one at a time, around the record farthest from the mean of all."

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        return grouped_outwards(points, k, FIXED, 0.0)


def grouped_outwards(points: Floats, k: int, rule: int, gamma: float) -> Codes:
    """Groups from the point farthest from the mean of all inwards, extended by a rule; the rest joins the nearest."""
    group = np.empty(len(points), np.int32)
    far = ((points - points.mean(axis=0)) ** 2).sum(axis=1)
    outward = np.argsort(-far, kind="stable").astype(np.int32)
    n_groups = group_outwards(points, split(points, WIDTH, np.empty((0, 2))), outward, k, rule, gamma, group)
    join_rest(points, group, n_groups)
    return group
