"""Swap refinement: a last step for any local recoding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.steps.units import ruler_of, secret_values, tidy
from tarnkappe.arrays import Codes
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.hilbert import hilbert_keys
from tarnkappe.kernels.local.swapping import swap_pass
from tarnkappe.tally import Tally

#: How far along the curve a partner is looked for.
WINDOW = 32


def swap_refine(tally: Tally, grouping: Grouping, goal: Goal, passes: int, window: int = WINDOW) -> Grouping:
    r"""Exchange records between groups as long as their boxes shrink, without touching what criteria look at.

    Two records may change places if they have the same value in every column that the goal looks at. All groups then
    keep their size and their sensitive values, so every criterion about groups has exactly the same level as before. An
    exchange between :math:`G` and :math:`H` is made if

    .. math:: |G|\,w(G) + |H|\,w(H)

    falls, where :math:`w` is the summed weighted width of a box (`Domain.widths`). Records of equal values are lined
    up along a Hilbert curve through the quasi-identifiers, and each is compared with the next `window` ones, taking the
    best exchange. Every pass turns the curve, so that other records become neighbours. The loss never rises.
    O(passes · pieces · window · d); does nothing to groupings with fixed boxes, and ends when a pass finds no exchange.
    """
    if grouping.fixed is not None or passes == 0 or grouping.n_groups < 2:
        return grouping
    ruler = ruler_of(tally.quasi_domains)
    value, _ = secret_values(tally, goal)
    for turn in range(passes):
        kept, out = np.flatnonzero(grouping.group >= 0), np.flatnonzero(grouping.group < 0)
        order = kept[np.lexsort((curve(tally, turn)[grouping.cell[kept]], value[grouping.cell[kept]]))]
        room = np.concatenate([order, order])  # an exchange may divide a piece
        cell, group, quota = grouping.cell[room], grouping.group[room], grouping.quota[room]
        rows, values = tally.quasi[cell], value[cell]
        pieces, swaps = swap_pass(ruler, rows, values, cell, quota, group, len(order), grouping.n_groups, window)
        if swaps == 0:
            break
        grouping = tidy(
            np.concatenate([cell[:pieces], grouping.cell[out]]),
            np.concatenate([group[:pieces], grouping.group[out]]),
            np.concatenate([quota[:pieces], grouping.quota[out]]),
            grouping.n_groups,
        )
    return grouping


def curve(tally: Tally, turn: int = 0) -> NDArray[np.uint64]:
    """Where each cell lies on a Hilbert curve; columns are stretched to the whole grid and rotated by `turn`."""
    q = min(tally.quasi.shape[1], 63)
    bits = min(8, 63 // q)
    grid = np.empty((tally.n_cells, q), np.uint32)
    for j in range(q):
        at = (j + turn) % tally.quasi.shape[1]
        codes: Codes = tally.quasi[:, at]
        grid[:, j] = codes * ((1 << bits) - 1) // max(tally.quasi_domains[at].size - 1, 1)
    return hilbert_keys(grid, bits)
