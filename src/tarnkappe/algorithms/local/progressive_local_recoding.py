"""Progressive local recoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.local.base import LocalRecoding
from tarnkappe.algorithms.local.pool import Pool, feed
from tarnkappe.arrays import Codes, Floats
from tarnkappe.boxes import Boxes
from tarnkappe.groups import Grouping
from tarnkappe.kernels.histograms import group_order
from tarnkappe.kernels.multidimensional.mondrian import find_cuts
from tarnkappe.kernels.multidimensional.segments import scratch
from tarnkappe.tally import Domain, distinct_rows
from tarnkappe.threads import share_out


@dataclass(frozen=True)
class ProgressiveLocalRecoding(LocalRecoding):
    r"""Specialise groups from the top: children that satisfy the goal stay specialised, the rest is pulled back.

    All records start in one group. A group is specialised in one quasi-identifier: its records go to the children of
    the node that covers them, or on a scale to the two sides of the median. Children that do not satisfy the goal are
    pulled back and form the remainder, which publishes what covers it. If the remainder is too small, it takes back the
    nearest records of a sibling that can spare them; if it then still does not satisfy the goal, whole siblings are
    pulled back, smallest first. Of all quasi-identifiers the one is taken that makes

    .. math:: \sum_G |G|\,w(G)

    fall most, with the summed weighted width :math:`w` of a box. Groups that cannot be specialised are finished.
    O(rounds · d · n); the rounds are at most the sum of the heights of the taxonomies and of log₂ of the scales' sizes.

    Differs from the paper in: any monotone goal instead of (α, k)-anonymity; the quasi-identifier is chosen by the
    fall of the loss instead of by the number of records specialised; scales need no taxonomy; boxes are tight,
    groups are divided in the end where both parts satisfy the goal, and swap refinement follows.

    References
    ----------
    .. [WLFW06] Wong, Li, Fu, Wang. "(α, k)-anonymity: an enhanced k-anonymity model for privacy-preserving data
       publishing." KDD 2006.
    """

    name: ClassVar = "progressive-local-recoding"
    title: ClassVar = "Progressive local recoding"
    summary: ClassVar = "Specialises groups down the taxonomies and pulls back what becomes too weak."

    def cluster(self, pool: Pool, rng: np.random.Generator) -> Grouping:
        """Specialise in rounds, all groups at once, until no group can be."""
        grouping, active = pool.together(), np.ones(1, np.bool_)
        while active.any():
            grouping, active = _specialise(pool, grouping, active)
        return grouping


@dataclass(frozen=True, eq=False)
class _Attempt:
    """All groups specialised in one quasi-identifier: the parts, the group each belongs to, and what is gained."""

    parts: Grouping
    owner: Codes
    gain: Floats


def _specialise(pool: Pool, grouping: Grouping, active: NDArray[np.bool_]) -> tuple[Grouping, NDArray[np.bool_]]:
    """Specialise every active group in the best quasi-identifier; returns the groups and which of them are new."""
    chosen = np.append(active, False)[grouping.group]
    rank = np.cumsum(active) - 1
    here = Grouping(
        grouping.cell[chosen],
        rank[grouping.group[chosen]].astype(np.int32),
        grouping.quota[chosen],
        int(active.sum()),
    )
    boxes = here.boxes(pool.tally)
    attempts = [_attempt(pool, here, boxes, j) for j in range(len(pool.tally.quasi_domains))]
    gains = np.column_stack([a.gain for a in attempts])
    best = np.where(gains.max(axis=1) > 0, gains.argmax(axis=1), -1)
    still = ~chosen
    done = best[here.group] < 0
    pieces = [
        (grouping.cell[still], np.searchsorted(np.flatnonzero(~active), grouping.group[still]), grouping.quota[still])
    ]
    n = int((~active).sum())
    finished = np.flatnonzero(best < 0)
    pieces.append((here.cell[done], n + np.searchsorted(finished, here.group[done]), here.quota[done]))
    n = n_old = n + len(finished)
    for j, attempt in enumerate(attempts):
        wanted = best[attempt.owner] == j
        taken = wanted[attempt.parts.group]
        number = np.cumsum(wanted) - 1 + n
        pieces.append((attempt.parts.cell[taken], number[attempt.parts.group[taken]], attempt.parts.quota[taken]))
        n += int(wanted.sum())
    cell, group, quota = (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))
    return Grouping.sorted_by_cell(cell, group, quota, n), np.arange(n) >= n_old


def _attempt(pool: Pool, here: Grouping, boxes: Boxes, j: int) -> _Attempt:
    """Specialise all groups in quasi-identifier `j`; where that is not possible nothing is gained."""
    child = _children(pool, here, boxes, j)
    part, first = distinct_rows([here.group, child], [here.n_groups, int(child.max(initial=0)) + 1])
    parts = Grouping(here.cell, part, here.quota, len(first))
    owner = here.group[first]
    ok = pool.satisfied(parts)
    parts, owner, ok = _pull_back(parts, owner, ok)
    fed = feed(pool, parts, owner)
    # Feeding is judged by size alone; where it does not help, or harms the giver, it is undone.
    fed_ok = pool.satisfied(fed)
    helped = _all_in(owner, fed_ok, here.n_groups)
    parts = _choose(fed, parts, helped[owner])
    ok = np.where(helped[owner], fed_ok, pool.satisfied(parts))
    while True:
        weak = _any_in(owner, ~ok, here.n_groups)[owner] & (np.bincount(owner)[owner] > 1)
        if not weak.any():
            break
        parts, owner, ok = _pull_back_smallest(pool, parts, owner, ok, weak)
    return _Attempt(parts, owner, _gain(pool, here, parts, owner, ok))


def _children(pool: Pool, here: Grouping, boxes: Boxes, j: int) -> Codes:
    """Where each piece goes: the child of its group's node that covers it, or a side of the median."""
    domain = pool.tally.quasi_domains[j]
    code = pool.tally.quasi[here.cell, j]
    if domain.wildcard:  # a wildcard fits everywhere: it stays with the first child
        code = np.where(code == domain.missing, np.minimum(boxes.lo[here.group, j], code), code)
    node = boxes.node[:, j]
    deeper = domain.taxonomy.depth[node][here.group] + 1
    child: Codes = _ancestors_by_depth(domain)[np.minimum(deeper, domain.taxonomy.height), code]
    scaled = domain.is_range[node] & (boxes.lo[:, j] < boxes.hi[:, j])
    if scaled.any():
        cut = _medians(pool, here, boxes, j, np.flatnonzero(scaled))
        child = np.where(scaled[here.group], code >= cut[here.group], child).astype(np.int32)
    return child


def _ancestors_by_depth(domain: Domain) -> Codes:
    """Entry ``d, leaf`` is the ancestor of a leaf at depth ``d``; the leaf itself where it is not that deep."""
    tree = domain.taxonomy
    out = np.empty((tree.height + 1, tree.n_leaves), np.int32)
    out[tree.height] = tree.leaf_nodes
    for depth in range(tree.height - 1, -1, -1):
        below = out[depth + 1]
        out[depth] = np.where(tree.depth[below] > depth, tree.parent[below], below)
    return out


def _medians(pool: Pool, here: Grouping, boxes: Boxes, j: int, segments: NDArray[np.int64]) -> Codes:
    """The first code above the median of some groups on a scale."""
    starts, order = group_order(here.group, here.n_groups)
    domain = pool.tally.quasi_domains[j]
    given = (pool.tally.quasi[here.cell[order]], here.quota[order], starts, segments, j, boxes.lo, boxes.hi)
    gaps = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    shape = (domain.positions, *gaps, domain.missing, domain.missing if domain.wildcard else -1)
    code, left = np.empty((len(segments), 2), np.int32), np.empty((len(segments), 2), np.int64)
    work = np.concatenate([[0], np.cumsum(np.diff(starts)[segments])])
    out = (False, code, left)
    share_out(lambda a, b: find_cuts(*given, *shape, *out, *scratch(starts, segments[a:b]), a, b), work)
    median = np.zeros(here.n_groups, np.int32)
    median[segments] = code[:, 0]
    return median


def _pull_back(parts: Grouping, owner: Codes, ok: NDArray[np.bool_]) -> tuple[Grouping, Codes, NDArray[np.bool_]]:
    """Make one remainder of the parts of a group that do not satisfy the goal; remainders come last."""
    failing = np.unique(owner[~ok])
    number = np.where(ok, np.cumsum(ok) - 1, int(ok.sum()) + np.searchsorted(failing, owner)).astype(np.int32)
    pulled = parts.relabel(number, int(ok.sum()) + len(failing))
    good = np.arange(pulled.n_groups) < ok.sum()
    return pulled, np.concatenate([owner[ok], failing]).astype(np.int32), good


def _pull_back_smallest(
    pool: Pool, parts: Grouping, owner: Codes, ok: NDArray[np.bool_], weak: NDArray[np.bool_]
) -> tuple[Grouping, Codes, NDArray[np.bool_]]:
    """Add the smallest satisfied part of each weak group to its remainder, and ask about the remainder again."""
    size = np.bincount(parts.group, weights=parts.quota, minlength=parts.n_groups)
    candidates = np.flatnonzero(weak & ok)
    by_size = candidates[np.lexsort((size[candidates], owner[candidates]))]
    smallest = by_size[np.unique(owner[by_size], return_index=True)[1]]
    ok = ok.copy()
    ok[smallest] = False
    pulled, owner, _ = _pull_back(parts, owner, ok)
    return pulled, owner, pool.satisfied(pulled)


def _choose(one: Grouping, other: Grouping, first: NDArray[np.bool_]) -> Grouping:
    """The pieces of some groups from one grouping, those of the others from another; groups are the same in both."""
    a, b = first[one.group], ~first[other.group]
    cell = np.concatenate([one.cell[a], other.cell[b]])
    group = np.concatenate([one.group[a], other.group[b]])
    quota = np.concatenate([one.quota[a], other.quota[b]])
    return Grouping.sorted_by_cell(cell, group, quota, one.n_groups)


def _gain(pool: Pool, here: Grouping, parts: Grouping, owner: Codes, ok: NDArray[np.bool_]) -> Floats:
    """How much the loss of every group falls; 0 if it has one part only, or one that does not satisfy the goal."""
    _, _, size, total = pool.measured(here)
    _, _, part_size, part_total = pool.measured(parts)
    after = np.bincount(owner, weights=part_size * part_total, minlength=here.n_groups)
    possible = _all_in(owner, ok, here.n_groups) & (np.bincount(owner, minlength=here.n_groups) > 1)
    # Rounding must not hide that something was specialised: a split that gains nothing still counts a little.
    return np.where(possible, np.maximum(size * total - after, 1e-12), 0.0)


def _any_in(owner: Codes, flag: NDArray[np.bool_], n: int) -> NDArray[np.bool_]:
    """Which owners have a part that is flagged."""
    out = np.zeros(n, np.bool_)
    out[owner[flag]] = True
    return out


def _all_in(owner: Codes, flag: NDArray[np.bool_], n: int) -> NDArray[np.bool_]:
    """Which owners have only parts that are flagged."""
    return ~_any_in(owner, ~flag, n)
