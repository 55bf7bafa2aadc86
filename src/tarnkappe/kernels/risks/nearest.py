"""Which published point is nearest to each record."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import kernel


@kernel
def nearest_points(records: Floats, points: Floats, begin: int, end: int, out: Codes) -> None:
    """The point nearest to each record from `begin` to `end`; of equally near ones the first. A gap counts as 1 off."""
    for i in range(begin, end):
        best, which = np.inf, 0
        for p in range(points.shape[0]):
            apart = 0.0
            for j in range(points.shape[1]):
                if np.isnan(records[i, j]) or np.isnan(points[p, j]):
                    apart += 0.0 if np.isnan(records[i, j]) and np.isnan(points[p, j]) else 1.0
                else:
                    apart += (records[i, j] - points[p, j]) ** 2
                if apart >= best:
                    break
            if apart < best:
                best, which = apart, p
        out[i] = which
