"""Points divided into blocks of about equal size that lie together in space."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels import helper, kernel


@kernel
def block_count(n: int, size: int) -> int:
    """Into how many blocks `split` divides n points: a power of two, so that none has more than `size`.

    Block b then has the places ``n * b // count`` to ``n * (b + 1) // count`` of the order.
    """
    count = 1
    while count * size < n:
        count *= 2
    return count


@kernel
def _divide(key: Floats, order: Codes, begin: int, end: int, middle: int) -> None:
    """Rearrange a range so that no key before the middle is larger than any after it."""
    low, high = begin, end - 1
    while low < high:
        pivot = key[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while key[i] < pivot:
                i += 1
            while key[j] > pivot:
                j -= 1
            if i <= j:
                key[i], key[j] = key[j], key[i]
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@helper
def _widest(points: Floats, order: Codes, begin: int, end: int) -> int:
    """The axis along which a range of points varies most."""
    d = points.shape[1]
    total, square = np.zeros(d), np.zeros(d)
    for i in range(begin, end):
        for j in range(d):
            # From the first point on, so that the squares lose no digits.
            x = points[order[i], j] - points[order[begin], j]
            total[j] += x
            square[j] += x * x
    axis, most = 0, -1.0
    for j in range(d):
        spread = square[j] - total[j] * total[j] / (end - begin)
        if spread > most:
            axis, most = j, spread
    return axis


@kernel
def split(points: Floats, size: int, picks: Floats) -> Codes:
    """The points block by block: divided at the median again and again, until no block has more than `size`."""
    return split_into(points, block_count(points.shape[0], size), picks)


@kernel
def split_into(points: Floats, count: int, picks: Floats) -> Codes:
    """The points in `count` blocks, one after the other, divided again and again in the middle of their blocks.

    The cuts are across the axis of greatest variance or, if there are `picks` (two random numbers from 0 to 1 for each
    cut), across the line through two points that these choose. Block b has the places ``n * b // count`` to
    ``n * (b + 1) // count`` of the order.
    """
    n, d = points.shape
    order, key = np.empty(n, np.int32), np.empty(n)
    for i in range(n):
        order[i] = i
    level = 1
    while level < count:
        for b in range(level):
            low, half, high = count * b // level, count * (2 * b + 1) // (2 * level), count * (b + 1) // level
            if half == low:  # a single block
                continue
            begin, end, middle = n * low // count, n * high // count, n * half // count
            if picks.shape[0] > 0:
                first = points[order[begin + int(picks[level + b, 0] * (end - begin))]]
                second = points[order[begin + int(picks[level + b, 1] * (end - begin))]]
                for i in range(begin, end):
                    key[i] = 0.0
                    for j in range(d):
                        key[i] += points[order[i], j] * (second[j] - first[j])
            else:
                axis = _widest(points, order, begin, end)
                for i in range(begin, end):
                    key[i] = points[order[i], axis]
            _divide(key, order, begin, end, middle)
        level *= 2
    return order
