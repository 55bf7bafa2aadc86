"""Keys that hold the numbers of texts in several columns, as `number_fields` packs them: counted and read off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Counts
from tarnkappe.kernels import kernel

Words = NDArray[np.uint64]


@kernel
def count_numbers(keys: Words, bits: int, counts: Counts) -> None:
    """Add to ``counts[j, number]`` how many keys have a number in column ``j``."""
    columns, per_word = counts.shape[0], 64 // bits
    mask, step = np.uint64((1 << bits) - 1), np.uint64(bits)
    for i in range(keys.shape[0]):
        for word in range(keys.shape[1]):
            key = keys[i, word]
            for j in range(min((word + 1) * per_word, columns) - 1, word * per_word - 1, -1):
                counts[j, key & mask] += 1
                key >>= step


@kernel
def look_up_numbers(
    keys: Words, word: int, shift: np.uint64, mask: np.uint64, table: NDArray[Any], out: NDArray[Any]
) -> None:
    """Write ``table[number]`` into ``out[i]`` for the number in a place of a word of key ``i``."""
    for i in range(keys.shape[0]):
        out[i] = table[(keys[i, word] >> shift) & mask]
