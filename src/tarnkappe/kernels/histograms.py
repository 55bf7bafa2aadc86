"""Per-group histograms of a sensitive column in compressed sparse rows, and what criteria read off them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts, read_only
from tarnkappe.kernels import ZERO, helper, kernel

#: So many codes have a bit each, in words that tell in ascending order which of them occur; others are sorted.
FEW_CODES = 64 * 64

#: What a sum of shares may lack by rounding.
_ROUNDING = 1e-12

#: Where the only bit of a word is: a product with this number has another six first bits for each place.
_PLACES = np.uint64(0x03F79D71B4CB0A89)
_PLACE_OF = np.zeros(64, np.int32)
_PLACE_OF[[(0x03F79D71B4CB0A89 << bit & (1 << 64) - 1) >> 58 for bit in range(64)]] = np.arange(64)


def group_order(group: Codes, n_groups: int) -> tuple[Counts, Codes]:
    """Counting sort of cells by group: start of each group, and the cells in group order (-1 is left out)."""
    starts, order = np.zeros(n_groups + 2, np.int64), np.empty(len(group), np.int32)
    _sort_cells(group, starts, order)
    return starts[:-1], order[: starts[-1]]


@kernel
def _sort_cells(group: Codes, starts: Counts, order: Codes) -> None:
    """Fill in starts, which are 0 before, and order; entry ``g + 1`` is first where group ``g`` has come to."""
    for i in range(group.size):
        if group[i] >= 0:
            starts[group[i] + 2] += 1
    for g in range(2, starts.size):
        starts[g] += starts[g - 1]
    for i in range(group.size):
        g = group[i]
        if g >= 0:
            order[starts[g + 1]] = i
            starts[g + 1] += 1


def _alone(task: Callable[[int, int], None], work: Counts) -> None:
    """All items at once."""
    task(0, len(work) - 1)


def run_histogram(
    starts: Counts,
    codes: Codes,
    counts: Counts,
    n_codes: int,
    share: Callable[[Callable[[int, int], None], Counts], None] = _alone,
) -> tuple[Counts, Codes, Counts]:
    """Count the codes within each run ``codes[starts[g]:starts[g+1]]``: indptr, codes (ascending), counts.

    `share` may share the runs out to threads.
    """
    codes, counts = read_only(codes), read_only(counts)

    def count(first: int, after: int, sizes: Counts, found: Codes, of_code: Counts) -> tuple[int, int]:
        runs = starts[first : after + 1]
        seen, occurs = room_for(n_codes)
        end = _count_codes(runs, codes, counts, seen, occurs, sizes[first:after], found, of_code)
        return int(runs[0]), int(end)

    return counted_in_shares(count, len(starts) - 1, len(codes), lambda task: share(task, starts))


def counted_in_shares(
    count: Callable[[int, int, Counts, Codes, Counts], tuple[int, int]],
    n_groups: int,
    most: int,
    share: Callable[[Callable[[int, int], None]], None],
) -> tuple[Counts, Codes, Counts]:
    """A histogram (indptr, codes, counts) of which `count` fills in shares: how many codes groups have, and which.

    It returns between which places of the room for `most` codes those of its share stand, without a gap.
    """
    found, of_code = np.empty(most, np.int32), np.empty(most, np.int64)
    indptr = np.zeros(n_groups + 1, np.int64)
    filled: list[tuple[int, int]] = []
    share(lambda first, after: filled.append(count(first, after, indptr[1:], found, of_code)))
    np.cumsum(indptr, out=indptr)
    if indptr[-1] < most:  # there is room left over
        filled.sort()
        found, of_code = (np.concatenate([x[begin:end] for begin, end in filled]) for x in (found, of_code))
    return indptr, found, of_code


def room_for(n_codes: int, groups: int = 1) -> tuple[Counts, NDArray[np.uint64]]:
    """Room to count every code in so many groups at a time, and a bit for each code if there are few."""
    n_words = -(-n_codes // 64) if n_codes <= FEW_CODES else 0
    return np.zeros(groups * n_codes, np.int64), np.zeros(groups * n_words, np.uint64)


@helper
def _sort_run(codes: Codes, begin: Any, end: Any) -> None:
    """Put ``codes[begin:end]`` into ascending order (Shell's sort: most runs are short)."""
    gap = 1
    while gap < (end - begin) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            code = codes[i]
            j = i
            while j >= begin + gap and codes[j - gap] > code:
                codes[j] = codes[j - gap]
                j -= gap
            codes[j] = code
        gap //= 3


@helper
def list_bits(occurs: NDArray[np.uint64], begin: Any, end: Any, codes: Codes, at: Any) -> Any:
    """Write down the places of the bits of some words, in ascending order, and clear them; where that ends."""
    for w in range(end - begin):
        word = occurs[begin + w]
        occurs[begin + w] = 0
        while word != np.uint64(0):
            lowest = word & (~word + np.uint64(1))
            codes[at] = 64 * w + _PLACE_OF[(lowest * _PLACES) >> np.uint64(58)]
            at += 1
            word ^= lowest
    return at


@kernel
def _count_codes(
    starts: Counts,
    codes: Codes,
    counts: Counts,
    seen: Counts,
    occurs: NDArray[np.uint64],
    sizes: Counts,
    out_codes: Codes,
    out_counts: Counts,
) -> int:
    """Count the codes of some runs, one after the other from the start of the first on; returns where the last ends."""
    few = occurs.size > 0  # then no sorting is needed
    at = starts[0]
    for g in range(starts.size - 1):
        begin = at
        if few:
            for i in range(starts[g], starts[g + 1]):
                c = codes[i]
                occurs[c >> 6] |= np.uint64(counts[i] > 0) << np.uint64(c & 63)
                seen[c] += counts[i]
            at = list_bits(occurs, ZERO, occurs.size, out_codes, at)
        else:
            for i in range(starts[g], starts[g + 1]):
                c = codes[i]
                if seen[c] == 0:
                    out_codes[at] = c
                    at += 1
                seen[c] += counts[i]
            _sort_run(out_codes, begin, at)
        for k in range(begin, at):
            out_counts[k] = seen[out_codes[k]]
            seen[out_codes[k]] = 0
        sizes[g] = at - begin
    return int(at)


@kernel
def squares_in_runs(codes: Codes, cell: Codes, starts: Counts, first: int, after: int, n_codes: int) -> Counts:
    """Per group of a run, the sum of squares of how often each code occurs; record ``i`` has that of its cell."""
    out = np.zeros(after - first, np.int64)
    seen, seen_in = np.zeros(n_codes, np.int64), np.full(n_codes, -1, np.int64)
    for g in range(first, after):
        for i in range(starts[g], starts[g + 1]):
            c = codes[cell[i]]
            if seen_in[c] != g:
                seen_in[c] = g
                seen[c] = 0
            out[g - first] += 2 * seen[c] + 1  # what its square grows by
            seen[c] += 1
    return out


def pooled_histogram(
    starts: Counts, order: Codes, indptr: Counts, codes: Codes, counts: Counts, n_codes: int
) -> tuple[Counts, Codes, Counts]:
    """Add up the histograms of the groups within each run ``order[starts[g]:starts[g+1]]``, as `run_histogram`."""
    out = np.zeros(len(starts), np.int64), np.empty(len(codes), np.int32), np.empty(len(codes), np.int64)
    seen, occurs = room_for(n_codes)
    _pool_codes(starts, order, indptr, codes, counts, seen, occurs, *out)
    return _without_room(*out)


@kernel
def _pool_codes(
    starts: Counts,
    order: Codes,
    indptr: Counts,
    codes: Codes,
    counts: Counts,
    seen: Counts,
    occurs: NDArray[np.uint64],
    out_indptr: Counts,
    out_codes: Codes,
    out_counts: Counts,
) -> None:
    """What `pooled_histogram` returns, with room left over."""
    few = occurs.size > 0
    at = np.int64(0)
    for g in range(starts.size - 1):
        begin = at
        if starts[g + 1] - starts[g] == 1:
            old = order[starts[g]]
            for i in range(indptr[old], indptr[old + 1]):
                out_codes[at] = codes[i]
                out_counts[at] = counts[i]
                at += 1
        else:
            for k in range(starts[g], starts[g + 1]):
                for i in range(indptr[order[k]], indptr[order[k] + 1]):
                    c = codes[i]
                    if few:
                        occurs[c >> 6] |= np.uint64(counts[i] > 0) << np.uint64(c & 63)
                    elif seen[c] == 0:
                        out_codes[at] = c
                        at += 1
                    seen[c] += counts[i]
            if few:
                at = list_bits(occurs, ZERO, occurs.size, out_codes, at)
            else:
                _sort_run(out_codes, begin, at)
            for k in range(begin, at):
                out_counts[k] = seen[out_codes[k]]
                seen[out_codes[k]] = 0
        out_indptr[g + 1] = at


def _without_room(indptr: Counts, codes: Codes, counts: Counts) -> tuple[Counts, Codes, Counts]:
    """A histogram without the room that is left over."""
    n = int(indptr[-1])
    return (indptr, codes, counts) if n == len(codes) else (indptr, codes[:n].copy(), counts[:n].copy())


@kernel
def pooled_counts(group: Codes, counts: Counts, n_groups: int) -> Counts:
    """The sum of counts per group (-1 is left out)."""
    out = np.zeros(n_groups, np.int64)
    for i in range(group.size):
        if group[i] >= 0:
            out[group[i]] += counts[i]
    return out


def run_sums(starts: Counts, counts: Counts) -> Counts:
    """The sum of counts of each run ``counts[starts[g]:starts[g+1]]``."""
    out = np.zeros(len(starts) - 1, np.int64)
    _add_up(starts, read_only(counts), out)
    return out


@kernel
def _add_up(starts: Counts, counts: Counts, out: Counts) -> None:
    """Add to what `run_sums` returns."""
    for g in range(out.size):
        for i in range(starts[g], starts[g + 1]):
            out[g] += counts[i]


@kernel
def recursive_tails(indptr: Counts, counts: Counts, rank: int) -> Counts:
    """Per group, the sum of all counts from the `rank`-th largest on (0 if the group has fewer values)."""
    out = np.zeros(indptr.size - 1, np.int64)
    for g in range(out.size):
        values = np.sort(counts[indptr[g] : indptr[g + 1]])
        upto = values.size - rank + 1
        for i in range(upto):
            out[g] += values[i]
    return out


@kernel
def emd_equal(indptr: Counts, codes: Codes, counts: Counts, size: Counts, table: Counts) -> NDArray[np.float64]:
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


@kernel
def largest_remainder(
    indptr: Counts, codes: Codes, counts: Counts, size: Counts, share: NDArray[np.float64], slack: float
) -> NDArray[np.float64]:
    """Per group, the largest ``r`` up to its size with ``sum(min(count, share * r)) >= (1 - slack) * r``.

    The difference of both sides is concave in ``r``, so Newton's steps from the size downwards end at the largest.
    Shares that add up to hardly less than 1 are taken for all there is: ``r`` may be too large, but not too small.
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
            if fixed + slope * r >= (1.0 - slack - _ROUNDING) * r:
                break
            r = fixed / (1.0 - slack - slope)
        out[g] = r
    return out


@kernel
def emd_ordered(indptr: Counts, codes: Codes, counts: Counts, size: Counts, table: Counts) -> NDArray[np.float64]:
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


@kernel
def emd_hierarchical(
    indptr: Counts,
    codes: Codes,
    counts: Counts,
    size: Counts,
    table: Counts,
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


def reduce_groups(operation: Any, values: NDArray[Any], indptr: Counts) -> NDArray[Any]:
    """Apply a numpy ufunc such as ``np.maximum`` within each non-empty run of `values`."""
    reduced: NDArray[Any] = operation.reduceat(values, indptr[:-1])
    return reduced
