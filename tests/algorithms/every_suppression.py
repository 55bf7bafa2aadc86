"""All ways to give up cells of a tiny table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np


def partitions(items: list[int], k: int) -> Iterator[list[list[int]]]:
    """All ways to divide items into blocks of at least k."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for n in range(k - 1, len(rest) + 1):
        for others in combinations(rest, n):
            left = [i for i in rest if i not in others]
            for more in partitions(left, k):
                yield [[first, *others], *more]


def least(codes: np.ndarray, weights: list[float], k: int, budget: int = 0) -> float:
    """By brute force: blocks of at least k records give up the columns in which they differ."""
    best, n = np.inf, len(codes)
    for left_out in range(budget + 1):
        for gone in combinations(range(n), left_out):
            kept = [i for i in range(n) if i not in gone]
            if not kept:
                continue
            for blocks in partitions(kept, k):
                weight = sum(
                    len(b) * w for b in blocks for j, w in enumerate(weights) if len(set(codes[b, j].tolist())) > 1
                )
                best = min(best, weight + left_out * sum(weights))
    return best
