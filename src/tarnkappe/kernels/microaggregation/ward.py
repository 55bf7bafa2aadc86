"""Ward's merges of points into groups of at least k: along a line, or in all directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.microaggregation.tree import Boxes, boxes_of, cheapest, count_again, price_of, widen

#: Of more points than this, the two that are farthest apart are looked for by way of one of them.
ALL_PAIRS = 4096


@helper
def _join(mean: Floats, size: Counts, g: int, h: int) -> None:
    """Group `h` becomes part of group `g`."""
    total = size[g] + size[h]
    for j in range(mean.shape[1]):
        mean[g, j] += (mean[h, j] - mean[g, j]) * size[h] / total
    size[g], size[h] = total, 0


@kernel
def _before(price: Floats, pair: Counts, a: int, b: int) -> bool:
    """Whether a pair in the heap goes before another: the cheaper one; of equals the smaller one, then the left one.

    By size, because otherwise a group among equal points would swallow them all.
    """
    if price[a] != price[b]:
        return bool(price[a] < price[b])
    if pair[a, 2] != pair[b, 2]:
        return bool(pair[a, 2] < pair[b, 2])
    return bool(pair[a, 0] < pair[b, 0])


@kernel
def _swap(price: Floats, pair: Counts, a: int, b: int) -> None:
    """Two pairs in the heap change places."""
    price[a], price[b] = price[b], price[a]
    for c in range(3):
        pair[a, c], pair[b, c] = pair[b, c], pair[a, c]


@helper
def _sink(price: Floats, pair: Counts, end: int) -> None:
    """Restore the heap after something was put at its top."""
    at = 0
    while 2 * at + 1 < end:
        low = 2 * at + 1
        if low + 1 < end and _before(price, pair, low + 1, low):
            low += 1
        if not _before(price, pair, low, at):
            return
        _swap(price, pair, at, low)
        at = low


@helper
def _rise(price: Floats, pair: Counts, at: int) -> None:
    """Restore the heap after something was put at its end."""
    while at > 0 and _before(price, pair, at, (at - 1) // 2):
        _swap(price, pair, at, (at - 1) // 2)
        at = (at - 1) // 2


@kernel
def _offer(mean: Floats, size: Counts, g: int, h: int, k: int, price: Floats, pair: Counts, end: int) -> int:
    """Put two neighbours into the heap, unless both are large; how many pairs it then holds."""
    if size[g] >= k and size[h] >= k:
        return end
    price[end] = price_of(mean, size, g, h, np.inf)
    pair[end, 0], pair[end, 1], pair[end, 2] = g, h, size[g] + size[h]
    _rise(price, pair, end)
    return end + 1


@helper
def _merge_neighbours(points: Floats, begin: int, end: int, k: int, size: Counts) -> None:
    """One round along a line of 2k or more points; `size` of a group's first point is that of the group, of others 0.

    A pair in the heap is out of date if one of its groups has grown since: then their sizes no longer add up.
    """
    mean = points[begin:end].copy()
    own = size[begin:end]
    n = end - begin
    after, ahead = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        own[i], after[i], ahead[i] = 1, i + 1, i - 1
    for i in range(1, k):
        _join(mean, own, 0, i)
        _join(mean, own, n - k, n - k + i)
    after[0], ahead[k], after[n - k] = k, 0, n
    price, pair, held = np.empty(3 * n), np.empty((3 * n, 3), np.int64), 0
    g = 0
    while after[g] < n:
        held = _offer(mean, own, g, after[g], k, price, pair, held)
        g = after[g]
    while held > 0:
        g, h, total = pair[0, 0], pair[0, 1], pair[0, 2]
        held -= 1
        _swap(price, pair, 0, held)
        _sink(price, pair, held)
        if own[g] == 0 or own[h] == 0 or own[g] + own[h] != total or (own[g] >= k and own[h] >= k):
            continue
        _join(mean, own, g, h)
        after[g] = after[h]
        if after[g] < n:
            ahead[after[g]] = g
            held = _offer(mean, own, g, after[g], k, price, pair, held)
        if g > 0:
            held = _offer(mean, own, ahead[g], g, k, price, pair, held)


@kernel
def ward_on_line(points: Floats, k: int) -> Codes:
    """The group of every point of a line: k-Ward merges between neighbours, again in every group of 2k or more."""
    n = points.shape[0]
    size = np.zeros(n, np.int64)
    size[0] = n
    begin = 0
    while begin < n:
        if size[begin] < 2 * k:
            begin += size[begin]
        else:
            _merge_neighbours(points, begin, begin + size[begin], k, size)
    group, number = np.empty(n, np.int32), -1
    for i in range(n):
        if size[i] > 0:
            number += 1
        group[i] = number
    return group


@helper
def _farthest_pair(points: Floats, members: Counts) -> tuple[int, int]:
    """The two of some points with the largest distance; of equals the first.

    Of many points the one farthest from the first, and the one farthest from that: all pairs would take too long.
    """
    if members.size > ALL_PAIRS:
        first = _farthest_from(points, members, _farthest_from(points, members, 0))
        second = _farthest_from(points, members, first)
        return min(first, second), max(first, second)
    first, second, most = 0, 1, -1.0
    for p in range(members.size):
        for q in range(p + 1, members.size):
            far = _apart(points, members[p], members[q])
            if far > most:
                first, second, most = p, q, far
    return first, second


@helper
def _farthest_from(points: Floats, members: Counts, p: int) -> int:
    """The farthest of some points from one of them, the first of equals; another one, even if all are equal."""
    farthest, most = 1 if p == 0 else 0, 0.0
    for q in range(members.size):
        far = _apart(points, members[p], members[q])
        if far > most:
            farthest, most = q, far
    return farthest


@helper
def _apart(points: Floats, a: int, b: int) -> float:
    """The squared distance of two points."""
    far = 0.0
    for j in range(points.shape[1]):
        far += (points[a, j] - points[b, j]) ** 2
    return far


@helper
def _gather(mean: Floats, size: Counts, into: Codes, seed: int, other: int, k: int) -> None:
    """Put a point and the k - 1 single points nearest to it into a group; the other seed is left alone."""
    n = size.size
    distance, place = np.empty(k), np.empty(k, np.int64)
    held = 0
    for i in range(n):
        if size[i] != 1 or i in (seed, other):
            continue
        far = 0.0
        for j in range(mean.shape[1]):
            far += (mean[i, j] - mean[seed, j]) ** 2
        if held == k - 1 and (held == 0 or far >= distance[held - 1]):
            continue
        at = held if held < k - 1 else held - 1
        while at > 0 and distance[at - 1] > far:
            distance[at], place[at] = distance[at - 1], place[at - 1]
            at -= 1
        distance[at], place[at] = far, i
        if held < k - 1:
            held += 1
    for p in range(held):
        _join(mean, size, seed, place[p])
        into[place[p]] = seed


class Queue(NamedTuple):
    """Groups by the price of their partner, and who waits for whom.

    `heap` holds all groups, the cheapest first, `place` where each one is. The groups that wait for g are ``first[g]``
    and those `after` it, each with the one `before` it.
    """

    heap: Counts
    place: Counts
    first: Counts
    after: Counts
    before: Counts


@kernel
def _cheaper(price: Floats, a: int, b: int) -> bool:
    """Whether a group goes before another; of equals the first."""
    return bool(price[a] < price[b] or (price[a] == price[b] and a < b))


@kernel
def _put(queue: Queue, at: int, g: int) -> None:
    queue.heap[at], queue.place[g] = g, at


@kernel
def _move(queue: Queue, price: Floats, g: int) -> None:
    """Put a group where it belongs in the heap, after its price has changed."""
    at, heap = queue.place[g], queue.heap
    while at > 0 and _cheaper(price, g, heap[(at - 1) // 2]):
        _put(queue, at, heap[(at - 1) // 2])
        at = (at - 1) // 2
    while 2 * at + 1 < heap.size:
        low = 2 * at + 1
        if low + 1 < heap.size and _cheaper(price, heap[low + 1], heap[low]):
            low += 1
        if not _cheaper(price, heap[low], g):
            break
        _put(queue, at, heap[low])
        at = low
    _put(queue, at, g)


@kernel
def _wait(queue: Queue, price: Floats, partner: Counts, g: int) -> None:
    """Let a group wait for its partner."""
    h = partner[g]
    queue.before[g], queue.after[g] = -1, queue.first[h]
    if queue.first[h] >= 0:
        queue.before[queue.first[h]] = g
    queue.first[h] = g
    _move(queue, price, g)


@kernel
def _leave(queue: Queue, price: Floats, partner: Counts, g: int) -> None:
    """Let a group no longer wait, if it does."""
    if price[g] == np.inf:
        return
    ahead, behind = queue.before[g], queue.after[g]
    if ahead >= 0:
        queue.after[ahead] = behind
    else:
        queue.first[partner[g]] = behind
    if behind >= 0:
        queue.before[behind] = ahead
    price[g] = np.inf
    _move(queue, price, g)


@helper
def _mark_waiting(queue: Queue, g: int, marked: Flags) -> None:
    """Mark those who wait for a group."""
    i = queue.first[g]
    while i >= 0:
        marked[i] = True
        i = queue.after[i]


@helper
def _look_again(queue: Queue, boxes: Boxes, mean: Floats, size: Counts, g: int, partner: Counts, price: Floats) -> None:
    """Find the partner of a group anew."""
    _leave(queue, price, partner, g)
    cheapest(boxes, mean, size, g, partner, price)
    _wait(queue, price, partner, g)


@kernel
def _left(size: Counts) -> Codes:
    """The groups that have points."""
    out, count = np.empty(size.size, np.int32), 0
    for g in range(size.size):
        if size[g] > 0:
            out[count] = g
            count += 1
    return out[:count]


@helper
def _merge_nearest(points: Floats, members: Counts, k: int) -> Codes:
    """One round in all directions; for every member the first member of its group.

    Every pair that may be joined has a small group in it, so small groups alone remember the cheapest partner. A pair
    is joined because no cheaper one may be; then (Ward's prices are reducible) its union is no nearer to a third group
    than its parts were. So nobody needs to look again but those whose partner was one of the two. These cannot find
    anything cheaper than what they had, so they look when it is their turn by that price: many are joined before.
    """
    n, d = members.size, points.shape[1]
    mean, size, into = np.empty((n, d)), np.empty(n, np.int64), np.empty(n, np.int32)
    for i in range(n):
        size[i], into[i] = 1, i
        for j in range(d):
            mean[i, j] = points[members[i], j]
    first, second = _farthest_pair(points, members)
    _gather(mean, size, into, first, second, k)
    _gather(mean, size, into, second, first, k)
    partner, price = np.full(n, -1, np.int64), np.full(n, np.inf)
    alive = _left(size)
    boxes = boxes_of(mean, size, alive, np.zeros(n, np.int32))
    queue = Queue(np.arange(n), np.arange(n), np.full(n, -1), np.full(n, -1), np.full(n, -1))
    old = np.zeros(n, np.bool_)  # whose partner is no longer what it was
    for g in alive:
        if size[g] < k:
            cheapest(boxes, mean, size, g, partner, price)
            _wait(queue, price, partner, g)
    merged = 0
    while price[queue.heap[0]] < np.inf:
        g = queue.heap[0]
        if old[g]:
            old[g] = False
            _look_again(queue, boxes, mean, size, g, partner, price)
            continue
        h = partner[g]
        for i in (g, h):
            _leave(queue, price, partner, i)
            _mark_waiting(queue, i, old)
        _join(mean, size, h, g)
        into[g] = h
        merged += 1
        if 4 * merged > alive.size:  # close up
            alive, merged = _left(size), 0
            boxes = boxes_of(mean, size, alive, boxes.leaf)
        else:
            widen(boxes, boxes.leaf[h], mean[h])
            for i in (g, h):
                count_again(boxes, boxes.leaf[i], size)
        old[h] = False
        if size[h] < k:
            _look_again(queue, boxes, mean, size, h, partner, price)
    for i in range(n):
        root = i
        while into[root] != root:
            root = into[root]
        into[i] = root
    return into


@kernel
def ward(points: Floats, k: int) -> Codes:
    """The group of every point: k-Ward merges in all directions, again in every group of 2k points or more."""
    n = points.shape[0]
    order = np.arange(n)  # the points of a group stand together
    group = np.empty(n, np.int32)
    begin, end, number = 0, n, 0
    ends = np.zeros(n, np.int64)  # where the group of a place ends, if it is the first of one
    ends[0] = n
    while begin < n:
        end = ends[begin]
        if end - begin < 2 * k:
            for i in range(begin, end):
                group[order[i]] = number
            number += 1
            begin = end
            continue
        members = order[begin:end].copy()
        first = _merge_nearest(points, members, k)
        size = np.zeros(members.size, np.int64)
        for i in range(members.size):
            size[first[i]] += 1
        at = begin
        for g in range(members.size):
            if size[g] > 0:
                ends[at] = at + size[g]
                at, size[g] = at + size[g], at
        for i in range(members.size):
            order[size[first[i]]] = members[i]
            size[first[i]] += 1
    return group
