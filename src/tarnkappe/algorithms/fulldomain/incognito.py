"""Incognito."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.lattice import Node
from tarnkappe.algorithms.fulldomain.search import Search, Tags
from tarnkappe.groups import Note
from tarnkappe.tally import Tally

#: Which nodes of a part of the quasi-identifiers may still satisfy the goal, as a grid over their levels.
_Alive = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Incognito(FullDomainSearch):
    """Find all nodes that satisfy the goal, by looking at parts of the quasi-identifiers first.

    What violates the goal with few quasi-identifiers violates it with more: for every part, of one column, of two, …,
    only nodes are looked at whose smaller parts all survived. They are taken from the most special up; a node that
    satisfies the goal vouches for all its generalisations. A part of the columns is the node of the whole lattice that
    has all other columns at their roots, so parts and wholes share their class tables.

    Sound for every criterion: where the conclusion from parts to wholes is not proved (a criterion that is not
    absorbing, with suppression), only the part of the goal that allows it is used, and the survivors are checked one by
    one.

    Differs from the paper in: of all satisfying nodes the best by the metric is taken; super-roots and the cube are
    replaced by rolling up from the smallest finer class table at hand.

    References
    ----------
    .. [LeDR05] LeFevre, DeWitt, Ramakrishnan. "Incognito: efficient full-domain k-anonymity." SIGMOD 2005.
    """

    name: ClassVar = "incognito"
    title: ClassVar = "Incognito"
    summary: ClassVar = "Finds all full-domain generalisations that satisfy the goal, column by column."

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Narrow down the nodes of larger and larger parts, then score the survivors."""
        alive = self._survivors(search)
        tags = Tags(search)
        tags.bad |= ~alive
        tags.open &= alive
        if search.failure_spreads:
            order = np.argsort(search.lattice.heights.ravel(), kind="stable")
            for index in order:
                if alive.ravel()[index] and not tags.good.ravel()[index] and not tags.bad.ravel()[index]:
                    tags.check(search.lattice.node(int(index)), bounded=False)
        else:
            for index in np.flatnonzero(tags.open.ravel()):
                if not tags.bad.ravel()[index]:
                    tags.check(search.lattice.node(int(index)), bounded=False)
        minimal = tags.minimal_nodes()
        tags.check_open()
        satisfying = int(tags.good.sum())
        return {"optimal": True, "satisfying nodes": satisfying, "minimal nodes": search.listed(minimal)}

    def _survivors(self, search: Search) -> _Alive:
        """The nodes of the whole lattice whose parts all survived."""
        lattice, d = search.lattice, len(search.lattice.low)
        tops = _tops(search.tally)
        survivors: dict[tuple[int, ...], _Alive] = {}
        for size in range(1, d):
            smaller, survivors = survivors, {}
            for part in combinations(range(d), size):
                alive = _joined(part, smaller, lattice.shape)
                _narrow(search, part, alive, tops)
                survivors[part] = alive
        return _joined(tuple(range(d)), survivors, lattice.shape)


def _tops(tally: Tally) -> Node:
    """The node at which nothing is said any more, whatever levels are allowed."""
    return tuple(d.taxonomy.height for d in tally.quasi_domains)


def _joined(part: tuple[int, ...], smaller: dict[tuple[int, ...], _Alive], shape: tuple[int, ...]) -> _Alive:
    """The nodes of a part of the columns whose smaller parts all survived."""
    alive = np.ones([shape[j] for j in part], np.bool_)
    if smaller:
        for i in range(len(part)):
            alive &= np.expand_dims(smaller[part[:i] + part[i + 1 :]], i)
    return alive


def _narrow(search: Search, part: tuple[int, ...], alive: _Alive, tops: Node) -> None:
    """Check the nodes of a part from the most special up, and drop those that violate the goal for good."""
    vouched = np.zeros(alive.shape, np.bool_)
    for place in sorted(map(tuple, np.argwhere(alive).tolist()), key=sum):
        if vouched[place] or not alive[place]:
            continue
        levels = list(tops)
        for j, level in zip(part, place, strict=True):
            levels[j] = level + search.lattice.low[j]
        found = search.probe(tuple(levels))
        if found.vouches_above:
            vouched[tuple(slice(i, None) for i in place)] = True
        elif found.rules_out_below:
            alive[tuple(slice(0, i + 1) for i in place)] = False
