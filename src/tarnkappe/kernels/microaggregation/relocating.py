"""Local search on groups of points: points change places, or a group dissolves, wherever the squared error falls.

Moving point x from group A (of a points, mean m_A) to B changes the squared error by

    b / (b + 1) * |x - m_B|^2  -  a / (a - 1) * |x - m_A|^2

and putting x in the place of y in B by |x - m_B|^2 - |y - m_B|^2 - |x - y|^2 / b. All moves are made of these two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels import helper, kernel

#: Gains below this are rounding.
LEAST_GAIN = 1e-10

#: Groups of so many points hardly change by one more or less: only some of their points are looked at again.
LARGE = 32

#: How far the points of a group are from its mean is found again after every move if they are so many at most.
MOST_MEASURED = 512

#: A point looks at so many points of a group at most to find one that would give way; others look at the others.
MOST_LOOKED_AT = 64


class Partition(NamedTuple):
    """Groups of points, which kernels change in place; a group without points is free.

    A group that gives a point away keeps `sizes[0]`, one that takes a point in has at most `sizes[1]`. Points change
    places only with points of the same `kind`. Coordinates come in fours. The points of group ``g`` are listed in
    `members` from ``start[g]`` on, `place` says where a point stands among them. `near` are the nearest points of each
    point, `far` is its squared distance from the mean of its group.

    Once a group of many points has changed, its distances are no longer `measured`, but found where they are asked for.
    """

    points: Floats
    near: Codes
    kind: Codes
    sizes: Counts
    group: Codes
    place: Codes
    start: Counts
    members: Codes
    size: Counts
    mean: Floats
    far: Floats
    measured: NDArray[np.bool_]


class Scratch(NamedTuple):
    """What a search remembers: points to look at, groups already seen, and groups as they were when it began.

    `now` holds the first place and the length of the ring `queue`, the number of the last look, the number of the
    journal, and how many groups are in it. These are the first of `changed`; their `saved` is the journal's number.
    """

    queue: Codes
    queued: NDArray[np.bool_]
    now: Counts
    seen: Counts
    saved: Counts
    changed: Codes
    old_size: Counts
    old_members: Codes
    old_mean: Floats


@kernel
def apart(a: Floats, i: int, b: Floats, j: int) -> float:
    """The squared distance of row `i` of one array from row `j` of the other, summed in fours."""
    s0 = s1 = s2 = s3 = 0.0
    for t in range(0, a.shape[1], 4):
        e0, e1, e2, e3 = (
            a[i, t] - b[j, t],
            a[i, t + 1] - b[j, t + 1],
            a[i, t + 2] - b[j, t + 2],
            a[i, t + 3] - b[j, t + 3],
        )
        s0 += e0 * e0
        s1 += e1 * e1
        s2 += e2 * e2
        s3 += e3 * e3
    return (s0 + s1) + (s2 + s3)


@kernel
def measure(p: Partition, g: int) -> None:
    """Find how far the points of a group are from their mean, unless they are many."""
    p.measured[g] = p.size[g] <= MOST_MEASURED
    if not p.measured[g]:
        return
    for s in range(p.start[g], p.start[g] + p.size[g]):
        i = p.members[s]
        p.far[i] = apart(p.points, i, p.mean, g)


@kernel
def squared_error(p: Partition, g: int) -> float:
    """The sum of squared distances of the points of a group from their mean."""
    total = 0.0
    for s in range(p.start[g], p.start[g] + p.size[g]):
        i = p.members[s]
        total += p.far[i] if p.measured[g] else apart(p.points, i, p.mean, g)
    return total


@kernel
def save(p: Partition, w: Scratch, g: int) -> None:
    """Keep a group as it is in the journal, unless it is there already."""
    if w.saved[g] == w.now[3]:
        return
    w.saved[g] = w.now[3]
    w.changed[w.now[4]] = g
    w.now[4] += 1
    w.old_size[g] = p.size[g]
    for s in range(p.start[g], p.start[g] + p.size[g]):
        w.old_members[s] = p.members[s]
    for t in range(p.mean.shape[1]):
        w.old_mean[g, t] = p.mean[g, t]


@kernel
def undo(p: Partition, w: Scratch) -> None:
    """Make all groups of the journal what they were."""
    for e in range(w.now[4]):
        g = w.changed[e]
        p.size[g] = w.old_size[g]
        for s in range(p.size[g]):
            i = w.old_members[p.start[g] + s]
            p.members[p.start[g] + s] = i
            p.group[i] = g
            p.place[i] = s
        for t in range(p.mean.shape[1]):
            p.mean[g, t] = w.old_mean[g, t]
        measure(p, g)


@kernel
def leave(p: Partition, i: int) -> None:
    """Take a point out of its group."""
    g = p.group[i]
    last = p.size[g] - 1
    other = p.members[p.start[g] + last]
    p.members[p.start[g] + p.place[i]] = other
    p.place[other] = p.place[i]
    p.size[g] = last
    if last > 0:
        for t in range(p.mean.shape[1]):
            p.mean[g, t] += (p.mean[g, t] - p.points[i, t]) / last


@kernel
def enter(p: Partition, i: int, g: int) -> None:
    """Put a point without a group into one."""
    s = p.size[g]
    p.members[p.start[g] + s] = i
    p.group[i] = g
    p.place[i] = s
    p.size[g] = s + 1
    for t in range(p.mean.shape[1]):
        old = p.mean[g, t] if s > 0 else 0.0
        p.mean[g, t] = old + (p.points[i, t] - old) / (s + 1)


@kernel
def look_at(p: Partition, w: Scratch, g: int) -> None:
    """Measure a group that has changed, and put its points, of a large group some of them, into the queue."""
    measure(p, g)
    for s in range(p.start[g], p.start[g] + p.size[g], 1 + p.size[g] // LARGE):
        i = p.members[s]
        if not w.queued[i]:
            w.queued[i] = True
            end = w.now[0] + w.now[1]
            w.queue[end if end < w.queue.size else end - w.queue.size] = i
            w.now[1] += 1


@helper
def _best_home(p: Partition, i: int) -> tuple[int, float]:
    """The group, of the near points, that takes in a point at the least cost, and the cost; -1 if none may."""
    own, best, least = p.group[i], -1, np.inf
    last = own
    for q in range(p.near.shape[1]):
        g = p.group[p.near[i, q]]
        if g in (last, own) or p.size[g] >= p.sizes[1]:
            continue
        last = g
        cost = p.size[g] / (p.size[g] + 1) * apart(p.points, i, p.mean, g)
        if cost < least:
            best, least = g, cost
    return best, least


@helper
def _dissolve(p: Partition, w: Scratch, g: int) -> float:
    """Send all points of a group elsewhere if that makes the squared error fall; by how much it falls, as a change."""
    worth = squared_error(p, g)
    rise = 0.0
    for s in range(p.start[g], p.start[g] + p.size[g]):
        rise += _best_home(p, p.members[s])[1]
        if rise >= worth:
            return 0.0
    save(p, w, g)
    points = p.members[p.start[g] : p.start[g] + p.size[g]].copy()
    rise, done = 0.0, 0
    for i in points:
        home, cost = _best_home(p, i)
        rise += cost
        if rise >= worth - LEAST_GAIN:
            break
        save(p, w, home)
        leave(p, i)
        enter(p, i, home)
        done += 1
    if done < points.size:
        for i in points[:done]:
            leave(p, i)
            enter(p, i, g)
        return 0.0
    for i in points:
        look_at(p, w, p.group[i])
    return rise - worth


@helper
def _seek(p: Partition, w: Scratch, i: int, reach: int) -> tuple[float, int, int, int, int]:
    """A good move that begins with a point: by how much the squared error changes, and where points go.

    The point moves to a near group; or takes the place of a point there, which moves to the first group (a swap), to
    a third one (a chain), or takes the place of a point there, which moves to the first group (a cycle of three).
    Every cycle that gains has a beginning whose steps gain too, so others are not followed, nor any whose steps gain
    less than the best move so far. The third group is that of one of the next `reach` points.

    Returned are the change, the second group (-1: no move gains), the point there that gives way (-1: none), the group
    it moves to, and the point that gives way there (-1: none).
    """
    x, mean, far, group, kind = p.points, p.mean, p.far, p.group, p.kind
    own, least, most = group[i], p.sizes[0], p.sizes[1]
    a, out = p.size[own], far[i] if p.measured[own] else apart(x, i, mean, own)
    may_leave = a > least
    free = a / (a - 1) * out if may_leave else 0.0
    best, g1, j1, g2, j2 = -LEAST_GAIN, -1, -1, -1, -1
    w.now[2] += 1
    look = w.now[2]
    w.seen[own] = look
    for q in range(p.near.shape[1]):
        g = group[p.near[i, q]]
        if w.seen[g] == look:
            continue
        w.seen[g] = look
        b = p.size[g]
        to = apart(x, i, mean, g)
        if may_leave and b < most:
            change = b / (b + 1) * to - free
            if change < best:
                best, g1, j1, g2, j2 = change, g, -1, -1, -1
        step = 1 + b // MOST_LOOKED_AT
        for s in range(p.start[g] + i % step, p.start[g] + b, step):
            j = p.members[s]
            if kind[j] != kind[i]:
                continue
            distance = far[j] if p.measured[g] else apart(x, j, mean, g)
            first = to - distance
            if first - 2.0 * (to + distance) / b - free >= best:  # |x - y|^2 is at most twice both
                continue
            between = apart(x, i, x, j)
            first -= between / b
            if first < best:
                change = first + apart(x, j, mean, own) - out - between / a
                if change < best:
                    best, g1, j1, g2, j2 = change, g, j, own, -1
            if first - free >= best:
                continue
            last = g
            for r in range(reach):
                h = group[p.near[j, r]]
                if h in (last, g, own):
                    continue
                last = h
                c = p.size[h]
                into = apart(x, j, mean, h)
                if may_leave and c < most:
                    change = first - free + c / (c + 1) * into
                    if change < best:
                        best, g1, j1, g2, j2 = change, g, j, h, -1
                if first >= best:
                    continue
                stride = 1 + c // MOST_LOOKED_AT
                for u in range(p.start[h] + i % stride, p.start[h] + c, stride):
                    v = p.members[u]
                    if kind[v] != kind[i]:
                        continue
                    distance = far[v] if p.measured[h] else apart(x, v, mean, h)
                    second = first + into - distance
                    if second - 2.0 * (into + distance) / c >= best:
                        continue
                    second -= apart(x, j, x, v) / c
                    if second < best:
                        change = second + apart(x, v, mean, own) - out - apart(x, i, x, v) / a
                        if change < best:
                            best, g1, j1, g2, j2 = change, g, j, h, v
    return best, g1, j1, g2, j2


@helper
def _improve(p: Partition, w: Scratch, i: int, reach: int) -> float:
    """Make a good move that begins with a point; the change of the squared error, 0 if none makes it fall."""
    change, g1, j1, g2, j2 = _seek(p, w, i, reach)
    if g1 < 0:
        return 0.0
    own = p.group[i]
    save(p, w, own)
    save(p, w, g1)
    leave(p, i)  # all leave before any enters: groups may be full
    if j1 >= 0:
        save(p, w, g2)
        leave(p, j1)
        if j2 >= 0:
            leave(p, j2)
            enter(p, j2, own)
        enter(p, j1, g2)
        look_at(p, w, g2)
    enter(p, i, g1)
    look_at(p, w, own)
    look_at(p, w, g1)
    return change


@kernel
def descend(p: Partition, w: Scratch, reach: int) -> float:
    """Improve the points in the queue, and all whose groups change, until nothing helps; the change of the error."""
    change = 0.0
    while w.now[1] > 0:
        i = w.queue[w.now[0]]
        w.now[0] += 1
        if w.now[0] == w.queue.size:
            w.now[0] = 0
        w.now[1] -= 1
        w.queued[i] = False
        change += _improve(p, w, i, reach)
        if p.place[i] == 0:
            change += _dissolve(p, w, p.group[i])
    return change


@kernel
def offers(p: Partition, w: Scratch, change: Floats, home: Codes, partner: Codes) -> None:
    """A good move of every point to another group, alone or in exchange for a partner (-1: none); -1: it stays."""
    for i in range(p.group.size):
        change[i], home[i], partner[i], _, _ = _seek(p, w, i, 0)


@kernel
def choose_moves(group: Codes, home: Codes, partner: Codes, found: Counts, most: Counts) -> NDArray[np.bool_]:
    """Which of the moves that were `found`, best first, are made: so many as both groups that they change make at most.

    A group that makes one move makes its best or none; others go on to the next best. No point moves twice.
    """
    chosen, left, busy = np.zeros(found.size, np.bool_), most.copy(), np.zeros(group.size, np.bool_)
    for f in range(found.size):
        i = found[f]
        g, h, j = group[i], home[i], partner[i]
        chosen[f] = left[g] > 0 and left[h] > 0 and not busy[i] and (j < 0 or not busy[j])
        if chosen[f]:
            busy[i] = True
            if j >= 0:
                busy[j] = True
        for changed in (g, h):
            if chosen[f] or most[changed] == 1:
                left[changed] -= 1
    return chosen
