"""MDAV*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.mdav_plus import grouped_outwards
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.outwards import BY_ERROR
from tarnkappe.params import param

#: Records that are grouped together; more in blocks.
_AT_ONCE = 65_536


@dataclass(frozen=True)
class MDAVStar(Microaggregation):
    r"""Form groups like MDAV+, and extend each by the records that it costs less than a group of their own would.

    A group :math:`C` of k around the record farthest from the mean of all takes further records, up to 2k - 1:
    :math:`e` is the record without a group that is nearest to the mean of :math:`C`. The group that it could start,
    :math:`G`, is :math:`e` with its k - 1 nearest records without a group. It joins :math:`C` if that adds less to the
    squared error than :math:`e` adds to the squared error of :math:`G`,

    .. math:: \mathrm{SSE}(C \cup \{e\}) - \mathrm{SSE}(C) < \gamma \cdot
              (\mathrm{SSE}(G) - \mathrm{SSE}(G - \{e\}))

    which is :math:`\frac{|C|}{|C| + 1} d^2(e, \bar C) < \gamma \frac{k}{k - 1} d^2(e, \bar G)`; else the group is done.
    Fewer than k records that remain join the group with the nearest mean, so that a group may get more than 2k - 1.

    The paper's abstract says no more than that the algorithm decides whether to extend a group by near records or to
    start a new group with them; the rule is our reading of it.

    Takes :math:`O(n^2 d)` at most, if every group grows to 2k - 1. More than 65 536 records are grouped in blocks that
    lie together in space.

    References
    ----------
    .. [ThRe18] Thaeter, Reischuk. "Improving anonymization clustering." SICHERHEIT 2018.
    """

    name: ClassVar = "mdav-star"
    title: ClassVar = "MDAV*"
    summary: ClassVar = "MDAV+ whose groups take in records that would cost a group of their own more."

    gamma: float = param(1.0, doc="How readily groups grow; 1: whenever it costs less than a new group.", ge=0)

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k or more."""
        return grouped_outwards(points, k, BY_ERROR, self.gamma)
