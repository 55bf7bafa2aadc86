"""How often words are repeated: thrown into partitions that a processor keeps near, and counted there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.kernels import kernel

Words = NDArray[np.uint64]

_MIX = np.uint64(0x9E3779B97F4A7C15)


@kernel
def weigh_words(words: Words, bits: int, sizes: Counts) -> None:
    """Add up how many words go into each partition, which some bits of a word decide."""
    shift = np.uint64(64 - bits)
    for i in range(words.size):
        sizes[(words[i] * _MIX) >> shift] += 1


@kernel
def deal_words(words: Words, bits: int, at: Counts, out: Words) -> None:
    """Copy every word to where its partition goes on, from ``at[partition]``, which moves."""
    shift = np.uint64(64 - bits)
    for i in range(words.size):
        partition = (words[i] * _MIX) >> shift
        out[at[partition]] = words[i]
        at[partition] += 1


@kernel
def count_partitions(
    words: Words, ends: Counts, first: int, after: int, slots: Words, times: NDArray[np.uint32], counted: Counts
) -> int:
    """Count how many different words of partitions occur once, twice, and so on.

    There are as many `slots`, a power of two, as `times`; what is at 0 of `counted` means nothing. Returns the first
    partition that has more different words than fit, or a word that occurs more often than `counted` has room for.
    """
    last, most = np.uint64(slots.size - 1), slots.size // 2
    for p in range(first, after):
        times[:] = 0
        n = 0
        for i in range(ends[p - 1] if p else 0, ends[p]):
            word = words[i]
            # Other bits than those that the partition has in common.
            at = (word ^ (word >> np.uint64(32))) & last
            while times[at] != 0 and slots[at] != word:
                at = (at + np.uint64(1)) & last
            often = times[at]
            n += often == 0
            if n > most or often + 1 >= counted.size:
                for j in range(times.size):
                    counted[times[j]] -= 1
                return p
            slots[at] = word
            times[at] = often + 1
            counted[often] -= 1
            counted[often + 1] += 1
    return after
