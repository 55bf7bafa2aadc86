"""Iyengar's genetic algorithm."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.subtree.candidates import Judge, Rows, Splits
from tarnkappe.algorithms.subtree.costs import CellLossCost, ClassificationCost, Cost
from tarnkappe.algorithms.subtree.enumeration import Enumeration
from tarnkappe.algorithms.subtree.refinements import Refinements, Steps
from tarnkappe.algorithms.watch import TimeOver
from tarnkappe.arrays import Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping
from tarnkappe.kernels.subtree.refinements import OK
from tarnkappe.params import param
from tarnkappe.tally import Tally


@dataclass(frozen=True)
class Iyengar(Improving):
    r"""Breed recodings: cross two good ones, flip some of their cuts, and keep the child if it beats the worst.

    A chromosome has one bit per cut of a numeric column and one per inner node of a taxonomy (set: the node is replaced
    by its children). A bit under a node that is not replaced says nothing and is cleared, so every chromosome is a
    valid cut of every taxonomy. Fitness is the mean loss of a cell,

    .. math:: \frac1n \Bigl( \sum_{G\ \text{published}} |G| \, \mathrm{LM}(G) + n_\mathrm{suppressed} \Bigr),

    or with a `target` the classification metric: the share of records that are suppressed or not in the majority of
    their group. Violating groups are suppressed; a recoding that must suppress more than allowed is worse than every
    other, the more so the more it exceeds the limit.

    Parents are drawn by rank, crossed at two points of each column's bits, and every bit is flipped with probability
    one over their number. Children replace the worst of the population, which never holds a recoding twice; the best is
    never lost. The population begins with the recoding that publishes nothing, the greedy one and what greedy search
    finds without suppression, and random thinnings of these, so the result is never worse. Breeding ends after
    `generations`, or after `patience` of them without improvement. O(generations · population · (cells + bits)).

    Differs from the paper in: a bit of a taxonomy belongs to a node that is opened, not to a gap between leaves, so no
    chromosome needs repair by trial; the population is seeded; children of a generation are judged together, half as
    many as the population, before they replace anybody; any monotone criterion may be asked for.

    References
    ----------
    .. [Iyen02] Iyengar. "Transforming data to satisfy privacy constraints." KDD 2002.
    """

    name: ClassVar = "iyengar"
    title: ClassVar = "Iyengar's genetic algorithm"
    scheme: ClassVar = "subtree"
    summary: ClassVar = "Breeds subtree recodings of low loss; for tables with too many cuts for an exact search."
    asks_watch: ClassVar = False  # what it has bred counts, wherever it is ended

    target: str | None = param(
        None,
        doc="Minimise the classification error of this column instead of the loss of detail.",
        refers_to="predicted",
    )
    population: int = param(40, doc="Number of recodings that are bred.", ge=2)
    generations: int = param(50, doc="Stop after so many generations, at normal effort.", ge=1)
    patience: int | None = param(
        None, doc="Stop already after so many generations without a better recoding; never if not given.", ge=1
    )
    max_cuts: int = param(100, doc="Cut a numeric or ordered column at no more places than this.", ge=1)

    def decide(self, tally: Tally, goal: Goal, *, rng: np.random.Generator) -> Grouping:
        """Breed recodings."""
        self.require_supported(tally, goal)
        if tally.n_cells == 0:
            raise goal.infeasible(tally)
        space = Refinements.of(tally, self.max_cuts)
        loss = CellLossCost(tally, space, "lm")
        cost = loss if self.target is None else ClassificationCost(tally, self.target)
        herd = _Herd(tally, goal, space, cost, self.population, rng)
        bred = 0
        generations = self.work.of_usual(self.generations)
        with suppress(TimeOver):
            while bred < generations and (self.patience is None or herd.idle < self.patience):
                herd.breed()
                bred += 1
        result = Enumeration(tally, goal, space, cost)
        for steps in herd.steps[np.argsort(herd.fitness, kind="stable")]:
            if math.isfinite(result.offer(steps)):
                break
        with suppress(TimeOver):
            result.refine()
        return replace(result.grouping(), notes={"generations": bred, "cost": result.best * cost.scale})


class _Herd:
    """A population of recodings with their fitness (low is good)."""

    def __init__(
        self, tally: Tally, goal: Goal, space: Refinements, cost: Cost, size: int, rng: np.random.Generator
    ) -> None:
        self.tally = tally
        self.space = space
        self.cost = cost
        self.rng = rng
        self.judge = Judge(tally, goal)
        self.rows = Rows.of(tally, space, np.ones(len(space), np.bool_))
        self.size = size
        self.idle = 0
        self._of_column = [np.flatnonzero(space.column == j) for j in range(len(space.domains))]
        greedy = [np.zeros(len(space), np.bool_)]
        for wanted in {goal.budget(tally.n_records): goal, 0: Goal(goal.criteria)}.values():
            search = Enumeration(tally, wanted, space, cost)
            search.descend()
            if search.best_steps is not None:
                greedy.append(search.best_steps)
        thinned = [greedy[-1 - i % len(greedy)] & (rng.random(len(space)) < 0.8) for i in range(size - len(greedy))]
        self.steps = np.unique(np.array([space.counting(s) for s in [*greedy, *thinned]]), axis=0)
        self.fitness = self.judged(self.steps)

    def judged(self, herd: NDArray[np.bool_]) -> Floats:
        """The fitness of recodings: their cost per record, above 1 if they must suppress too much."""
        apart = []
        for steps in herd:
            group, first = self.rows.grouped(self.space, steps)
            apart.append(Splits.of(self.rows, self.space, group, len(first), np.array([-1], np.int32)))
        together = Splits.together(apart)
        ok = self.judge.states(self.rows, together) == OK
        published = [self.cost.published(self.rows, *each) for each in zip(herd, apart, strict=True)]
        suppressed = together.sums(np.where(ok, 0, together.size))
        cost = together.sums(np.where(ok, np.concatenate(published), together.size)) / self.tally.n_records
        over = np.maximum(suppressed - self.judge.budget, 0)
        over[together.sums(ok) == 0] = self.tally.n_records
        return np.where(over > 0, 1 + over, cost)

    def breed(self) -> None:
        """One generation: children of good parents replace the worst."""
        best = self.fitness.min()
        n_children = max(1, self.size // 2)
        rank = np.argsort(np.argsort(self.fitness, kind="stable"), kind="stable")
        chance = (len(rank) - rank).astype(np.float64)
        parents = self.rng.choice(len(rank), (n_children, 2), p=chance / chance.sum())
        children = np.array([self._child(*self.steps[pair]) for pair in parents])
        known = {steps.tobytes() for steps in self.steps}
        new = [i for i, child in enumerate(children) if child.tobytes() not in known]
        if new:
            fresh = np.unique(children[new], axis=0)
            herd, fitness = np.concatenate([self.steps, fresh]), np.concatenate([self.fitness, self.judged(fresh)])
            fittest = np.argsort(fitness, kind="stable")[: self.size]
            self.steps, self.fitness = herd[fittest], fitness[fittest]
        self.idle = 0 if self.fitness.min() < best else self.idle + 1

    def _child(self, one: Steps, other: Steps) -> Steps:
        """Two parents crossed at two points of each column, with some bits flipped."""
        child = one.copy()
        for mine in self._of_column:
            if len(mine):
                begin, end = np.sort(self.rng.integers(0, len(mine) + 1, 2))
                child[mine[begin:end]] = other[mine[begin:end]]
        child ^= self.rng.random(len(child)) < 1 / max(len(child), 1)
        return self.space.counting(child)
