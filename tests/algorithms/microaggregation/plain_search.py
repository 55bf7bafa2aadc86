"""Moves between groups by their definition, and the best partition by trying all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from reference_points import squared_error

from tarnkappe.arrays import Codes, Floats


def moves(
    points: Floats, near: Codes, group: Codes, kind: Codes, i: int, sizes: tuple[int, int], reach: int
) -> Iterator[Codes]:
    """All partitions that a move beginning with point `i` leads to; swaps and cycles if all their steps gain."""
    least, most = sizes
    own, size = group[i], np.bincount(group)
    for g in {int(group[q]) for q in near[i]} - {int(own)}:
        if size[own] > least and size[g] < most:
            yield moved(group, (i, g))
        for j in np.flatnonzero((group == g) & (kind == kind[i])):
            first = replaced(points, group, j, i)
            if first < 0:
                yield moved(group, (i, g), (j, own))
            for h in {int(group[q]) for q in near[j, :reach]} - {int(own), g}:
                if size[own] > least and size[h] < most:
                    yield moved(group, (i, g), (j, h))
                for v in np.flatnonzero((group == h) & (kind == kind[i])) if first < 0 else ():
                    if first + replaced(points, group, v, j) < 0:
                        yield moved(group, (i, g), (j, h), (v, own))


def replaced(points: Floats, group: Codes, old: int, new: int) -> float:
    """The change of the squared error of a group if one of its points is replaced."""
    inside = np.flatnonzero(group == group[old])
    after = np.append(inside[inside != old], new)
    together = np.zeros(len(inside), np.int32)
    return squared_error(points[after], together) - squared_error(points[inside], together)


def moved(group: Codes, *steps: tuple[int, int]) -> Codes:
    """The groups after some points have gone to others."""
    out = group.copy()
    for i, g in steps:
        out[i] = g
    return out


def least_error(points: Floats, k: int) -> float:
    """The least squared error of groups of at least k points."""

    def best(left: tuple[int, ...]) -> float:
        if len(left) < k:
            return 0.0 if not left else np.inf
        found = np.inf
        for size in range(k, min(2 * k, len(left) + 1)):
            for others in combinations(left[1:], size - 1):
                own = [left[0], *others]
                rest = tuple(i for i in left if i not in own)
                if not rest or len(rest) >= k:
                    found = min(found, squared_error(points[own], np.zeros(size, np.int32)) + best(rest))
        return float(found)

    return best(tuple(range(len(points))))
