"""Condensation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.condensing import condense

#: Records that are grouped together; more in blocks.
_AT_ONCE = 16_384


@dataclass(frozen=True)
class Condensation(Microaggregation):
    r"""Form groups of a random record and the k - 1 nearest to it.

    Fewer than k records that are left over join the group with the nearest mean. Like all microaggregation, the groups
    publish their centres. Aggarwal and Yu keep the moments of each group instead, and draw a new table from them; that
    is `regenerated-condensation`.

    Takes :math:`O(n^2 d / k)`.

    Differs from the paper in: more than 16 384 records are grouped in blocks that lie together in space.

    References
    ----------
    .. [AgYu04] Aggarwal, Yu. "A condensation approach to privacy preserving data mining." EDBT 2004.
    """

    name: ClassVar = "condensation"
    title: ClassVar = "Condensation"
    summary: ClassVar = "Groups of a random record and those nearest to it; simple, with a higher loss."

    @property
    def at_once(self) -> int:
        """More records are grouped in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k, and those that are left over with the nearest."""
        return condense(points, rng.permutation(len(points)), k)
