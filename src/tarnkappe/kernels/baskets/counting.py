"""Count how many baskets hold the same items."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels import kernel


@kernel
def rare_sets(starts: Counts, codes: Codes, n_codes: int, size: int, k: int, most: int) -> Codes:
    """The sets of exactly `size` items that some basket holds, but fewer than `k` do; at most `most` of them.

    Basket ``b`` holds ``codes[starts[b]:starts[b + 1]]``, ascending and distinct. The sets are walked through as a tree
    of prefixes. Of each prefix only the places are kept where its last item stands, so memory grows with the number of
    items in all baskets and never with the number of sets.
    """
    n = codes.size
    end = np.empty(n, np.int64)
    for b in range(starts.size - 1):
        end[starts[b] : starts[b + 1]] = starts[b + 1]
    places = np.empty((max(size - 1, 1), n), np.int64)  # where the last item of each prefix stands, prefix by prefix
    item = np.empty((size, n_codes), np.int32)  # the items that go on after a prefix, one row per length
    first = np.empty((size, n_codes + 1), np.int64)  # where the places of each of them begin
    n_items = np.zeros(size, np.int64)
    turn = np.zeros(size, np.int64)
    count = np.zeros(n_codes, np.int64)
    out = np.empty((most, size), np.int32)
    found = 0
    depth = 0
    while True:
        # What follows the prefix: its items and how many baskets hold each.
        prefix_first, prefix_last = 0, n
        if depth > 0:
            at = turn[depth - 1] - 1
            prefix_first, prefix_last = first[depth - 1, at], first[depth - 1, at + 1]
        seen = 0
        if depth == 0:
            for p in range(n):
                if count[codes[p]] == 0:
                    item[0, seen] = codes[p]
                    seen += 1
                count[codes[p]] += 1
        else:
            for i in range(prefix_first, prefix_last):
                p = places[depth - 1, i]
                for q in range(p + 1, end[p]):
                    if count[codes[q]] == 0:
                        item[depth, seen] = codes[q]
                        seen += 1
                    count[codes[q]] += 1
        if depth == size - 1:
            for t in range(seen):
                c = item[depth, t]
                if count[c] < k and found < most:
                    for d in range(depth):
                        out[found, d] = item[d, turn[d] - 1]
                    out[found, depth] = c
                    found += 1
                count[c] = 0
        else:
            total = 0
            for t in range(seen):
                c = item[depth, t]
                first[depth, t] = total
                total += count[c]
                count[c] = first[depth, t]  # from now on where the next place goes
            first[depth, seen] = total
            if depth == 0:
                for p in range(n):
                    places[0, count[codes[p]]] = p
                    count[codes[p]] += 1
            else:
                for i in range(prefix_first, prefix_last):
                    p = places[depth - 1, i]
                    for q in range(p + 1, end[p]):
                        places[depth, count[codes[q]]] = q
                        count[codes[q]] += 1
            for t in range(seen):
                count[item[depth, t]] = 0
            n_items[depth] = seen
            turn[depth] = 0
            depth += 1
        # The next prefix: one item further, or back to a shorter one.
        if depth == size - 1 and size == 1:
            return out[:found]
        depth = size - 1 if depth >= size - 1 else depth
        while depth > 0 and turn[depth - 1] == n_items[depth - 1]:
            depth -= 1
        if depth == 0 or found == most:
            return out[:found]
        turn[depth - 1] += 1


@kernel
def recode(starts: Counts, codes: Codes, new: Codes) -> tuple[Counts, Codes]:
    """The baskets after item ``c`` became ``new[c]`` (-1: removed); `new` keeps the order, so baskets stay sorted."""
    out = np.empty(codes.size, np.int32)
    begins = np.zeros(starts.size, np.int64)
    n = 0
    for b in range(starts.size - 1):
        for p in range(starts[b], starts[b + 1]):
            c = new[codes[p]]
            if c >= 0 and (n == begins[b] or out[n - 1] != c):
                out[n] = c
                n += 1
        begins[b + 1] = n
    return begins, out[:n].copy()
