"""How many records of a group lie in a window of neighbouring codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]


@kernel
def fullest_windows(indptr: Ints, codes: Codes, counts: Ints, window_indptr: Ints, first: Codes, last: Codes) -> Ints:
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
