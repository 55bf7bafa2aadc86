"""Classification trees over coded columns: grown, pruned, and followed."""

from __future__ import annotations

import numpy as np

from tarnkappe.arrays import Bytes, Codes, Counts, Flags, Floats
from tarnkappe.kernels import helper, kernel


@helper
def _disorder(counts: Floats, total: float, ordered: bool) -> float:
    """The squared deviation of ordered codes, or how many pairs of records differ (Gini) per record."""
    if total <= 0:
        return 0.0
    first, second = 0.0, 0.0
    for t in range(counts.shape[0]):
        if ordered:
            first += counts[t] * t
            second += counts[t] * t * t
        else:
            second += counts[t] * counts[t]
    return second - first * first / total if ordered else total - second / total


@helper
def _best_split(
    table: Floats, seen: Counts, rank: Codes, m: int, n_target: int, least: int, ordered: bool, whole: Floats
) -> tuple[float, int]:
    """Where codes in the order `rank` are cut so that both sides together are least disordered; -1 if nowhere."""
    left = np.zeros(n_target)
    right = whole.copy()
    n_left, n_right = 0, 0
    for c in range(m):
        n_right += seen[c]
    best, cut = np.inf, -1
    for i in range(m - 1):
        c = rank[i]
        if seen[c] == 0:
            continue
        for t in range(n_target):
            left[t] += table[c, t]
            right[t] -= table[c, t]
        n_left += seen[c]
        n_right -= seen[c]
        if n_left < least or n_right < least:
            continue
        after = _disorder(left, n_left, ordered) + _disorder(right, n_right, ordered)
        if after < best - 1e-9:
            best, cut = after, i
    return best, cut


@kernel
def grow(
    codes: Codes,
    predictors: int,
    target: Codes,
    n_target: int,
    target_ordered: bool,
    sizes: Codes,
    is_ordered: Flags,
    least: int,
    order: Counts,
    feature: Codes,
    goes_left: Bytes,
    child: Codes,
    begin: Counts,
    end: Counts,
    disorder: Floats,
) -> int:
    """Grow a tree for `target` on the first columns of `codes`; `order` becomes the records leaf by leaf.

    Every node has its records ``order[begin:end]``, and `child` the number of its left child (the right one follows
    it), or 0. Both children of a node hold at least `least` records. Returns the number of nodes.
    """
    n = target.shape[0]
    widest = 1
    for j in range(predictors):
        widest = max(widest, sizes[j])
    table = np.zeros((widest, n_target))
    seen = np.zeros(widest, np.int64)
    whole = np.zeros(n_target)
    spare = np.zeros(n, np.int64)
    begin[0], end[0] = 0, n
    nodes, v = 1, 0
    while v < nodes:
        feature[v], child[v] = -1, 0
        first, last = begin[v], end[v]
        whole[:] = 0.0
        for i in range(first, last):
            whole[target[order[i]]] += 1.0
        disorder[v] = _disorder(whole, last - first, target_ordered)
        if last - first < 2 * least or disorder[v] <= 1e-9 or nodes + 2 > feature.shape[0]:
            v += 1
            continue
        commonest = np.argmax(whole)
        best, best_cut, best_feature = disorder[v] - 1e-9, -1, -1
        best_rank = np.zeros(widest, np.int32)
        for j in range(predictors):
            m = sizes[j]
            table[:m] = 0.0
            seen[:m] = 0
            for i in range(first, last):
                r = order[i]
                table[codes[r, j], target[r]] += 1.0
                seen[codes[r, j]] += 1
            rank = np.arange(m).astype(np.int32)
            if not is_ordered[j]:  # names are put in the order of the mean of the target, or of its commonest value
                score = np.zeros(m)
                for c in range(m):
                    for t in range(n_target):
                        worth = t if target_ordered else int(t == commonest)
                        score[c] += table[c, t] * worth
                    score[c] /= max(seen[c], 1)
                rank = np.argsort(score, kind="mergesort").astype(np.int32)
            after, cut = _best_split(table, seen, rank, m, n_target, least, target_ordered, whole)
            if cut >= 0 and after < best:
                best, best_cut, best_feature = after, cut, j
                best_rank[:m] = rank
        if best_feature < 0:
            v += 1
            continue
        feature[v], child[v] = best_feature, nodes
        for i in range(best_cut + 1):
            goes_left[v, best_rank[i]] = 1
        a, b = first, 0
        for i in range(first, last):  # both sides keep their order
            if goes_left[v, codes[order[i], best_feature]]:
                order[a] = order[i]
                a += 1
            else:
                spare[b] = order[i]
                b += 1
        for i in range(b):
            order[a + i] = spare[i]
        begin[nodes], end[nodes], begin[nodes + 1], end[nodes + 1] = first, a, a, last
        nodes += 2
        v += 1
    return nodes


@kernel
def prune(child: Codes, disorder: Floats, nodes: int, least_gain: float) -> None:
    """Cut off splits, from the leaves up, that take away less than `least_gain` of the disorder per further leaf."""
    below = np.zeros(nodes)
    leaves = np.zeros(nodes, np.int64)
    for v in range(nodes - 1, -1, -1):
        below[v], leaves[v] = disorder[v], 1
        if child[v] == 0:
            continue
        under, n = below[child[v]] + below[child[v] + 1], leaves[child[v]] + leaves[child[v] + 1]
        if disorder[v] - under < least_gain * (n - 1):
            child[v] = 0
        else:
            below[v], leaves[v] = under, n


@kernel
def follow(codes: Codes, feature: Codes, goes_left: Bytes, child: Codes) -> Codes:
    """The leaf that every record comes to."""
    out = np.zeros(codes.shape[0], np.int32)
    for i in range(codes.shape[0]):
        v = 0
        while child[v] > 0:
            v = child[v] + (0 if goes_left[v, codes[i, feature[v]]] else 1)
        out[i] = v
    return out
