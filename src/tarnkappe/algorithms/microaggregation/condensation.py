"""Condensation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.condensing import condense
from tarnkappe.kernels.points import group_means

#: Records that are grouped together; more in blocks.
_AT_ONCE = 16_384


@dataclass(frozen=True)
class Condensation(Microaggregation):
    r"""Form groups of a random record and the k - 1 nearest to it.

    Fewer than k records that are left over join the group with the nearest mean. Like all microaggregation, the groups
    publish their centres. Aggarwal and Yu keep the moments of each group instead and draw a new table from them, which
    `regenerate` does.

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


def regenerate(points: Floats, group: Codes, rng: np.random.Generator) -> Floats:
    r"""Draw a new table that has the mean and, on average, the covariance matrix of each group.

    With the eigenvectors :math:`v_j` of a group's covariance matrix and its eigenvalues :math:`\lambda_j`,

    .. math:: x = c(G) + \sum_j u_j v_j, \quad u_j \text{ uniform with width } \sqrt{12 \lambda_j}

    The draws of a group are centred, and stretched by as much as centring has narrowed them; so its mean is kept
    exactly. Every record of the new table is different: it is *not* k-anonymous in the sense of equal records, and one
    drawn by chance may come close to a real one. Values may leave the range of a column.
    """
    n_groups = int(group.max()) + 1
    means, size = group_means(points, group, n_groups)
    order = np.argsort(group, kind="stable")
    off = (points - means[group])[order]
    starts = np.cumsum(size) - size
    products = np.add.reduceat(off[:, :, None] * off[:, None, :], starts) / size[:, None, None]
    eigenvalues, axes = np.linalg.eigh(products)
    width = np.sqrt(12.0 * np.maximum(eigenvalues, 0.0))
    drawn = (rng.random(points.shape) - 0.5) * width[group]
    centred = drawn - group_means(drawn, group, n_groups)[0][group]
    stretched = centred * np.sqrt(size / np.maximum(size - 1, 1))[group, None]
    out: Floats = means[group] + np.einsum("nij,nj->ni", axes[group], stretched)
    return out
