"""Refinement of groups: local search for the least squared error, again and again after kicks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.microaggregation.near import near
from tarnkappe.algorithms.watch import NOBODY, Watch
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.microaggregation.blocks import split
from tarnkappe.kernels.microaggregation.kicking import Seeds, kick
from tarnkappe.kernels.microaggregation.points import group_means, squared_errors
from tarnkappe.kernels.microaggregation.relocating import Partition, Scratch, descend
from tarnkappe.threads import map_threads

#: Near points whose groups a point may move to: for each point of a small group, but at least and at most.
_NEAR, _LEAST_NEAR, _MOST_NEAR = 3, 15, 30

#: Near points of the one that gives way, to whose groups it may move.
REACH = 8

#: From so many points on: near points, near points of the one that gives way, and one pass from the best start only.
_MANY, _NEAR_IF_MANY, _REACH_IF_MANY = 100_000, 8, 2

#: Slabs of space that are searched side by side if there are many points; more would have more borders.
_SLABS = 2

#: Groups that a kick throws together, at most.
_KICKED = 5

#: Stretches of a search: the share of kicks, and how large a rise is taken at first, in squared errors of a record.
_STRETCHES = ((0.8, 0.1), (0.2, 0.03))


def refined(
    points: Floats,
    starts: Sequence[Codes],
    k: int,
    rng: np.random.Generator,
    kicks: int = 0,
    n_chains: int = 2,
    watch: Watch = NOBODY,
) -> Codes:
    """Groups of k to 2k - 1 points with a small squared error, found from some partitions into groups of at least k.

    Each of them is searched (`descend`), and the best is the result if there are no kicks. Else chains of as many
    `kicks` go on from the best ones, side by side. A kick may end higher by a threshold that sinks to 0. Where chains
    differ in parts that have nothing to do with each other, the better of each is taken.
    """
    if len(points) < 2 * k:
        return np.zeros(len(points), np.int32)
    if len(points) >= _MANY:
        order = split(points, 16, np.empty((0, 2)))  # neighbours are neighbours in memory too
        own = in_fours(points[order])
        lists = near(own, _NEAR_IF_MANY, rng)
        best = min((g[order] for g in starts), key=lambda g: error(own, g))
        found = [_descended_in_slabs(own, lists, halved(own, best, k), k)]
    else:
        order, own = np.arange(len(points), dtype=np.int32), in_fours(points)
        lists = near(own, min(max(_NEAR * k, _LEAST_NEAR), _MOST_NEAR), rng)
        found = [_descended(own, lists, halved(own, g, k), k) for g in starts]
        found.sort(key=lambda g: error(own, g))
    if kicks > 0:
        found = [_kicked(own, lists, found, k, rng, kicks, n_chains, watch)]
    out = np.empty(len(points), np.int32)
    out[order] = found[0]
    return out


def _kicked(
    own: Floats,
    lists: Codes,
    found: list[Codes],
    k: int,
    rng: np.random.Generator,
    kicks: int,
    n_chains: int,
    watch: Watch,
) -> Codes:
    """What chains of kicks make of the best partitions."""
    best = found[0]
    begun = (found * n_chains)[:n_chains]
    for share, heat in _STRETCHES:
        seeds = rng.integers(0, np.iinfo(np.uint64).max, n_chains, np.uint64)
        chains = [
            _Chain(own, lists, g, k, heat * error(own, best) / len(own), seeds[c : c + 1]) for c, g in enumerate(begun)
        ]
        ends = map_threads(lambda c: c.run(round(kicks * share), watch), chains)  # noqa: B023
        for end in ends:
            best = combined(own, best, end)
        begun = [best] * n_chains
    return best


def error(points: Floats, group: Codes) -> float:
    """The squared error of all groups together."""
    return float(squared_errors(points, group, group_means(points, group, int(group.max()) + 1)[0]).sum())


def halved(points: Floats, group: Codes, k: int) -> Codes:
    """The groups, those of 2k points and more cut in halves until there are none."""
    while True:
        large = np.bincount(group) >= 2 * k
        if not large.any():
            return group
        group = cut(points, group, large)


def cut(points: Floats, group: Codes, chosen: NDArray[np.bool_]) -> Codes:
    """The chosen groups cut in halves: across the line from their farthest point to the one farthest from that.

    The second halves become new groups, numbered in the order of the chosen ones.
    """
    inside = np.flatnonzero(chosen[group])
    owner = (np.cumsum(chosen) - 1)[group[inside]]
    own = points[inside]
    n = int(chosen.sum())
    means = group_means(own, owner.astype(np.int32), n)[0]
    first = own[_farthest(((own - means[owner]) ** 2).sum(axis=1), owner)]
    second = own[_farthest(((own - first[owner]) ** 2).sum(axis=1), owner)]
    along = (own * (second - first)[owner]).sum(axis=1)
    order = np.lexsort((along, owner))
    size = np.bincount(owner, minlength=n)
    rank = np.arange(len(order)) - (np.cumsum(size) - size)[owner[order]]
    beyond = rank >= (size - size // 2)[owner[order]]
    out = group.copy()
    out[inside[order[beyond]]] = len(chosen) + owner[order[beyond]]
    return out


def _farthest(distance: Floats, owner: Counts) -> Counts:
    """Which member of each owner is farthest; of equals the last."""
    order = np.lexsort((distance, owner))
    ends: Counts = order[np.append(np.flatnonzero(np.diff(owner[order])), len(order) - 1)]
    return ends


def combined(points: Floats, a: Codes, b: Codes) -> Codes:
    """The better of two partitions, part by part.

    A part is a least set of points that is a union of groups in both; in it, either partition may be taken.
    """
    part = np.arange(len(a))
    while True:  # the smallest number of a part spreads through the groups of both
        low = part
        for group in (a, b):
            least = np.full(int(group.max()) + 1, len(a))
            np.minimum.at(least, group, low)
            low = least[group]
        if np.array_equal(low, part):
            break
        part = low
    costs = []
    for group in (a, b):
        means = group_means(points, group, int(group.max()) + 1)[0]
        costs.append(np.bincount(part, ((points - means[group]) ** 2).sum(axis=1), len(a)))
    taken = np.where((costs[1] < costs[0])[part], b.astype(np.int64) + int(a.max()) + 1, a)
    return np.unique(taken, return_inverse=True)[1].astype(np.int32)


class _Chain:
    """One search that goes on from kick to kick."""

    def __init__(self, points: Floats, lists: Codes, group: Codes, k: int, heat: float, seed: Seeds) -> None:
        self.partition, self.scratch = search_state(points, lists, group, k)
        self.heat, self.seed = heat, seed
        self.reach = min(max(24 // k, 3), REACH, lists.shape[1])  # large groups are reached by few points
        self.at_once = max(1, 2000 // k**2)  # some hundredths of a second

    def run(self, kicks: int, watch: Watch) -> Codes:
        """The groups after so many kicks, or when somebody says that it is time."""
        done = 0
        while done < kicks and not watch.over:
            n = min(self.at_once, kicks - done)
            kick(self.partition, self.scratch, self.reach, n, _KICKED, self.heat * (1 - done / kicks), self.seed)
            done += n
        return numbered(self.partition.group)


def search_state(
    points: Floats, lists: Codes, group: Codes, k: int, kind: Codes | None = None
) -> tuple[Partition, Scratch]:
    """What kernels need to search from a partition, with an empty queue.

    Groups keep k to 2k - 1 points, or, if points have kinds, change places only within them and keep their sizes.
    """
    n, held = len(points), np.bincount(group)
    slots = len(held) if kind is not None else max(n // k, len(held))
    size = np.zeros(slots, np.int64)
    size[: len(held)] = held
    room = size if kind is not None else np.full(slots, 2 * k - 1)
    start = np.cumsum(room) - room
    order = np.argsort(group, kind="stable")
    place = np.empty(n, np.int32)
    place[order] = np.arange(n) - (np.cumsum(size) - size)[group[order]]
    members = np.zeros(int(room.sum()), np.int32)
    members[start[group] + place] = np.arange(n)
    mean = np.zeros((slots, points.shape[1]))
    mean[: len(held)] = group_means(points, group, len(held))[0]
    far = ((points - mean[group]) ** 2).sum(axis=1)
    sizes = np.array([k, 2 * k - 1] if kind is None else [n, 0])
    partition = Partition(
        points,
        lists,
        np.zeros(n, np.int32) if kind is None else kind,
        sizes,
        group.astype(np.int32),
        place,
        start,
        members,
        size,
        mean,
        far,
        np.ones(slots, np.bool_),
    )
    scratch = Scratch(
        np.empty(n, np.int32),
        np.zeros(n, np.bool_),
        np.zeros(5, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.empty(slots, np.int32),
        np.empty(slots, np.int64),
        np.empty_like(members),
        np.empty_like(mean),
    )
    return partition, scratch


def search(partition: Partition, scratch: Scratch, least: float = 1e-4) -> float:
    """Descend from all points again and again; the change of the error.

    It ends when a pass gains less than the share `least` of what all have gained.
    """
    total = 0.0
    everyone = np.ones(len(scratch.queue), np.bool_)
    while True:
        change = _descend_from(everyone, partition, scratch, REACH)
        total += change
        if change >= least * total:  # both are at most 0
            return total


def _descend_from(chosen: NDArray[np.bool_], partition: Partition, scratch: Scratch, reach: int) -> float:
    """Descend from some points; the change of the error."""
    first = np.flatnonzero(chosen)
    scratch.queue[: len(first)] = first
    scratch.queued[:] = chosen
    scratch.now[:2] = 0, len(first)
    change: float = descend(partition, scratch, min(reach, partition.near.shape[1]))
    return change


def _descended(points: Floats, lists: Codes, group: Codes, k: int) -> Codes:
    partition, scratch = search_state(points, lists, group, k)
    search(partition, scratch)
    return numbered(partition.group)


def _descended_in_slabs(points: Floats, lists: Codes, group: Codes, k: int) -> Codes:
    """The groups after one descent, for the most part side by side in slabs of space.

    Slabs are whole groups, so searches do not meet. Near points that a border has parted meet when slabs are cut across
    another axis, and those that are parted again at last, when everything is one slab.
    """
    parted = np.ones(lists.shape, np.bool_)
    first, second = np.argsort(-points.var(axis=0), kind="stable")[:2]
    for axis, n_slabs in ((first, _SLABS), (second, _SLABS), (first, 1)):
        n_groups = int(group.max()) + 1
        place = np.argsort(np.argsort(group_means(points, group, n_groups)[0][:, axis], kind="stable"), kind="stable")
        slab = (place * n_slabs // n_groups)[group]
        chosen: NDArray[np.bool_] = np.any(parted, axis=1)
        slabs = [np.flatnonzero(slab == s) for s in range(n_slabs)]
        ends = map_threads(lambda own: _descended_slab(points, lists, group, k, own, chosen[own]), slabs)  # noqa: B023
        group = np.empty(len(points), np.int32)
        held = 0
        for own, end in zip(slabs, ends, strict=True):
            group[own] = held + end
            held += int(end.max()) + 1
        parted &= slab[lists] != slab[:, None]
    return group


def _descended_slab(
    points: Floats, lists: Codes, group: Codes, k: int, own: Counts, chosen: NDArray[np.bool_]
) -> Codes:
    """The groups of some points after a descent from the chosen of them; points outside are nobody's neighbours."""
    place = np.full(len(points), -1, np.int32)
    place[own] = np.arange(len(own))
    inside = place[lists[own]]
    inside = np.where(inside < 0, np.arange(len(own), dtype=np.int32)[:, None], inside)  # its own neighbour: no move
    partition, scratch = search_state(points[own], inside, numbered(group[own]), k)
    _descend_from(chosen, partition, scratch, _REACH_IF_MANY)
    return numbered(partition.group)


def in_fours(points: Floats) -> Floats:
    """The points around their mean, with coordinates 0 added so that their number is a multiple of four."""
    out = np.zeros((len(points), -(-points.shape[1] // 4) * 4))
    out[:, : points.shape[1]] = points - points.mean(axis=0)
    return out


def numbered(group: Codes) -> Codes:
    """The groups numbered from 0 without gaps."""
    return np.unique(group, return_inverse=True)[1].astype(np.int32)
