"""Groups of at least r points within a limit of one of them."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel


@helper
def _square(points: Floats, a: int, b: int) -> float:
    """The squared distance of two points."""
    out = 0.0
    for j in range(points.shape[1]):
        out += (points[a, j] - points[b, j]) ** 2
    return out


@kernel
def reach(points: Floats, r: int) -> float:
    """The least squared distance within which every point has r - 1 others."""
    n = points.shape[0]
    most = 0.0
    nearest = np.empty(r)
    for i in range(n):
        found = 0
        for other in range(n):  # as a rule there are enough within what others need
            if _square(points, i, other) <= most:
                found += 1
                if found == r:
                    break
        if found == r:
            continue
        found = 0
        for other in range(n):
            apart = _square(points, i, other)
            if found < r:
                found += 1
            elif apart >= nearest[r - 1]:
                continue
            at = found - 1
            while at > 0 and nearest[at - 1] > apart:
                nearest[at] = nearest[at - 1]
                at -= 1
            nearest[at] = apart
        most = nearest[r - 1]
    return most


@kernel
def _fetch(
    points: Floats, centres: Counts, owner: Codes, far: Floats, size: Counts, c: int, limit: float, r: int
) -> bool:
    """Get one more point for a centre, if need be through others that pass on theirs (an augmenting path)."""
    n_centres = size.size
    giver, taker = np.full(n_centres, -1), np.full(n_centres, -1)  # by which point a centre was reached, and from where
    apart = np.empty(n_centres)
    queue = np.empty(n_centres, np.int64)
    queue[0], taker[c] = c, c
    begin, end = 0, 1
    while begin < end:
        here = queue[begin]
        begin += 1
        new = end
        for i in range(owner.size):
            other = owner[i]
            if other in (c, here) or (taker[other] >= 0 and taker[other] != here):
                continue
            square = _square(points, i, centres[here])
            if square > limit or (giver[other] >= 0 and square >= apart[other]):
                continue
            if taker[other] < 0:
                queue[end] = other
                end += 1
            giver[other], taker[other], apart[other] = i, here, square
        last = -1
        for q in range(new, end):
            if size[queue[q]] > r and (last < 0 or apart[queue[q]] < apart[last]):
                last = queue[q]
        if last >= 0:
            size[last] -= 1
            size[c] += 1
            while last != c:
                i, to = giver[last], taker[last]
                owner[i], far[i] = to, apart[last]
                last = to
            return True
    return False


@kernel
def gather(points: Floats, limit: float, r: int) -> tuple[Codes, float]:
    """Groups of at least r points within the limit of a centre, and how far points are from it; -1 if there are none.

    Distances are squared. The first centre is the point farthest from the mean, the next always the one farthest from
    all centres, until none is beyond the limit. Points belong to the nearest centre, unless another lacks them.
    """
    n, d = points.shape
    mean, far = np.zeros(d), np.zeros(n)
    for i in range(n):
        for j in range(d):
            mean[j] += points[i, j] / n
    for i in range(n):
        for j in range(d):
            far[i] += (points[i, j] - mean[j]) ** 2
    owner = np.zeros(n, np.int32)
    centres = np.empty(n // r, np.int64)
    count = 0
    while True:
        farthest = 0
        for i in range(n):
            if far[i] > far[farthest]:
                farthest = i
        if count > 0 and far[farthest] <= limit:
            break
        if count == n // r:
            return owner, -1.0
        centres[count] = farthest
        for i in range(n):
            square = _square(points, i, farthest)
            if count == 0 or square < far[i]:
                owner[i], far[i] = count, square
        count += 1
    size = np.zeros(count, np.int64)
    for i in range(n):
        size[owner[i]] += 1
    for c in range(count):
        while size[c] < r:
            if not _fetch(points, centres, owner, far, size, c, limit, r):
                return owner, -1.0
    radius = 0.0
    for i in range(n):
        radius = max(radius, far[i])
    return owner, radius
