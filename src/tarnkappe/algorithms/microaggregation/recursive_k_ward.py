"""Recursive k-Ward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.axis import OnAxis
from tarnkappe.algorithms.microaggregation.k_ward import ward_in_blocks
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.ward import ward_on_line
from tarnkappe.params import param


@dataclass(frozen=True)
class RecursiveKWard(OnAxis):
    r"""Divide the sorted records into parts, again and again, and group each part by k-Ward.

    The records are sorted by an axis (`by`) and divided into J parts of equal size. If

    .. math:: θ > \frac{\sum_{i=1}^{J} \mathrm{Var}(P_i)}{\mathrm{Var}(P)}

    then P is grouped by k-Ward; otherwise each part is treated as P was. The variance is that of all columns together.
    Parts have at least `smallest` records, and never fewer than 2k. k-Ward takes the square of the number of records,
    so J parts take a J-th of the time: a low θ is fast, a high one leaves more to k-Ward. Records that are
    near but in different parts never come together, so small parts cost a lot where the axis is not all there is.

    Several columns are divided along the axis and grouped in all columns; one is grouped along its line.

    References
    ----------
    .. [FaOo06] Fayyoumi, Oommen. "On optimizing the k-Ward micro-aggregation technique for secure statistical
       databases." ACISP 2006, LNCS 4058.
    """

    name: ClassVar = "recursive-k-ward"
    title: ClassVar = "Recursive k-Ward"
    summary: ClassVar = "Divides the sorted records into parts while they vary enough, and groups each by k-Ward."

    parts: int = param(2, doc="J: into how many parts records are divided at a time.", ge=2, kw_only=True)
    theta: float = param(
        0.5,
        doc="Below which ratio of the parts' variances to that of the whole nothing is divided.",
        ge=0,
        kw_only=True,
    )

    smallest: int = param(1000, doc="How many records a part has at least.", ge=1, kw_only=True)

    def along(self, points: Floats, k: int) -> Codes:
        """Groups of k to 2k - 1 within the parts."""
        group = np.empty(len(points), np.int32)
        waiting, n_groups = [points], 0
        begin = 0
        while waiting:
            part = waiting.pop()
            if len(part) >= self.parts * max(2 * k, self.smallest) and self._divides(part):
                waiting.extend(reversed(np.array_split(part, self.parts)))
                continue
            own = ward_in_blocks(part, k) if part.shape[1] > 1 else ward_on_line(part, k)
            group[begin : begin + len(part)] = n_groups + own
            begin, n_groups = begin + len(part), n_groups + int(own.max()) + 1
        return group

    def _divides(self, part: Floats) -> bool:
        """Whether the variances of the parts reach the threshold."""
        inside = sum(piece.var(axis=0).sum() for piece in np.array_split(part, self.parts))
        return bool(inside >= self.theta * part.var(axis=0).sum())
