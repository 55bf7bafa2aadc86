"""V-MDAV."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.mdav_plus import grouped_outwards
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.outwards import BY_GAP
from tarnkappe.params import param

#: Records that are grouped together; more in blocks.
_AT_ONCE = 65_536


@dataclass(frozen=True)
class VMDAV(Microaggregation):
    r"""Form groups like MDAV+, and extend each by records that are nearer to it than to any other record.

    A group of k around the record farthest from the mean of all takes further records, up to 2k - 1: :math:`e` is the
    record without a group that is nearest to any member, at distance :math:`d_\mathrm{in}`. Its nearest other record
    without a group is :math:`d_\mathrm{out}` away. It joins if

    .. math:: d_\mathrm{in} < \gamma \cdot d_\mathrm{out}

    else the group is done. Fewer than k records that remain join the group with the nearest mean, so that a group may
    get more than 2k - 1.

    Takes :math:`O(n^2 d)` at most.

    Differs from the paper in: more than 65 536 records are grouped in blocks that lie together in space.

    References
    ----------
    .. [SoMa06] Solanas, Martínez-Ballesté. "V-MDAV: a multivariate microaggregation with variable group size." COMPSTAT
       2006.
    """

    name: ClassVar = "v-mdav"
    title: ClassVar = "V-MDAV"
    summary: ClassVar = "MDAV+ whose groups take in near records that have no nearer ones."

    gamma: float = param(
        0.2, doc="How readily groups grow: about 0.2 for scattered records, 1.1 for clustered ones.", ge=0
    )

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k or more."""
        return grouped_outwards(points, k, BY_GAP, self.gamma)
