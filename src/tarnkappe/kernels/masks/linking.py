"""People and records side by side: which record is nearest, which ranks are near, which columns agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel

#: Distances that differ by less are the same.
_HAIR = 1e-12


@helper
def _distance(x: Floats, z: Floats, a: Codes, b: Codes, most: float) -> Any:
    """The squared distance of a person and a record; given up where it is larger than `most`.

    A missing number is one standard deviation away from any other, and nowhere from another missing one.
    """
    total = 0.0
    for j in range(x.size):
        d = x[j] - z[j]
        if np.isnan(d):
            d = 0.0 if np.isnan(x[j]) and np.isnan(z[j]) else 1.0
        total += d * d
        if total > most:
            return total
    for j in range(a.size):
        total += a[j] != b[j]
        if total > most:
            return total
    return total


@kernel
def rank_nearest(
    x: Floats, a: Codes, z: Floats, b: Codes, own: Counts, begin: int, end: int, beaten: Flags, ties: Counts
) -> None:
    """Whether another record is nearer to a person than their own, and how many are as near as it."""
    far = np.inf
    for i in range(begin, end):
        mine = _distance(x[i], z[own[i]], a[i], b[own[i]], far)
        same, nearer = 0, False
        for r in range(z.shape[0]):
            d = _distance(x[i], z[r], a[i], b[r], mine + _HAIR)
            if d < mine - _HAIR:
                nearer = True
                break
            same += d <= mine + _HAIR
        beaten[i], ties[i] = nearer, same


@kernel
def count_near_ranks(
    low: Floats,
    high: Floats,
    a: Codes,
    rank: Floats,
    b: Codes,
    own: Counts,
    begin: int,
    end: int,
    inside: Flags,
    n: Counts,
) -> None:
    """How many records are within a person's window of ranks in every column, and whether their own is one of them."""
    for i in range(begin, end):
        found = 0
        for r in range(rank.shape[0]):
            fits = True
            for j in range(rank.shape[1]):
                if not low[i, j] <= rank[r, j] <= high[i, j]:
                    fits = False
                    break
            if fits:
                for j in range(a.shape[1]):
                    if a[i, j] != b[r, j]:
                        fits = False
                        break
            if fits:
                found += 1
                if r == own[i]:
                    inside[i] = True
        n[i] = found


@helper
def _pattern(x: Floats, z: Floats, a: Codes, b: Codes, near: float) -> int:
    """In which columns a person and a record agree, one bit each."""
    bits = 0
    for j in range(x.size):
        if abs(x[j] - z[j]) <= near or (np.isnan(x[j]) and np.isnan(z[j])):
            bits |= 1 << j
    for j in range(a.size):
        if a[j] == b[j]:
            bits |= 1 << (x.size + j)
    return bits


@kernel
def count_agreements(x: Floats, a: Codes, z: Floats, b: Codes, near: float, patterns: Counts) -> None:
    """How often every pattern of agreement occurs among all pairs."""
    for i in range(x.shape[0]):
        for r in range(z.shape[0]):
            patterns[_pattern(x[i], z[r], a[i], b[r], near)] += 1


@kernel
def rank_likeliest(
    x: Floats,
    a: Codes,
    z: Floats,
    b: Codes,
    near: float,
    score: Floats,
    own: Counts,
    begin: int,
    end: int,
    beaten: Flags,
    ties: Counts,
) -> None:
    """Whether another record is likelier to be a person's than their own, and how many are as likely."""
    for i in range(begin, end):
        mine = score[_pattern(x[i], z[own[i]], a[i], b[own[i]], near)]
        same, likelier = 0, False
        for r in range(z.shape[0]):
            s = score[_pattern(x[i], z[r], a[i], b[r], near)]
            if s > mine + _HAIR:
                likelier = True
                break
            same += s >= mine - _HAIR
        beaten[i], ties[i] = likelier, same
