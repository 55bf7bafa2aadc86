"""Short tours through points: the nearest next, then 2-opt and Or-opt with lists of near points."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.blocks import split
from tarnkappe.kernels.microaggregation.tiles import NONE, WIDTH, closed_up, drop, search, tiles_of

#: Records that Or-opt moves at once, at most, and what a move must gain so that rounding never goes round in circles.
_LONGEST = 3
_GAIN = 1e-9


@kernel
def nearest_next(points: Floats, start: int) -> Counts:
    """A walk through all points that always goes on to the nearest one it has not seen; of equals to the first."""
    n = points.shape[0]
    tour, seen = np.empty(n, np.int64), np.full(n, -1, np.int32)
    tiles = tiles_of(points, split(points, WIDTH, np.empty((0, 2))), np.empty(n, np.int32))
    near, gap = np.empty(1, np.int32), np.empty(1)
    at = start
    for step in range(n):
        tour[step] = at
        seen[at] = step
        drop(tiles, at)
        if 4 * (n - step) < 3 * tiles.number.size:  # close up
            tiles = closed_up(points, tiles, seen)
        search(tiles, points[at], near, gap, NONE)
        at = near[0]
    return tour


@helper
def _gap(points: Floats, a: int, b: int) -> float:
    """The distance of two points."""
    far = 0.0
    for j in range(points.shape[1]):
        far += (points[a, j] - points[b, j]) ** 2
    return float(np.sqrt(far))


@kernel
def _step(tour: Counts, place: Counts, a: int, way: int) -> int:
    """Who comes after a point, or before it (`way` -1)."""
    at = place[a] + way
    if at == tour.size:
        at = 0
    return int(tour[at])  # before the first comes the last: index -1


@helper
def _cross(tour: Counts, place: Counts, a: int, b: int, c: int, d: int) -> None:
    """Replace the edges a-b and c-d, which run in the same direction, by a-c and b-d."""
    n = tour.size
    if _step(tour, place, a, 1) != b:
        a, b, c, d = b, a, d, c
    first, last = place[b], place[c]
    inside = last - first + 1 if last >= first else last - first + 1 + n
    if 2 * inside > n:  # turning round the rest gives the same tour
        first, last, inside = place[d], place[a], n - inside
    for _ in range(inside // 2):
        p, q = tour[first], tour[last]
        tour[first], tour[last] = q, p
        place[q], place[p] = first, last
        first = first + 1 if first + 1 < n else 0
        last = last - 1 if last > 0 else n - 1


@helper
def _two_opt(points: Floats, near: Codes, tour: Counts, place: Counts, a: int, awake: Codes) -> bool:
    """Replace an edge of a point and another one by two that are shorter together, if there are such."""
    for way in (1, -1):
        b = _step(tour, place, a, way)
        old = _gap(points, a, b)
        for c in near[a]:
            new = _gap(points, a, c)
            if new >= old:
                break
            d = _step(tour, place, c, way)
            if c == b or d == a:
                continue
            if old + _gap(points, c, d) - new - _gap(points, b, d) > _GAIN:
                _cross(tour, place, a, b, c, d)
                awake[a] = awake[b] = awake[c] = awake[d] = 1
                return True
    return False


@helper
def _or_opt(points: Floats, near: Codes, tour: Counts, place: Counts, a: int, awake: Codes) -> bool:
    """Move a few points in a row, of which this is one end, to where a near one is, if that is shorter."""
    n = tour.size
    for way in (1, -1):
        end = a
        before = _step(tour, place, a, -way)
        for length in range(1, _LONGEST + 1):
            if length > 1:
                end = _step(tour, place, end, way)
            after = _step(tour, place, end, way)
            saved = _gap(points, before, a) + _gap(points, end, after) - _gap(points, before, after)
            if saved <= _GAIN:
                continue
            for c in near[a]:
                new = _gap(points, a, c)
                if new >= saved:
                    break
                steps = (place[c] - place[a]) * way
                if steps < 0:
                    steps += n
                if steps < length:  # one of those that move
                    continue
                for side in (way, -way):  # between c and the one after it, or the one before it
                    e = _step(tour, place, c, side)
                    if (c == before and e == a) or (c == after and e == end):
                        continue
                    if saved + _gap(points, c, e) - new - _gap(points, end, e) <= _GAIN:
                        continue
                    if side == way:  # before, after .. c, a .. end, e
                        _cross(tour, place, before, a, c, e)
                        _cross(tour, place, before, c, after, end)
                        _cross(tour, place, c, end, a, e)
                    else:  # before, after .. e, end .. a, c
                        _cross(tour, place, before, a, e, c)
                        _cross(tour, place, before, e, after, end)
                    awake[a] = awake[end] = awake[before] = awake[after] = awake[c] = awake[e] = 1
                    return True
    return False


@kernel
def shorten(points: Floats, near: Codes, tour: Counts) -> None:
    """Make a closed tour of at least 8 points shorter, in place, until no small change does."""
    n = tour.size
    place = np.empty(n, np.int64)
    for i in range(n):
        place[tour[i]] = i
    awake = np.ones(n, np.int32)  # a point sleeps until something changes beside it
    changed = True
    while changed:
        changed = False
        for a in range(n):
            while awake[a]:
                awake[a] = 0
                if _two_opt(points, near, tour, place, a, awake) or _or_opt(points, near, tour, place, a, awake):
                    awake[a] = 1
                    changed = True
