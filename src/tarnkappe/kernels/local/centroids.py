"""One pass of k-means with centroids that move as rows are assigned, and clusters evened out afterwards."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.widths import Ruler, widen, width


@helper
def _nearest(
    ruler: Ruler,
    row: Codes,
    lo: Codes,
    hi: Codes,
    mean: Floats,
    size: Counts,
    below: int,
    clusters: Counts,
    spot: Floats,
) -> tuple[int, float]:
    """The nearest of some `clusters` of fewer than `below` records, and how far it is; -1 if there is none.

    A row is away from a centroid by its mean on a scale, and by the box around both elsewhere. `spot` is scratch.
    """
    q = row.size
    for j in range(q):
        spot[j] = ruler.place[ruler.start[j] + row[j]]
    best, least = -1, np.inf
    for c in clusters:
        if size[c] >= below:
            continue
        total = 0.0
        for j in range(q):
            if row[j] == ruler.wild[j]:
                continue
            if ruler.plain[j]:
                total += abs(spot[j] - mean[c, j])
            else:
                total += width(ruler, j, min(lo[c, j], row[j]), max(hi[c, j], row[j]))
            if total >= least:
                break
        if total < least:
            best, least = c, total
    return best, least


@helper
def _add(
    ruler: Ruler, rows: Codes, i: int, records: int, c: int, lo: Codes, hi: Codes, mean: Floats, size: Counts
) -> None:
    """Add records to a cluster, and move its centroid."""
    size[c] += records
    widen(ruler, rows, i, lo, hi, c)
    for j in range(rows.shape[1]):
        if ruler.plain[j] and rows[i, j] != ruler.wild[j]:
            mean[c, j] += (ruler.place[ruler.start[j] + rows[i, j]] - mean[c, j]) * records / size[c]


@kernel
def one_pass(ruler: Ruler, rows: Codes, count: Counts, seeds: Counts, smallest: int) -> tuple[Codes, Codes, Counts]:
    """Assign all rows to the nearest of some clusters in one pass, then even the clusters out to `smallest` records.

    A cluster begins with the row of its seed as centroid. Clusters that are too large give up their furthest records;
    these go to the nearest cluster that is too small and, when there is none, to the nearest of all. Returns pieces
    (row, cluster, records).
    """
    n, q = rows.shape
    k = seeds.size
    lo, hi = np.full((k, q), np.iinfo(np.int32).max, np.int32), np.full((k, q), np.int32(-1), np.int32)
    mean = np.zeros((k, q), np.float64)
    size = np.zeros(k, np.int64)
    for c in range(k):
        widen(ruler, rows, seeds[c], lo, hi, c)
        for j in range(q):
            if ruler.plain[j]:
                mean[c, j] = ruler.place[ruler.start[j] + rows[seeds[c], j]]
    group, far = np.empty(n, np.int32), np.empty(n, np.float64)
    every, spot = np.arange(k), np.empty(q, np.float64)
    no_limit = np.iinfo(np.int64).max
    for i in range(n):
        group[i], _ = _nearest(ruler, rows[i], lo, hi, mean, size, no_limit, every, spot)
        _add(ruler, rows, i, count[i], group[i], lo, hi, mean, size)
    for i in range(n):
        _, far[i] = _nearest(ruler, rows[i], lo, hi, mean, size, no_limit, every[group[i] : group[i] + 1], spot)
    stays = count.copy()
    for i in np.argsort(-far):
        given = min(stays[i], max(size[group[i]] - smallest, 0))
        stays[i] -= given
        size[group[i]] -= given
    lo[:] = np.iinfo(np.int32).max
    hi[:] = -1
    for i in range(n):
        if stays[i] > 0:
            widen(ruler, rows, i, lo, hi, group[i])
    moved_row, moved_to = np.empty(2 * n + k, np.int32), np.empty(2 * n + k, np.int32)
    moved = np.empty(2 * n + k, np.int64)
    pieces = 0
    for i in range(n):
        left = count[i] - stays[i]
        while left > 0:
            c, _ = _nearest(ruler, rows[i], lo, hi, mean, size, smallest, every, spot)
            records = min(left, smallest - size[c])
            if c < 0:
                c, _ = _nearest(ruler, rows[i], lo, hi, mean, size, no_limit, every, spot)
                records = left
            _add(ruler, rows, i, records, c, lo, hi, mean, size)
            moved_row[pieces], moved_to[pieces], moved[pieces] = i, c, records
            pieces += 1
            left -= records
    kept = np.flatnonzero(stays > 0)
    return (
        np.concatenate((kept.astype(np.int32), moved_row[:pieces])),
        np.concatenate((group[kept], moved_to[:pieces])),
        np.concatenate((stays[kept], moved[:pieces])),
    )
