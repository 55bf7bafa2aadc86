"""Cutting sorted numbers into groups of enough different ones that lie far enough apart."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Flags
from tarnkappe.kernels import kernel


@kernel
def cut_sorted(
    position: NDArray[Any], count: Counts, k: int, apart: Any, most: Any, start: Codes, shared: Flags
) -> bool:
    """Cut ascending numbers into runs of at least k, at least `apart` and at most `most` wide; False if that cannot be.

    Of all such cuts that with the least sum of widths, of these one with the most runs. A cut falls between two
    numbers, or goes through one that has at least two records: then both runs have it. ``start[j]`` becomes the first
    number of the run that ends with ``j``, if one does; ``shared[i]`` whether a run that begins with ``i`` shares it
    with the one before.

    The sum of widths is the whole width less the gaps that are cut. So the best way to begin a run at ``i`` is one
    figure, the best run that ends with ``j`` begins where that is largest in a window, and windows only move forward.
    """
    n = position.size
    saved = np.zeros(n, position.dtype)  # the gaps cut by the best way to end a run with j
    runs = np.full(n, -1, np.int64)  # and its runs; -1: there is none
    begun = np.zeros(n, position.dtype)  # the same of the best way to begin a run with i
    before = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)  # beginnings in the window, the best first, each better than all that come after it
    head, tail = 0, 0
    entered = 0  # beginnings that are near enough to have been in a window
    before[0] = 0
    for j in range(n):
        if j > 0 and runs[j - 1] >= 0:
            begun[j] = saved[j - 1] + (position[j] - position[j - 1])
            before[j] = runs[j - 1]
        while entered <= j - k + 1 and position[j] - position[entered] >= apart:
            i = entered
            entered += 1
            if before[i] < 0:
                continue
            while tail > head:
                last = queue[tail - 1]
                if begun[last] > begun[i] or (begun[last] == begun[i] and before[last] > before[i]):
                    break
                tail -= 1
            queue[tail] = i
            tail += 1
        while tail > head and position[j] - position[queue[head]] > most:
            head += 1
        if tail == head:
            continue
        i = queue[head]
        start[j] = i
        saved[j] = begun[i]
        runs[j] = before[i] + 1
        # Going on with the same number cuts no gap, but it may be the only way, or make more runs.
        better = before[j] < 0 or saved[j] > begun[j] or (saved[j] == begun[j] and runs[j] > before[j])
        if better and count[j] >= 2 and i < j:
            begun[j], before[j], shared[j] = saved[j], runs[j], True
    return bool(runs[n - 1] >= 0)


@kernel
def last_of_runs(start: Codes, shared: Flags) -> Counts:
    """The last number of every run that `cut_sorted` found, in order."""
    out = np.empty(start.size, np.int64)
    j, at = start.size - 1, start.size
    while j >= 0:
        at -= 1
        out[at] = j
        i = start[j]
        j = i if shared[i] else i - 1
    return out[at:].copy()
