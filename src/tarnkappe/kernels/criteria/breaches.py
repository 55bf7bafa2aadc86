"""How likely it is that somebody has a value under the node that guards them."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import kernel


@kernel
def worst_breaches(
    indptr: Counts,
    lo: Codes,
    hi: Codes,
    covered: Counts,
    counts: Counts,
    people: Counts,
    guard_indptr: Counts,
    first: Codes,
    last: Codes,
    guarded: Counts,
    several: bool,
) -> Floats:
    """Per group, the largest chance that one of its people has a value under their guarding node.

    Entry ``j`` of the histogram of group ``g`` (``indptr[g] .. indptr[g+1]``) are ``counts[j]`` records that publish
    the leaves ``lo[j] .. hi[j]``, which stand for ``covered[j]`` values. Guard ``i`` of the group
    (``guard_indptr[g] .. guard_indptr[g+1]``) is the window ``first[i] .. last[i]`` of ``guarded[i]`` values, none if
    ``first[i] > last[i]``. A record lies under it for certain, or with the share of its values that do.

    Each of the ``people[g]`` has one record, or anybody may have `several`: then a person has none of those under the
    node with the product of the chances to have none of them.
    """
    out = np.zeros(indptr.size - 1)
    for g in range(out.size):
        for i in range(guard_indptr[g], guard_indptr[g + 1]):
            if first[i] > last[i]:
                continue
            under, spared = 0.0, 0.0
            for j in range(indptr[g], indptr[g + 1]):
                if lo[j] >= first[i] and hi[j] <= last[i]:
                    share = 1.0
                elif lo[j] <= first[i] and hi[j] >= last[i]:
                    share = guarded[i] / covered[j]
                else:
                    continue
                if several:
                    spared += counts[j] * np.log1p(-share / people[g]) if share < people[g] else -np.inf
                else:
                    under += counts[j] * share
            chance = -np.expm1(spared) if several else under / people[g]
            out[g] = max(out[g], chance)
    return out
