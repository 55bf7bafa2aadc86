"""Ranges of a line that can be grouped apart from each other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tarnkappe.arrays import Counts


def even_ranges(records: Counts, parts: int) -> Counts:
    """The bounds of ranges of items with about the same number of records each, none of them empty.

    >>> even_ranges(np.array([3, 1, 1, 1, 3, 3]), 3).tolist()
    [0, 2, 5, 6]
    """
    ends = np.cumsum(records)
    wanted = np.arange(1, parts) * (int(ends[-1]) / parts)
    inner = np.searchsorted(ends, wanted) + 1
    bounds: Counts = np.unique(np.concatenate([[0], np.minimum(inner, len(records)), [len(records)]]))
    return bounds


def merge_ineligible(histograms: Counts, eligible: Callable[[Counts], bool]) -> list[tuple[int, int]]:
    """Join neighbouring ranges until each is eligible; the result are ranges of the ranges given.

    Row ``i`` of `histograms` counts the values in range ``i``. Ranges are looked at in order. One that is not eligible
    takes in the one before, which is known to be, then the one after, and so on in turns; at an end of the line it has
    no choice. In the worst case all become one, eligible or not.

    >>> two_different = lambda counts: 2 * counts.max() <= counts.sum()
    >>> merge_ineligible(np.array([[1, 1], [2, 0], [0, 2], [1, 1]]), two_different)
    [(0, 3), (3, 4)]
    """
    ranges = [(i, i + 1) for i in range(len(histograms))]
    counts = list(histograms)
    at, before = 0, True
    while at < len(ranges):
        if len(ranges) == 1 or eligible(counts[at]):
            at, before = at + 1, True
            continue
        if at == len(ranges) - 1 or (before and at > 0):
            at -= 1
        ranges[at : at + 2] = [(ranges[at][0], ranges[at + 1][1])]
        counts[at : at + 2] = [counts[at] + counts[at + 1]]
        before = not before
    return ranges
