"""Cut people into clusters who share their most frequent items (HorPart)."""

from __future__ import annotations

import heapq

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def horizontal_parts(starts: Counts, codes: Codes, n_codes: int, most: int, least: int) -> tuple[Codes, Counts]:
    """People in an order in which clusters stand together, and where each cluster begins, with the end of the last.

    From everybody, those who have the most frequent item are split off, then of the rest those who have its most
    frequent item, and so on until fewer than `most` are left, who are a cluster. Those who were split off are
    divided in the same way, without looking at that item again. A cluster of fewer than `least` people joins its
    neighbour.
    """
    n = starts.size - 1
    order = np.arange(n).astype(np.int32)
    parted = np.empty(n, np.int32)
    there = np.zeros(n, np.bool_)
    ignored = np.zeros(n_codes, np.bool_)
    count = np.zeros(n_codes, np.int64)
    begin = np.zeros(n_codes, np.int64)
    seen = np.empty(n_codes, np.int32)
    holders = np.empty(codes.size, np.int32)
    split_by = [np.int64(-1)]  # the items that people were split off by, each with the one before
    before = [np.int64(-1)]
    todo = [(np.int64(0), np.int64(n), np.int64(0))]
    ends = [np.int64(0)]
    ends.pop()
    while len(todo) > 0:
        first, last, path = todo.pop()
        if last - first < most:
            ends.append(last)
            continue
        up = path
        while up > 0:
            ignored[split_by[up]] = True
            up = before[up]
        # Who has each item, item by item.
        n_seen = 0
        for i in range(first, last):
            b = order[i]
            there[b] = True
            for p in range(starts[b], starts[b + 1]):
                c = codes[p]
                if ignored[c]:
                    continue
                if count[c] == 0:
                    seen[n_seen] = c
                    n_seen += 1
                count[c] += 1
        total = 0
        heap = [(np.int64(0), np.int32(0))]
        heap.pop()
        for t in range(n_seen):
            c = seen[t]
            begin[c] = total
            total += count[c]
            heap.append((-count[c], c))
            count[c] = 0
        for i in range(first, last):
            b = order[i]
            for p in range(starts[b], starts[b + 1]):
                c = codes[p]
                if not ignored[c]:
                    holders[begin[c] + count[c]] = b
                    count[c] += 1
        heapq.heapify(heap)
        # Split off the most frequent item of those who are left, again and again.
        at = first
        while last - at >= most and len(heap) > 0:
            negative, c = heapq.heappop(heap)
            if count[c] == 0:
                continue
            if count[c] < -negative:
                heapq.heappush(heap, (-count[c], c))
                continue
            length = count[c]
            split = at
            i = begin[c]
            while length > 0:
                b = holders[i]
                i += 1
                if not there[b]:
                    continue
                there[b] = False
                length -= 1
                parted[at] = b
                at += 1
                for p in range(starts[b], starts[b + 1]):
                    if not ignored[codes[p]]:
                        count[codes[p]] -= 1
            split_by.append(np.int64(c))
            before.append(path)
            todo.append((split, at, np.int64(len(split_by) - 1)))
        if at < last:
            for i in range(first, last):
                if there[order[i]]:
                    there[order[i]] = False
                    parted[at] = order[i]
                    at += 1
            ends.append(last)
        order[first:last] = parted[first:last]
        for t in range(n_seen):
            count[seen[t]] = 0
        up = path
        while up > 0:
            ignored[split_by[up]] = False
            up = before[up]
    found = np.sort(np.array(ends))
    bounds = np.zeros(found.size + 1, np.int64)
    n_clusters = 0
    for e in range(found.size):
        size = found[e] - bounds[n_clusters]
        if n_clusters > 0 and (size < least or bounds[n_clusters] - bounds[n_clusters - 1] < least):
            bounds[n_clusters] = found[e]
        else:
            n_clusters += 1
            bounds[n_clusters] = found[e]
    return order, bounds[: n_clusters + 1]
