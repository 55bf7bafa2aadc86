"""How far the values of groups are from those of larger sets that hold them, each group with a set of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.criteria.distances import Ratio
from tarnkappe.groups import GroupStats, Histogram
from tarnkappe.taxonomy.tree import Taxonomy

#: Entries that are looked at together: every group comes with all values of its pool.
_ENTRIES = 1 << 22


def distances_to_pools(
    stats: GroupStats,
    pools: GroupStats,
    part: Codes,
    groups: Codes,
    column: str,
    distance: str,
    *,
    exactly: bool = False,
) -> Ratio:
    """The earth mover's distance of some groups to the pools that they are part of, as work and the whole of it.

    Ranks are those among all values that the groups have. Whole numbers, but for floats that add up large ones if it
    need not be `exactly` so.
    """
    h, q = stats.histograms[column], pools.histograms[column]
    rank = np.cumsum(np.bincount(h.codes, minlength=h.domain.size) > 0) - 1
    entries = np.diff(q.indptr)[part[groups]]
    large = int(stats.size.max(initial=1)) * int(pools.size.max(initial=1)) >= 1 << 62
    kind: Any = object if exactly or large else np.int64
    work, whole = np.zeros(len(groups), object if exactly else np.float64), np.ones(len(groups), kind)
    longest = {"equal": 1, "ordered": int(rank[-1]), "hierarchical": 2 * int(h.domain.taxonomy.node_heights[0])}
    ends = np.cumsum(entries)
    begin = 0
    while begin < len(groups):
        taken = int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + _ENTRIES, "right"))
        end = max(taken, begin + 1)
        some = groups[begin:end]
        size, of = stats.size[some].astype(kind), pools.size[part[some]].astype(kind)
        starts, codes, excess = _excess(h, q, some, part[some], size, of)
        if distance == "equal":
            moved = _sums(np.maximum(excess, 0), starts, exactly)
        elif distance == "ordered":
            moved = _along_ranks(excess, rank[codes], starts, exactly)
        else:
            moved = _along_tree(excess, codes, starts, h.domain.taxonomy, exactly)
        work[begin:end] = moved
        whole[begin:end] = size * of
        begin = end
    return work, (whole if exactly else whole.astype(np.float64)) * max(longest[distance], 1)


def _excess(
    h: Histogram, q: Histogram, groups: Codes, pools: Codes, size: NDArray[Any], of: NDArray[Any]
) -> tuple[NDArray[np.int64], Codes, NDArray[Any]]:
    """Per group all values of its pool, and how much too often it has each: ``count * pool - pool's count * size``."""
    lengths = np.diff(q.indptr)[pools]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(np.arange(len(groups)), lengths)
    at = np.arange(starts[-1]) - starts[:-1][row] + q.indptr[pools][row]
    codes = q.codes[at]
    excess = -q.counts[at].astype(size.dtype) * size[row]
    own = np.diff(h.indptr)[groups]
    own_row = np.repeat(np.arange(len(groups)), own)
    own_at = np.arange(len(own_row)) - np.repeat(np.cumsum(own) - own, own) + np.repeat(h.indptr[groups], own)
    n_values = h.domain.size + 1
    # A pool holds its groups, and its values are sorted: each of theirs is found.
    place = np.searchsorted(row * n_values + codes, own_row * n_values + h.codes[own_at])
    excess[place] += h.counts[own_at].astype(size.dtype) * of[own_row]
    return starts, codes, excess


def _sums(values: NDArray[Any], starts: NDArray[np.int64], exactly: bool) -> NDArray[Any]:
    """Sums of runs, none of which is empty."""
    return np.add.reduceat(values if exactly else values.astype(np.float64), starts[:-1])


def _along_ranks(
    excess: NDArray[Any], rank: NDArray[np.int64], starts: NDArray[np.int64], exactly: bool
) -> NDArray[Any]:
    """What is carried over each gap of ranks; runs add up to nought, so one sum goes through all of them."""
    carried = np.abs(np.cumsum(excess))
    steps = np.append(np.diff(rank), 0)
    steps[starts[1:] - 1] = 0
    return _sums(carried.astype(object) * steps if exactly else carried.astype(np.float64) * steps, starts, exactly)


def _along_tree(
    excess: NDArray[Any], codes: Codes, starts: NDArray[np.int64], tree: Taxonomy, exactly: bool
) -> NDArray[Any]:
    """What crosses each edge of the tree, times twice its length; deepest nodes first.

    Nodes are numbered depth-first, so those of a run stay in order as they are replaced by their parents.
    """
    row = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    node, height, depth = tree.leaf_nodes[codes].astype(np.int64), tree.node_heights, tree.depth
    work = np.zeros(len(starts) - 1, object if exactly else np.float64)
    for level in range(int(depth.max(initial=0)), 0, -1):
        here = depth[node] == level
        up = np.where(here, tree.parent[node], node)
        crossed = np.abs(excess).astype(work.dtype) * (height[up] - height[node]).astype(np.int64)
        work = work + np.add.reduceat(crossed, np.flatnonzero(np.diff(row, prepend=-1)))
        first = np.flatnonzero(np.diff(row * tree.n_nodes + up, prepend=-1))
        row, node, excess = row[first], up[first], np.add.reduceat(excess, first)
    return work
