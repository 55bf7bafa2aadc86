"""k-Ward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.axis import AXES, OnAxis
from tarnkappe.algorithms.microaggregation.in_blocks import blocks_of, joined
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.ward import ward, ward_on_line
from tarnkappe.params import param
from tarnkappe.threads import map_threads

#: The value of `by` that means no axis.
ALL = "all"


#: Records that are grouped together in all columns; more in blocks.
_AT_ONCE = 32_768


def ward_in_blocks(points: Floats, k: int) -> Codes:
    """k-Ward in all columns, of many points in blocks."""
    blocks = blocks_of(points, k, _AT_ONCE)
    return joined(len(points), blocks, map_threads(lambda own: ward(points[own], k), blocks))


@dataclass(frozen=True)
class KWard(OnAxis):
    r"""Merge the two nearest groups, again and again, until all have k records.

    At first the two records that are farthest apart form a group each with the :math:`k - 1` records nearest to them;
    all others are groups of one. Then the two groups are joined whose union adds least to the squared error,

    .. math:: d(G_i, G_j) = \frac{n_i n_j}{n_i + n_j} |\bar x_i - \bar x_j|^2,

    but never two that have k records each. When all have, those of 2k or more are treated in the same way by
    themselves, so in the end groups have k to 2k - 1 records.

    *In all columns* (``by: all``) every group remembers its nearest partner, which is looked for in a tree of boxes;
    :math:`O(n \log n)` in few columns, :math:`O(n^2)` in many.

    *Along an axis*, and always for a single number per record: records are sorted, the first groups are the k smallest
    and the k largest, and only neighbours are joined, by their distance in all columns; :math:`O(n \log n)` a round.
    For one column and Ward's rule alone this changes nothing. Let m lie between i and j, with a share :math:`p` of
    their distance to the left of it, and :math:`w_{ij} = n_i n_j / (n_i + n_j)`. If both neighbours were dearer than
    the outer pair, then :math:`w_{ij} / w_{im} < p^2` and :math:`w_{ij} / w_{mj} < (1 - p)^2`. But the left sides add
    up to :math:`1 + 2 w_{ij} / n_m`, and the right sides to at most 1. With m and j of size k, though, the pair (m, j)
    may not be joined, and a small i could be cheaper to join with j than with a larger m before it. Such groups would
    overlap, which never pays on a line, so neighbours it is.

    Differs from the paper in: of more than 4096 records, the two that are farthest apart are looked for by way of one
    of them; more than 32 768 are grouped in blocks that lie together in space.

    References
    ----------
    .. [DoMa02] Domingo-Ferrer, Mateo-Sanz. "Practical data-oriented microaggregation for statistical disclosure
       control." TKDE 14(1), 2002.
    .. [Ward63] Ward. "Hierarchical grouping to optimize an objective function." JASA 58, 1963.
    """

    name: ClassVar = "k-ward"
    title: ClassVar = "k-Ward"
    summary: ClassVar = "Joins the nearest groups until all have k records, and divides large ones in the same way."

    by: str = param(
        ALL,
        doc="What records are sorted by: score, component, or a quasi-identifier; all: not sorted, distances in all "
        "columns.",
    )

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        if self.by == ALL and points.shape[1] > 1:
            return ward_in_blocks(points, k)
        return super().partition(points, k, rng)

    def along(self, points: Floats, k: int) -> Codes:
        """Groups of k to 2k - 1 neighbours."""
        return ward_on_line(points, k)

    @property
    def _axes(self) -> tuple[str, ...]:
        return (ALL, *AXES)
