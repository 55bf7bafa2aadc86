"""Earth mover's distances in whole numbers of any size: exact, and for tables whose products 64 bits cannot hold.

The kernels of `tarnkappe.kernels.histograms` do the same, much faster and rounded, for tables of up to some billions of
records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts

#: Groups that are measured at a time: Python's own integers take much room.
_GROUPS = 1 << 14

#: The whole numbers by which fractions are exact: numerators and denominators.
Ratio = tuple[NDArray[Any], NDArray[Any]]

#: Measures groups by their runs of entries, the values and counts of these, and the sizes of the groups.
Distance = Callable[[Counts, Codes, NDArray[Any], NDArray[Any]], Ratio]


def exact_equal(indptr: Counts, codes: Codes, counts: Counts, size: Counts, table: Counts) -> Ratio:
    """What `emd_equal` computes.

    >>> all_alike = np.array([10**12])
    >>> work, whole = exact_equal(np.array([0, 1]), np.array([0]), all_alike, all_alike, np.array([10**12, 10**12]))
    >>> (work / whole).tolist()
    [0.5]
    """
    total, whole = int(table.sum()), table.astype(object)

    def measured(starts: Counts, codes: Codes, counts: NDArray[Any], size: NDArray[Any]) -> Ratio:
        excess = counts * total - whole[codes] * np.repeat(size, np.diff(starts))
        return np.add.reduceat(np.maximum(excess, 0), starts[:-1]), size * total

    return _in_parts(measured, indptr, codes, counts, size)


def exact_ordered(indptr: Counts, codes: Codes, counts: Counts, size: Counts, table: Counts) -> Ratio:
    """What `emd_ordered` computes."""
    total, whole, present = int(table.sum()), table.astype(object), np.flatnonzero(table)

    def measured(starts: Counts, codes: Codes, counts: NDArray[Any], size: NDArray[Any]) -> Ratio:
        group = np.repeat(np.arange(len(size)), np.diff(starts))
        by_code = np.argsort(codes, kind="stable")
        bounds = np.searchsorted(codes[by_code], np.arange(len(table) + 1))
        cumulative, work = np.zeros(len(size), object), np.zeros(len(size), object)
        for v in present[:-1]:
            cumulative = cumulative - whole[v] * size
            having = by_code[bounds[v] : bounds[v + 1]]
            cumulative[group[having]] += counts[having] * total
            work = work + np.abs(cumulative)
        return work, size * total * max(len(present) - 1, 1)

    return _in_parts(measured, indptr, codes, counts, size)


def exact_hierarchical(
    indptr: Counts,
    codes: Codes,
    counts: Counts,
    size: Counts,
    table: Counts,
    parent: Codes,
    leaf_node: Codes,
    height: Codes,
) -> Ratio:
    """What `emd_hierarchical` computes."""
    total, whole = int(table.sum()), table.astype(object)

    def measured(starts: Counts, codes: Codes, counts: NDArray[Any], size: NDArray[Any]) -> Ratio:
        group = np.repeat(np.arange(len(size)), np.diff(starts))
        extra, surplus, deficit = (np.zeros((len(parent), len(size)), object) for _ in range(3))
        extra[leaf_node] = -whole[:, None] * size
        extra[leaf_node[codes], group] += counts * total  # every value once per group
        work = np.zeros(len(size), object)
        for v in range(len(parent) - 1, -1, -1):  # children before parents
            work = work + int(height[v]) * np.minimum(surplus[v], deficit[v])
            if parent[v] >= 0:
                extra[parent[v]] += extra[v]
                surplus[parent[v]] += np.maximum(extra[v], 0)
                deficit[parent[v]] -= np.minimum(extra[v], 0)
        return work, size * total * max(int(height[0]), 1)

    return _in_parts(measured, indptr, codes, counts, size)


def _in_parts(measured: Distance, indptr: Counts, codes: Codes, counts: Counts, size: Counts) -> Ratio:
    work, whole = np.zeros(len(size), object), np.ones(len(size), object)
    for a in range(0, len(size), _GROUPS):
        b = min(a + _GROUPS, len(size))
        own = slice(indptr[a], indptr[b])
        starts = indptr[a : b + 1] - indptr[a]
        work[a:b], whole[a:b] = measured(starts, codes[own], counts[own].astype(object), size[a:b].astype(object))
    return work, whole
