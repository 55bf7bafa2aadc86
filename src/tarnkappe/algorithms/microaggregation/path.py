"""Optimal groups along a path through the records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.algorithms.microaggregation.near import near
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.kernels.hilbert import MAX_COLUMNS, compact_hilbert_keys
from tarnkappe.kernels.microaggregation.axis import cheapest_cuts
from tarnkappe.kernels.microaggregation.paths import nearest_next, shorten
from tarnkappe.params import param
from tarnkappe.threads import map_threads

#: How many near points a point of the tour may be linked with.
_NEAR = 25

#: Tours of fewer points are left as they are.
_SHORT = 8

#: Bits of a coordinate on the Hilbert curve.
_BITS = 20


#: A round trip is cut at so many places divided by k, so that the work does not grow with the square of k.
_TURNS = 1000

#: Records of one tour; more in blocks.
_AT_ONCE = 4096


@dataclass(frozen=True)
class Path(Microaggregation):
    r"""Line up the records along a path through all of them, and cut it where that costs least (MHM).

    The path is one of

    * `tour`: a short round trip. It begins at the record farthest from the mean, always goes on to the nearest record
      it has not seen, and is then shortened by 2-opt (two edges change their ends) and Or-opt (up to three records move
      elsewhere) among the 25 nearest records of each, until neither helps. More `tours` begin at random records; the
      one with the cheapest groups counts. :math:`O(n^2 d)` at most; more than 4096 records have a tour in each of
      several blocks that lie together in space.
    * `nearest`: the first of these tours, not shortened.
    * `hilbert`: the order along a Hilbert curve; :math:`O(n d)` and a sort, for any size.

    Then the exact dynamic programme of Hansen and Mukherjee, with the squared error of all columns,

    .. math:: B_j = \min_{k \le j - i \le 2k - 1} B_i + \mathrm{SSE}(x_{i+1} \dots x_j), \quad B_0 = 0,

    finds the best groups of neighbours on the path. A round trip has no first record: it is cut at each of
    :math:`2k - 1` places in a row, one of which is between two groups of the best solution, and the best result counts;
    if k is above 22, at some of them.

    References
    ----------
    .. [DMSS06] Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz, Sebe. "Efficient multivariate data-oriented
       microaggregation." The VLDB Journal 15(4), 2006.
    .. [HaMu03] Hansen, Mukherjee. "A polynomial algorithm for optimal univariate microaggregation." TKDE 15(4), 2003.
    """

    name: ClassVar = "path"
    title: ClassVar = "Path (MHM)"
    summary: ClassVar = "Lines records up along a short path and cuts it where that costs least."

    order: str = param(
        "tour",
        doc="What lines records up: a shortened round trip, the nearest record next, or a Hilbert curve.",
        choices=("tour", "nearest", "hilbert"),
    )

    tours: int = param(8, doc="How many round trips are tried.", ge=1, kw_only=True)

    @property
    def at_once(self) -> int | None:
        """A tour is for so many records; a curve for any number."""
        return None if self.order == "hilbert" else _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1 neighbours on the path."""
        n = len(points)
        if self.order == "hilbert":
            curve = _curve(points)
            return _groups(curve, cheapest_cuts(points[curve], k)[0])
        farthest = int(np.argmax((points**2).sum(axis=1)))
        if self.order == "nearest" or n < _SHORT:
            walk = nearest_next(points, farthest)
            return _groups(walk, cheapest_cuts(points[walk], k)[0])
        neighbours = near(points, _NEAR, rng)
        starts = [farthest, *rng.integers(n, size=self.tours - 1).tolist()]
        found = map_threads(lambda start: _round_trip(points, neighbours, start, k), starts)
        return min(found, key=lambda cut: cut[1])[0]


def _groups(order: Counts, along: Codes) -> Codes:
    """The group of every point, if they are given in some order."""
    group = np.empty(len(order), np.int32)
    group[order] = along
    return group


def _round_trip(points: Floats, neighbours: Codes, start: int, k: int) -> tuple[Codes, float]:
    """The cheapest groups along a short round trip, and their squared error."""
    tour = nearest_next(points, start)
    shorten(points, neighbours, tour)
    places = min(2 * k - 1, len(tour))
    turns = min(places, max(1, _TURNS // k))
    turned = [np.roll(tour, -(turn * places // turns)) for turn in range(turns)]
    cuts = [cheapest_cuts(points[order], k) for order in turned]
    best = min(range(len(cuts)), key=lambda turn: cuts[turn][1])
    return _groups(turned[best], cuts[best][0]), cuts[best][1]


def _curve(points: Floats) -> Counts:
    """The order of points along a Hilbert curve; all coordinates have the same scale, as distances do."""
    spread = np.ptp(points, axis=0)
    used = np.argsort(-spread, kind="stable")[:MAX_COLUMNS]
    unit = (float(spread.max()) or 1.0) / ((1 << _BITS) - 1)
    grid = ((points[:, used] - points[:, used].min(axis=0)) / unit).astype(np.uint32)
    keys = compact_hilbert_keys(grid, np.full(len(used), _BITS), True)
    return np.lexsort(keys.T[::-1])
