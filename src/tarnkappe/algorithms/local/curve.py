"""Rows of codes lined up so that neighbours on the line are alike: along a Hilbert curve, or by distance to centres."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Codes, Counts
from tarnkappe.kernels.hilbert import MAX_COLUMNS, compact_hilbert_keys
from tarnkappe.kernels.local.hilb_centres import farthest_first, nearest_centre
from tarnkappe.kernels.sorting import sorted_keys
from tarnkappe.kernels.widths import Ruler
from tarnkappe.tally import Domain
from tarnkappe.threads import share_out

#: Centres of the iDistance order at most, and of how many rows they are chosen.
CENTRES = 1024
SAMPLE = 8192

#: What a place on the curve may have, so that it is a number for everybody.
_PLACE_BITS = 62

#: What a coordinate of the curve may have.
_MAX_BITS = 31

#: Bits by which the values of a column are told apart, beyond those of their ranks.
_FINER_BITS = 4


def hilbert_order(rows: Codes, domains: Sequence[Domain], *, stretch: bool = True, by_value: bool = False) -> Codes:
    """The order of rows along a Hilbert curve through their codes.

    With `stretch`, every column is as long as the widest (see `stretched`); otherwise codes are coordinates as they
    are. The index may have any number of bits. Columns of one value are left out, and so are the last ones if there
    are more than 62. Numbers stand at their rank or, with `by_value`, at their value.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> sex, age = (Domain(n, Taxonomy.scale([str(i) for i in range(k)])) for n, k in (("sex", 2), ("age", 4)))
    >>> people = np.array([[0, 0], [1, 0], [0, 3], [1, 3]], np.int32)
    >>> people[hilbert_order(people, [sex, age])].tolist()
    [[0, 0], [0, 3], [1, 3], [1, 0]]
    """
    keys, bits = _keys(rows, domains, stretch=stretch, by_value=by_value)
    order = np.arange(len(rows), dtype=np.int32)
    if not bits:
        return order
    for word in range(keys.shape[1] - 1, -1, -1):
        _, sorted_ = sorted_keys(keys[order, word], 64 if word else (bits - 1) % 64 + 1, share_out)
        order = order[sorted_]
    return order


def hilbert_places(rows: Codes, domains: Sequence[Domain]) -> tuple[Counts, int]:
    """The place of every row on the curve of `hilbert_order`, and how many bits places have: 62 at most.

    Rows whose indices differ beyond that share a place. What a row's place is depends on nothing but the row.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> sex, age = (Domain(n, Taxonomy.scale([str(i) for i in range(k)])) for n, k in (("sex", 2), ("age", 4)))
    >>> hilbert_places(np.array([[0, 0], [1, 0], [0, 3], [1, 3]], np.int32), [sex, age])
    (array([0, 7, 3, 5]), 3)
    """
    keys, bits = _keys(rows, domains)
    if not bits:
        return np.zeros(len(rows), np.int64), 0
    first = (bits - 1) % 64 + 1
    if bits <= _PLACE_BITS:
        return keys[:, 0].astype(np.int64), bits
    if first >= _PLACE_BITS:
        return (keys[:, 0] >> np.uint64(first - _PLACE_BITS)).astype(np.int64), _PLACE_BITS
    more = np.uint64(_PLACE_BITS - first)
    return ((keys[:, 0] << more) | (keys[:, 1] >> (np.uint64(64) - more))).astype(np.int64), _PLACE_BITS


def _keys(
    rows: Codes, domains: Sequence[Domain], *, stretch: bool = True, by_value: bool = False
) -> tuple[NDArray[np.uint64], int]:
    """The index of every row on the curve as words, the most significant first, and how many bits it has."""
    used = [j for j, d in enumerate(domains) if d.size > 1][:MAX_COLUMNS]
    if not used:
        return np.zeros((len(rows), 1), np.uint64), 0
    bits = np.empty(len(used), np.int64)
    grid = np.empty((len(rows), len(used)), np.uint32)
    for i, j in enumerate(used):
        if by_value and domains[j].is_line and domains[j].values is not None:
            bits[i], place = valued(domains[j])
        else:
            bits[i], place = stretched(domains[j]) if stretch else _as_they_are(domains[j])
        grid[:, i] = place[rows[:, j]]
    return compact_hilbert_keys(grid, bits, stretch), int(bits.sum())


def stretched(domain: Domain) -> tuple[int, Counts]:
    """How many bits the coordinates of a column have, and the coordinate of every code.

    The children of a node are spread evenly over the next bits, of which all nodes of a depth have the same number. So
    each subtree is an aligned block of the grid, and the curve leaves it only when it has seen all of it. A scale is
    one node with many children. A missing value stands at the end.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> stretched(Domain("city", Taxonomy.from_nested({"north": ["a", "b"], "south": ["c", "d", "e"]})))
    (3, array([0, 3, 4, 5, 7]))
    """
    tree = domain.taxonomy
    total, place = 0, np.zeros(tree.n_nodes, np.int64)
    after = np.zeros(tree.height + 1, np.int64)  # bits that are decided down to a depth
    there = np.ones(tree.n_nodes, np.bool_)
    if domain.missing >= 0:
        there[tree.leaf_nodes[domain.missing]] = False
    for depth in range(1, tree.height + 1):
        nodes = np.flatnonzero((tree.depth == depth) & there)
        up = tree.parent[nodes]
        first = np.flatnonzero(np.diff(up, prepend=-1))
        siblings = np.diff(first, append=len(nodes))
        rank = np.arange(len(nodes)) - np.repeat(first, siblings)
        bits = int(siblings.max(initial=1) - 1).bit_length()
        spread = rank * ((1 << bits) - 1) // np.maximum(np.repeat(siblings, siblings) - 1, 1)
        place[nodes] = (place[up] << bits) | spread
        total += bits
        after[depth] = total
    if total > _MAX_BITS:
        return _as_they_are(domain)
    leaves = tree.leaf_nodes
    coordinates = place[leaves] << (total - after[tree.depth[leaves]])
    if domain.missing >= 0:
        coordinates[domain.missing] = (1 << total) - 1
    return total, coordinates


def valued(domain: Domain) -> tuple[int, Counts]:
    """How many bits the coordinates of a column of numbers have, and the coordinate of every code, by its value.

    There are some more bits than ranks need, so that near numbers are told apart; those nearer than that share a place.
    A missing value stands at the end.

    >>> from tarnkappe.taxonomy.tree import Taxonomy
    >>> valued(Domain("wage", Taxonomy.scale(["0", "1", "16"]), np.array([0.0, 1.0, 16.0])))
    (6, array([ 0,  3, 63]))
    """
    bits = min((domain.size - 1).bit_length() + _FINER_BITS, _MAX_BITS)
    known = np.isfinite(domain.positions)
    value = domain.positions[known]
    place = np.full(domain.size, (1 << bits) - 1, np.int64)
    place[known] = (value - value[0]) / (domain.extent or 1.0) * ((1 << bits) - 1)
    return bits, place


def _as_they_are(domain: Domain) -> tuple[int, Counts]:
    return (domain.size - 1).bit_length(), np.arange(domain.size)


def idistance_order(
    rows: Codes, domains: Sequence[Domain], ruler: Ruler, rng: np.random.Generator, *, stretch: bool = True
) -> Codes:
    """The order of rows by their nearest centre, and by their distance from it.

    Centres are chosen from a sample, each as far as possible from those before, and visited along a Hilbert curve. Rows
    at the same distance from a centre follow the curve too. O(rows · centres · d).
    """
    along = hilbert_order(rows, domains, stretch=stretch)
    if len(rows) == 0:
        return along
    sample = rows[along[np.sort(rng.choice(len(rows), min(SAMPLE, len(rows)), replace=False))]]
    n_centres = min(CENTRES, max(1, len(rows) // 16))
    centres = sample[farthest_first(ruler, sample, n_centres)]
    centres = centres[hilbert_order(centres, domains, stretch=stretch)]
    lined = rows[along]
    nearest, distance = np.empty(len(rows), np.int64), np.empty(len(rows), np.float64)
    work = np.arange(len(rows) + 1, dtype=np.int64) * len(centres)
    share_out(lambda a, b: nearest_centre(ruler, lined, centres, nearest, distance, a, b), work)
    return along[np.lexsort((distance, nearest))]
