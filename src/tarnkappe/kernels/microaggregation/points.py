"""Groups of points: their means and their squared errors."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel


@kernel
def group_means(points: Floats, group: Codes, n_groups: int) -> tuple[Floats, Counts]:
    """The mean and the size of every group."""
    means = np.zeros((n_groups, points.shape[1]))
    size = np.zeros(n_groups, np.int64)
    for i in range(points.shape[0]):
        g = group[i]
        size[g] += 1
        for j in range(points.shape[1]):
            means[g, j] += points[i, j]
    for g in range(n_groups):
        if size[g] > 0:
            for j in range(points.shape[1]):
                means[g, j] /= size[g]
    return means, size


@kernel
def squared_errors(points: Floats, group: Codes, means: Floats) -> Floats:
    """The sum of squared distances from its mean, of every group."""
    out = np.zeros(means.shape[0])
    for i in range(points.shape[0]):
        g = group[i]
        for j in range(points.shape[1]):
            out[g] += (points[i, j] - means[g, j]) ** 2
    return out


@kernel
def round_evenly(mean: Floats, size: Floats) -> Floats:
    """Whole numbers next to the means; what one group gains by rounding the next ones give back."""
    out = np.empty_like(mean)
    gained = 0.0
    for g in range(mean.size):
        low = np.floor(mean[g])
        if mean[g] == low or np.isnan(mean[g]):
            out[g] = mean[g]
            continue
        down, up = (low - mean[g]) * size[g], (low + 1.0 - mean[g]) * size[g]
        if abs(gained + up) < abs(gained + down):
            out[g] = low + 1.0
            gained += up
        else:
            out[g] = low
            gained += down
    return out
