"""Per-group histograms of a sensitive column in compressed sparse rows, and what criteria read off them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]

_FEW_CODES = 32


@njit(cache=True, nogil=True)
def group_order(group: Codes, n_groups: int) -> tuple[Ints, Codes]:
    """Counting sort of cells by group: start of each group, and the cells in group order (-1 is left out)."""
    starts = np.zeros(n_groups + 1, np.int64)
    for g in group:
        if g >= 0:
            starts[g + 1] += 1
    for g in range(n_groups):
        starts[g + 1] += starts[g]
    heads = starts[:-1].copy()
    order = np.empty(starts[n_groups], np.int32)
    for i in range(group.size):
        g = group[i]
        if g >= 0:
            order[heads[g]] = i
            heads[g] += 1
    return starts, order


@njit(cache=True, nogil=True)
def csr_histogram(starts: Ints, order: Codes, codes: Codes, counts: Ints, n_codes: int) -> tuple[Ints, Codes, Ints]:
    """Count the codes within each run ``order[starts[g]:starts[g+1]]``: indptr, codes (ascending), counts."""
    n_groups = starts.size - 1
    seen = np.zeros(n_codes, np.int64)
    indptr = np.zeros(n_groups + 1, np.int64)
    out_codes = np.empty(order.size, np.int32)
    out_counts = np.empty(order.size, np.int64)
    at = 0
    for g in range(n_groups):
        begin = at
        for i in range(starts[g], starts[g + 1]):
            c = codes[order[i]]
            if seen[c] == 0:
                out_codes[at] = c
                at += 1
            seen[c] += counts[order[i]]
        _flush(seen, out_codes, out_counts, begin, at)
        indptr[g + 1] = at
    return indptr, out_codes[:at].copy(), out_counts[:at].copy()


@njit(cache=True, nogil=True)
def pooled_histogram(
    starts: Ints, order: Codes, indptr: Ints, codes: Codes, counts: Ints, n_codes: int
) -> tuple[Ints, Codes, Ints]:
    """Add up the histograms of the groups within each run ``order[starts[g]:starts[g+1]]``, as `csr_histogram`."""
    n_groups = starts.size - 1
    seen = np.zeros(n_codes, np.int64)
    out_indptr = np.zeros(n_groups + 1, np.int64)
    out_codes = np.empty(codes.size, np.int32)
    out_counts = np.empty(codes.size, np.int64)
    at = 0
    for g in range(n_groups):
        begin = at
        if starts[g + 1] - starts[g] == 1:
            old = order[starts[g]]
            for i in range(indptr[old], indptr[old + 1]):
                out_codes[at] = codes[i]
                out_counts[at] = counts[i]
                at += 1
        elif n_codes <= _FEW_CODES:
            for k in range(starts[g], starts[g + 1]):
                for i in range(indptr[order[k]], indptr[order[k] + 1]):
                    seen[codes[i]] += counts[i]
            for c in range(n_codes):
                if seen[c] > 0:
                    out_codes[at] = c
                    out_counts[at] = seen[c]
                    seen[c] = 0
                    at += 1
        else:
            for k in range(starts[g], starts[g + 1]):
                for i in range(indptr[order[k]], indptr[order[k] + 1]):
                    c = codes[i]
                    if seen[c] == 0:
                        out_codes[at] = c
                        at += 1
                    seen[c] += counts[i]
            _flush(seen, out_codes, out_counts, begin, at)
        out_indptr[g + 1] = at
    return out_indptr, out_codes[:at].copy(), out_counts[:at].copy()


@njit(cache=True, nogil=True)
def _flush(seen: Ints, out_codes: Codes, out_counts: Ints, begin: int, end: int) -> None:
    """Write out what was seen of the codes ``out_codes[begin:end]``, in ascending order, and forget it."""
    if seen.size <= _FEW_CODES:  # walking over all codes is faster than sorting
        at = begin
        for c in range(seen.size):
            if seen[c] > 0:
                out_codes[at] = c
                at += 1
    else:
        out_codes[begin:end].sort()
    for j in range(begin, end):
        out_counts[j] = seen[out_codes[j]]
        seen[out_codes[j]] = 0


@njit(cache=True, nogil=True)
def pooled_counts(group: Codes, counts: Ints, n_groups: int) -> Ints:
    """The sum of counts per group (-1 is left out)."""
    out = np.zeros(n_groups, np.int64)
    for i in range(group.size):
        if group[i] >= 0:
            out[group[i]] += counts[i]
    return out


@njit(cache=True, nogil=True)
def recursive_tails(indptr: Ints, counts: Ints, rank: int) -> Ints:
    """Per group, the sum of all counts from the `rank`-th largest on (0 if the group has fewer values)."""
    out = np.zeros(indptr.size - 1, np.int64)
    for g in range(out.size):
        values = np.sort(counts[indptr[g] : indptr[g + 1]])
        upto = values.size - rank + 1
        for i in range(upto):
            out[g] += values[i]
    return out


@njit(cache=True, nogil=True)
def emd_equal(indptr: Ints, codes: Codes, counts: Ints, size: Ints, table: Ints) -> NDArray[np.float64]:
    """Equal-distance EMD of each group to the table, as half the sum of absolute differences.

    Differences are integers ``count * N - table * size``; only values present in the group are visited.
    """
    total = table.sum()
    out = np.empty(size.size, np.float64)
    for g in range(size.size):
        f = size[g]
        excess = 0.0  # what present values have too much; absent ones balance it exactly
        for j in range(indptr[g], indptr[g + 1]):
            d = counts[j] * total - table[codes[j]] * f
            if d > 0:
                excess += d
        out[g] = excess / (float(f) * float(total))
    return out


@njit(cache=True, nogil=True)
def largest_remainder(
    indptr: Ints, codes: Codes, counts: Ints, size: Ints, share: NDArray[np.float64], slack: float
) -> NDArray[np.float64]:
    """Per group, the largest ``r`` up to its size with ``sum(min(count, share * r)) >= (1 - slack) * r``.

    The difference of both sides is concave in ``r``, so Newton's steps from the size downwards end at the largest.
    """
    out = np.empty(size.size, np.float64)
    for g in range(size.size):
        r = float(size[g])
        for _ in range(indptr[g + 1] - indptr[g] + 1):
            fixed = 0.0
            slope = 0.0
            for j in range(indptr[g], indptr[g + 1]):
                if counts[j] < share[codes[j]] * r:
                    fixed += counts[j]
                else:
                    slope += share[codes[j]]
            if fixed + slope * r >= (1.0 - slack) * r:
                break
            r = fixed / (1.0 - slack - slope)
        out[g] = r
    return out


@njit(cache=True, nogil=True)
def emd_ordered(indptr: Ints, codes: Codes, counts: Ints, size: Ints, table: Ints) -> NDArray[np.float64]:
    """Ordered EMD: mean absolute cumulative difference over the m-1 gaps between the m values that the table has."""
    present = np.flatnonzero(table)
    m = present.size
    total = table.sum()
    out = np.zeros(size.size, np.float64)
    if m < 2:
        return out
    for g in range(size.size):
        f = size[g]
        work = 0.0
        cumulative = 0
        j = indptr[g]
        for v in present[:-1]:
            cumulative -= table[v] * f
            if j < indptr[g + 1] and codes[j] == v:
                cumulative += counts[j] * total
                j += 1
            work += abs(cumulative)
        out[g] = work / (float(f) * float(total) * (m - 1))
    return out


@njit(cache=True, nogil=True)
def emd_hierarchical(
    indptr: Ints,
    codes: Codes,
    counts: Ints,
    size: Ints,
    table: Ints,
    parent: Codes,
    leaf_node: Codes,
    height: Codes,
) -> NDArray[np.float64]:
    """Hierarchical EMD: at every inner node the mass exchanged among its children, priced by the node's height."""
    n_nodes = parent.size
    total = table.sum()
    out = np.zeros(size.size, np.float64)
    extra = np.zeros(n_nodes, np.int64)
    surplus = np.zeros(n_nodes, np.float64)
    deficit = np.zeros(n_nodes, np.float64)
    for g in range(size.size):
        f = size[g]
        extra[:] = 0
        surplus[:] = 0.0
        deficit[:] = 0.0
        for leaf in range(table.size):
            extra[leaf_node[leaf]] = -table[leaf] * f
        for j in range(indptr[g], indptr[g + 1]):
            extra[leaf_node[codes[j]]] += counts[j] * total
        work = 0.0
        for v in range(n_nodes - 1, -1, -1):  # children before parents
            work += height[v] * min(surplus[v], deficit[v])
            up = parent[v]
            if up >= 0:
                extra[up] += extra[v]
                if extra[v] > 0:
                    surplus[up] += extra[v]
                else:
                    deficit[up] -= extra[v]
        out[g] = work / (float(f) * float(total) * float(height[0])) if height[0] > 0 else 0.0
    return out


def reduce_groups(operation: Any, values: NDArray[Any], indptr: Ints) -> NDArray[Any]:
    """Apply a numpy ufunc such as ``np.maximum`` within each non-empty run of `values`."""
    reduced: NDArray[Any] = operation.reduceat(values, indptr[:-1])
    return reduced
