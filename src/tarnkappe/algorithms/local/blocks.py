"""Parts of a pool that are grouped apart, side by side: what is quadratic in a part is linear in the table."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tarnkappe.algorithms.local.pool import Pool
from tarnkappe.algorithms.shards import Shard, Shards, joined
from tarnkappe.arrays import Codes
from tarnkappe.groups import Grouping
from tarnkappe.threads import map_threads


def along_the_curve(pool: Pool, cells: int) -> tuple[Codes, int]:
    """The block of every cell, and the number of blocks: neighbours on a curve, at most so many cells each.

    Up to that many cells are one block; then blocks become more, not larger.
    """
    n = pool.tally.n_cells
    n_blocks = -(-n // cells)
    block = np.empty(n, np.int32)
    block[pool.orders[0]] = np.arange(n) * n_blocks // n
    return block, n_blocks


def grouped_apart(pool: Pool, part: Codes, n_parts: int, group: Callable[[Pool], Grouping]) -> Grouping:
    """The groups that are made of each part of the cells by itself."""
    whole = Shards((Shard(pool.tally, np.arange(pool.tally.n_cells, dtype=np.int32)),))
    parts = whole.exchange(lambda _: part, n_parts)
    return joined(map_threads(lambda own: group(pool.part(own.tally)), parts), parts)
