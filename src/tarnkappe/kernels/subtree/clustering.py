"""Cells and the centres of clusters: which centre is nearest, and how often each value occurs around it.

``codes[cell, j] + starts[j]`` is the *place* of a cell's value in column ``j``: the values of all columns are numbered
through.
"""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel


@kernel
def nearest_centres(codes: Codes, starts: Counts, apart: Floats, nearest: Codes, least: Floats) -> None:
    """For every cell its nearest centre, of equally near ones the first, and how far it is.

    ``apart[place, centre]`` are the distances of a column, which add up.
    """
    away = np.empty(apart.shape[1])
    for i in range(codes.shape[0]):
        away[:] = 0.0
        for j in range(codes.shape[1]):
            place = starts[j] + codes[i, j]
            for c in range(away.size):
                away[c] += apart[place, c]
        best = 0
        for c in range(1, away.size):
            if away[c] < away[best]:
                best = c
        nearest[i], least[i] = best, away[best]


@kernel
def count_values(codes: Codes, starts: Counts, cluster: Codes, count: Counts, often: Floats) -> None:
    """Add up in ``often[cluster, place]`` how many records of each cluster have each value."""
    for i in range(codes.shape[0]):
        for j in range(codes.shape[1]):
            often[cluster[i], starts[j] + codes[i, j]] += count[i]
