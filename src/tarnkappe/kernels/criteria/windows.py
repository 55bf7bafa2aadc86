"""How many records of a group lie in a window of neighbouring codes."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def fullest_windows(
    indptr: Counts, codes: Codes, counts: Counts, window_indptr: Counts, first: Codes, last: Codes
) -> Counts:
    """Per group, the records in the fullest of its windows.

    The histogram of group ``g`` is ``indptr[g] .. indptr[g+1]``, codes ascending. Its windows are
    ``window_indptr[g] .. window_indptr[g+1]``; window ``w`` holds the codes ``first[w] .. last[w]``, none if
    ``first[w] > last[w]``.
    """
    before = np.zeros(counts.size + 1, np.int64)
    for j in range(counts.size):
        before[j + 1] = before[j] + counts[j]
    out = np.zeros(indptr.size - 1, np.int64)
    for g in range(out.size):
        begin = indptr[g]
        own = codes[begin : indptr[g + 1]]
        for w in range(window_indptr[g], window_indptr[g + 1]):
            if first[w] > last[w]:
                continue
            low = begin + np.searchsorted(own, first[w])
            high = begin + np.searchsorted(own, last[w], side="right")
            out[g] = max(out[g], before[high] - before[low])
    return out
