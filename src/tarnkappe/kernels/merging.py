"""Groups that are too weak, merged with their partners."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Counts, Flags
from tarnkappe.kernels import kernel


def pair_off(wanted: Counts, partner: Counts, cheapest: Counts, satisfied: Flags, into: Counts) -> None:
    """Merge groups with their partners, cheapest first: fill in the group that each group becomes part of.

    A group that is too weak is merged once and then looked at again; a satisfied one may take in several.
    """
    into[:] = np.arange(len(into))
    _merge(wanted, partner, cheapest, satisfied, into, np.zeros(len(into), np.bool_))


@kernel
def _merge(wanted: Counts, partner: Counts, cheapest: Counts, satisfied: Flags, into: Counts, merged: Flags) -> None:
    """Do what `pair_off` does; everybody is in a group of its own, and nobody `merged` before."""
    for w in cheapest:
        a, b = wanted[w], partner[w]
        if b < 0 or merged[a] or (merged[b] and not satisfied[b]):
            continue
        into[a] = b
        merged[a] = merged[b] = True
