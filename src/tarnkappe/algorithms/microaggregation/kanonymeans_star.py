"""kAnonyMeans*."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.microaggregation.means import AnonymousMeans
from tarnkappe.arrays import Codes, Floats
from tarnkappe.kernels.microaggregation.points import group_means
from tarnkappe.params import param

#: Records whose centres evolve together; more in blocks.
_AT_ONCE = 1024


@dataclass(frozen=True)
class Individual:
    """Centres, and the groups that k-means finds from them."""

    centres: Floats
    group: Codes
    loss: float


@dataclass(frozen=True)
class KAnonyMeansStar(AnonymousMeans):
    r"""Let the centres that kAnonyMeans starts from evolve.

    An individual is a set of centres :math:`M`, its fitness the squared error of the groups that kAnonyMeans finds from
    :math:`M`. Of a `population` of p, the s best survive (`survivors`). Two survivors chosen at random have a child, so
    often that there are p again. In :math:`m_c` of the children (`mutations`), :math:`m_s` centres (`strength`) are
    replaced by records chosen at random. This goes on for some `generations`, or until `patience` of them in a row have
    brought nothing better.

    What the slides leave open: a child takes the first parent's centres on one side of a plane and the second parent's
    on the other. The plane has a random direction and goes through a random centre of the first parent. So regions that
    are well divided are inherited as they are. What is inherited are the means of the parents' groups (`inherit:
    means`); in the slides it seems to be the centres that they started with (`inherit: starts`), which takes longer and
    finds less.

    Takes as long as :math:`p + g (p - s)` runs of kAnonyMeans would from good centres, g being the generations: a
    second or more for a thousand records, so it takes 30 000 at most. More than 1024 evolve in blocks that lie together
    in space.

    References
    ----------
    .. [Stol19] Stoldt. "Datenbankanonymisierung auf Basis von k-means-Algorithmen." Slides, 2019.
    """

    name: ClassVar = "kanonymeans-star"
    title: ClassVar = "kAnonyMeans*"
    summary: ClassVar = "kAnonyMeans with centres that evolve over generations; lower loss, takes longer."

    most_records: ClassVar = 30_000
    for_more: ClassVar = "kanonymeans"

    population: int = param(20, doc="Number of individuals.", ge=3, kw_only=True)
    survivors: int = param(6, doc="How many of the best have children and live on; fewer than all.", ge=2, kw_only=True)
    mutations: int = param(7, doc="How many children of a generation are mutated.", ge=0, kw_only=True)
    strength: int = param(3, doc="How many centres of a mutated child become records at random.", ge=0, kw_only=True)
    generations: int = param(30, doc="Number of generations at most, at normal effort.", ge=0, kw_only=True)
    patience: int = param(10, doc="Stop after so many generations that brought nothing better.", ge=1, kw_only=True)
    inherit: str = param(
        "means",
        doc="What a child inherits: means of its parents' groups, or the centres that they started from.",
        choices=("means", "starts"),
        kw_only=True,
    )

    @property
    def at_once(self) -> int:
        """More records evolve in blocks."""
        return _AT_ONCE

    def partition(self, points: Floats, k: int, rng: np.random.Generator) -> Codes:
        """Groups of k to 2k - 1."""
        survivors = min(self.survivors, self.population - 1)
        alive = self._born(points, k, self._starts(points, k, self.population, rng))
        idle = 0
        for _ in range(self.work.of_usual(self.generations, least=0)):
            parents = sorted(alive, key=_loss)[:survivors]
            children = list(self._children(points, parents, self.population - survivors, rng))
            alive = [*parents, *self._born(points, k, children)]
            idle = 0 if min(map(_loss, alive)) < parents[0].loss else idle + 1
            if idle == self.patience or self.watch.over:
                break
        return min(alive, key=_loss).group

    def _born(self, points: Floats, k: int, centres: Sequence[Floats]) -> list[Individual]:
        """Individuals with these centres, or with the means of the groups found from them."""
        found = zip(centres, self._grouped(points, k, centres), strict=True)
        if self.inherit == "starts":
            return [Individual(start, group, loss) for start, (group, loss) in found]
        return [Individual(group_means(points, g, int(g.max()) + 1)[0], g, loss) for _, (g, loss) in found]

    def _children(
        self, points: Floats, parents: Sequence[Individual], how_many: int, rng: np.random.Generator
    ) -> Iterator[Floats]:
        """The centres of the next individuals, the first of them mutated."""
        for number in range(how_many):
            first, second = (parents[p].centres for p in rng.choice(len(parents), 2, replace=False))
            direction = rng.normal(size=points.shape[1])
            here, there = first @ direction, second @ direction
            plane = here[rng.integers(len(first))]
            child = np.vstack([first[here <= plane], second[there > plane]])
            if number < self.mutations:
                strength = min(self.strength, len(child))
                where = rng.choice(len(child), strength, replace=False)
                child[where] = points[rng.integers(len(points), size=strength)]
            yield child


def _loss(individual: Individual) -> float:
    return individual.loss
