"""What kAnonyMeans and its evolution share: start centres, and the groups that k-means finds from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.microaggregation.base import Microaggregation
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.kmeans import AT_THE_END, CONVERGED, EVERY_ROUND, anonymous_means, spread_out
from tarnkappe.kernels.microaggregation.merging_points import INNER, ONCE, OUTER
from tarnkappe.params import param
from tarnkappe.threads import map_threads

_STARTS = ("plusplus", "forgy")
_MERGES = {"inner": INNER, "outer": OUTER, "once": ONCE}
_MEASURES = ("distance", "sse")
_INTERLEAVED = {"rounds": EVERY_ROUND, "converged": CONVERGED, "never": AT_THE_END}


@dataclass(frozen=True)
class AnonymousMeans(Microaggregation, Improving):
    """Groups from the clusters of k-means, with its parameters."""

    asks_watch: ClassVar = False  # only where it has found groups already

    clusters: int = param(
        0, doc="With how many clusters k-means starts; 0: as many as there are groups of k.", ge=0, kw_only=True
    )
    start: str = param(
        "plusplus",
        doc="Which records are the first centres: far from each other with high probability, or any (Forgy).",
        choices=_STARTS,
        kw_only=True,
    )
    merge: str = param(
        "outer",
        doc="Merge each small cluster until it is large enough, all by one step and again, or with one that suffices.",
        choices=tuple(_MERGES),
        kw_only=True,
    )
    measure: str = param(
        "distance",
        doc="What a cluster is merged by: the distance of the centres, or what is added to the squared error.",
        choices=_MEASURES,
        kw_only=True,
    )
    interleave: str = param(
        "rounds",
        doc="Merge and split after each round of k-means, each time it has converged, or only at the end.",
        choices=tuple(_INTERLEAVED),
        kw_only=True,
    )

    def _starts(self, points: Floats, k: int, how_many: int, rng: np.random.Generator) -> list[Floats]:
        """Centres to start from, so many times."""
        n = len(points)
        clusters = min(self.clusters or n // k, n)
        if self.start == "forgy":
            return [points[rng.choice(n, clusters, replace=False)] for _ in range(how_many)]
        chances = [rng.random(clusters) for _ in range(how_many)]
        return map_threads(lambda chance: points[spread_out(points, chance)], chances)

    def _grouped(self, points: Floats, k: int, starts: Sequence[Floats]) -> list[tuple[Codes, float]]:
        """The groups and their squared error, from each of the given centres."""
        settings = _MERGES[self.merge], self.measure == "sse", _INTERLEAVED[self.interleave]
        return map_threads(lambda centres: anonymous_means(points, centres, k, *settings), starts)
