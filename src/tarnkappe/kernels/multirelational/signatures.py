"""Hashes of rows and of sets of rows, to find persons who look the same in several tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.kernels import helper, kernel

Hashes = NDArray[np.uint64]


@helper
def _scramble(x: np.uint64) -> np.uint64:
    """A one-to-one map of 64 bits in which every bit of the input moves about half of the output (splitmix64)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def mix_column(hashes: Hashes, node: Codes, codes: Codes) -> None:
    """Take one more column into the hash of every row, in place: row ``i`` shows ``node[codes[i]]``."""
    for i in range(hashes.size):
        hashes[i] = _scramble(hashes[i] + np.uint64(0x9E3779B97F4A7C15) * np.uint64(node[codes[i]] + 1))


@kernel
def add_rows(hashes: Hashes, owner: Codes, rows: Codes, n_owners: int) -> Hashes:
    """Per owner a hash of its rows among `rows`: a sum, so that their order does not matter but their number does."""
    out = np.zeros(n_owners, np.uint64)
    for i in rows:
        out[owner[i]] += _scramble(hashes[i] + np.uint64(1))
    return out


@kernel
def mix_hashes(hashes: Hashes, more: Hashes) -> None:
    """Take another hash of everybody into the first, in place."""
    for i in range(hashes.size):
        hashes[i] = _scramble(hashes[i] + np.uint64(0x9E3779B97F4A7C15) * (more[i] | np.uint64(1)) + more[i])
