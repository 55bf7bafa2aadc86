"""Groups that are too weak, merged with their partners."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.kernels import kernel


@kernel
def pair_off(wanted: Counts, partner: Counts, cheapest: Counts, satisfied: NDArray[np.bool_], into: Counts) -> None:
    """Merge groups with their partners, cheapest first: fill in the group that each group becomes part of.

    A group that is too weak is merged once and then looked at again; a satisfied one may take in several.
    """
    merged = np.zeros(into.size, np.bool_)
    for g in range(into.size):  # np.arange would take three seconds to compile
        into[g] = g
    for w in cheapest:
        a, b = wanted[w], partner[w]
        if b < 0 or merged[a] or (merged[b] and not satisfied[b]):
            continue
        into[a] = b
        merged[a] = merged[b] = True
