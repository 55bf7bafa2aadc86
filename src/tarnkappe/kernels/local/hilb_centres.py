"""Reference points spread over a table, and how far each row is from the nearest."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, width


@helper
def _distance(ruler: Ruler, a: Codes, b: Codes) -> float:
    """The summed width of the box round two rows; a wildcard is no distance from anything."""
    total = 0.0
    for j in range(a.size):
        if a[j] != ruler.wild[j] and b[j] != ruler.wild[j]:
            total += width(ruler, j, min(a[j], b[j]), max(a[j], b[j]))
    return total


@kernel
def farthest_first(ruler: Ruler, rows: Codes, n_centres: int) -> Counts:
    """The first row, then always the row that is farthest from all chosen ones (Gonzalez); fewer if rows run out."""
    n = rows.shape[0]
    centres = np.empty(n_centres, np.int64)
    near = np.full(n, np.inf)
    latest = 0
    for c in range(n_centres):
        centres[c] = latest
        farthest = 0
        for i in range(n):
            near[i] = min(near[i], _distance(ruler, rows[i], rows[latest]))
            if near[i] > near[farthest]:
                farthest = i
        if near[farthest] == 0:
            return centres[: c + 1].copy()
        latest = farthest
    return centres


@kernel
def nearest_centre(
    ruler: Ruler, rows: Codes, centres: Codes, nearest: Counts, distance: Floats, begin: int, end: int
) -> None:
    """Fill in the nearest of the centres and its distance for the rows ``begin .. end``."""
    for i in range(begin, end):
        distance[i] = np.inf
        for c in range(centres.shape[0]):
            away = _distance(ruler, rows[i], centres[c])
            if away < distance[i]:
                nearest[i], distance[i] = c, away
