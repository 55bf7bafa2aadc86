"""Numbers in intervals that enough records share."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def bins_of_counts(counts: Counts, least: int, wanted: int) -> Codes:
    """The interval of every value in ascending order: each holds `least` records or more, most about `wanted`.

    A value that `wanted` records have stands alone, so that what many people share (no gain at all) stays exact.
    """
    n = counts.shape[0]
    out = np.zeros(n, np.int32)
    current, held = 0, 0
    for v in range(n):
        alone = counts[v] >= wanted
        if held >= wanted or (held >= least and alone):
            current, held = current + 1, 0
        out[v] = current
        held += counts[v]
        if alone and held == counts[v]:  # nothing joins what stands alone
            held = max(held, wanted)
    if held < least and current > 0:  # too few are left over at the end
        for v in range(n - 1, -1, -1):
            if out[v] != current:
                break
            out[v] = current - 1
    return out
