"""Grouping in blocks that lie together in space, where all records at once would take too long."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.microaggregation.blocks import block_count, split, split_into
from tarnkappe.kernels.microaggregation.mdav import mdav_blocks
from tarnkappe.kernels.microaggregation.tiles import WIDTH
from tarnkappe.threads import share_out

#: Records of a block that MDAV groups, unless told otherwise.
BLOCK = 8192


def blocks_of(points: Floats, k: int, at_once: int) -> list[Counts]:
    """The points in as few blocks of about equal size as have at most `at_once` each, and at least k.

    They are cut across the axis along which they vary most, into two parts of as many blocks or nearly so. Up to
    `at_once` points there is one block. Powers of two would make blocks of half the size after a step of the table's
    size, and work that grows with the square of it would jump.
    """
    n = len(points)
    count = -(-n // max(at_once, 2 * k))
    if count == 1:
        return [np.arange(n)]
    order = split_into(points, count, np.empty((0, 2)))
    return [np.sort(order[a:b]) for a, b in pairwise(n * np.arange(count + 1) // count)]


def joined(n: int, blocks: list[Counts], parts: list[Codes]) -> Codes:
    """The groups of blocks, numbered on from block to block."""
    group, held = np.empty(n, np.int32), 0
    for own, part in zip(blocks, parts, strict=True):
        group[own] = held + part
        held += int(part.max()) + 1
    return group


def in_halves(points: Floats, at_once: int = BLOCK) -> Codes:
    """The order of points in which blocks of any number of them lie together: halves of halves."""
    return split(points, min(WIDTH, at_once), np.empty((0, 2)))


def mdav_in_blocks(points: Floats, k: int, at_once: int = BLOCK, order: Codes | None = None) -> Codes:
    """Groups of k by MDAV in every block, its last of up to 2k - 1; in an `order` that is known, or in halves."""
    n = len(points)
    size = max(at_once, 2 * k)  # halves of more than 2k points have at least k
    count = block_count(n, size)
    order = in_halves(points, size) if order is None else order
    group, place = np.empty(n, np.int32), np.empty(n, np.int32)
    bounds = n * np.arange(count + 1) // count
    share_out(lambda a, b: mdav_blocks(points, order, count, k, a, b, group, place), bounds * size)
    held = np.maximum(np.diff(bounds) // k, 1)
    before = np.repeat(np.cumsum(held) - held, np.diff(bounds))
    group[order] += before.astype(np.int32)
    return group
