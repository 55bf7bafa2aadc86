"""r-gather clustering."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.groups import Grouping
from tarnkappe.kernels.microaggregation.r_gather import gather, reach
from tarnkappe.params import param
from tarnkappe.publish.centres import Centres
from tarnkappe.tally import Tally

#: How near the search comes to the smallest limit (of squared distances).
_PRECISION = 1e-6


#: Records that are grouped together; more in blocks.
_AT_ONCE = 16_384


@dataclass(frozen=True)
class RGather(Microaggregation):
    r"""Make the largest radius of a group small: at most twice the smallest that is possible.

    .. math:: \min \max_G \, \min_{c} \, \max_{x \in G} \lVert x - c \rVert, \quad |G| \ge k

    For a limit :math:`t`: choose centres more than t apart, until every record is within t of one. Groups are possible
    if each centre can have k records within t, none of them given to two; a maximum flow tells. If :math:`R` is the
    smallest radius, this works for every :math:`t \ge 2R`: no two centres are in the same group of the optimum, and
    each has that whole group within 2R. The search for the smallest limit starts at the distance within which every
    record has k - 1 others and halves the rest, to a precision of one millionth.

    The limit is that of the loneliest records, so groups elsewhere may be large. With `divide`, groups of 2k or more
    are gathered again by themselves, and again, with no limit above that of all. The largest radius stays the same, the
    loss falls.

    As in the paper, a group publishes its centre, its size and its radius: the distance of its farthest record from the
    centre, rounded up. `radii` says whether it does.

    Takes :math:`O(n^2 d)` at worst for the first step, and :math:`O(n^2 d / k)` for each limit that is tried, if few
    records have to change their groups.

    Differs from the paper in: the centre that is published, and that the published radius is about, is the mean of the
    group and not one of its records. More than 16 384 records are gathered in blocks that lie together in space. Then
    the radius is at most twice the smallest that is possible in a block.

    References
    ----------
    .. [AFKK06] Aggarwal, Feder, Kenthapadi, Khuller, Panigrahy, Thomas, Zhu. "Achieving anonymity via clustering."
       PODS 2006.
    """

    name: ClassVar = "r-gather"
    title: ClassVar = "r-gather clustering"
    summary: ClassVar = "Groups whose largest radius is at most twice the smallest possible."

    divide: bool = param(True, doc="Gather groups of 2k or more again by themselves, within the same radius.")
    radii: bool = param(True, doc="Publish the size and the radius of every group beside its centre.")

    @property
    def at_once(self) -> int:
        """More records are gathered in blocks, each with its own smallest radius."""
        return _AT_ONCE

    def _with_centres(self, tally: Tally, grouping: Grouping) -> Grouping:
        grouping = super()._with_centres(tally, grouping)
        assert isinstance(grouping.form, Centres), "microaggregation publishes centres"
        return replace(grouping, form=replace(grouping.form, measured=self.radii))

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of at least k."""
        group, limit = _gathered(points, k, np.inf)
        if not self.divide:
            return group
        out = np.empty(len(points), np.int32)
        number = 0
        to_do = _parts(group)
        while to_do:
            members = to_do.pop()
            if len(members) >= 2 * k:
                parts = _parts(_gathered(points[members], k, limit)[0])
                if len(parts) > 1:
                    to_do += [members[part] for part in parts]
                    continue
            out[members] = number
            number += 1
        return out


def _parts(group: Codes) -> list[Counts]:
    """The members of every group."""
    return np.split(np.argsort(group, kind="stable"), np.cumsum(np.bincount(group))[:-1])


def _gathered(points: Floats, k: int, limit: float) -> tuple[Codes, float]:
    """The groups with the smallest radius that the search finds, and its square; one group if it is above the limit."""
    low = reach(points, k)
    best, high = np.zeros(len(points), np.int32), limit
    middle = low
    while middle <= high:
        group, radius = gather(points, middle, k)
        if radius < 0.0:
            low = middle
        else:
            best, high = group, min(radius, high)
        if high <= low * (1.0 + _PRECISION):
            break
        middle = (low + high) / 2 if high < np.inf else 2.0 * low
    return best, high
