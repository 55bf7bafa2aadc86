"""Genetic search on levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.lattice import Node
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.arrays import Floats
from tarnkappe.groups import Note
from tarnkappe.params import param


@dataclass(frozen=True)
class LevelGenetic(FullDomainSearch, Improving):
    """Breed nodes: good ones are crossed column by column and some of their levels changed, generation by generation.

    A chromosome has one level per quasi-identifier. The first generation holds the bottom, the top, the nodes between
    them at equal shares of every height, and random nodes. In every generation the better half of the population
    survives and is crossed: each column takes its level from one of two parents, drawn by rank. Then levels move by one
    step with a small probability. Nodes that violate the goal rank behind all others, by the records they would have to
    suppress, so the population finds its way to allowed ones. Nodes are checked once, however often they are bred.

    References
    ----------
    .. [MeLP21] Meurers, Bild, Do, Prasser. "A scalable software solution for anonymizing high-dimensional biomedical
       data." GigaScience 10(10), 2021.
    """

    name: ClassVar = "genetic"
    title: ClassVar = "Genetic search on levels"
    summary: ClassVar = "Breeds level vectors; for lattices too large to search, not optimal."
    keeps_all_nodes: ClassVar = False
    asks_watch: ClassVar = False

    population: int = param(60, doc="Nodes in a generation.", ge=4)
    generations: int = param(40, doc="Number of generations at normal effort.", ge=1)
    mutation: float = param(0.1, doc="Probability that a level moves by one step.", ge=0, le=1)

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Breed for a number of generations."""
        low, high = np.array(search.lattice.low), np.array(search.lattice.high)
        shares = np.linspace(0, 1, max(self.population // 3, 2))[:, None]
        ladder = np.rint(low + shares * (high - low)).astype(np.int64)
        random = rng.integers(low, high + 1, (self.population - len(ladder), len(low)))
        nodes = np.vstack([ladder, random])
        generations = self.work.of_usual(self.generations)
        for _ in range(generations):
            fitness = self._fitness(search, nodes)
            ranked = nodes[np.argsort(fitness, kind="stable")]
            parents = np.unique(ranked, axis=0, return_index=True)[1]
            elite = ranked[np.sort(parents)][: max(self.population // 2, 2)]
            weights = np.arange(len(elite), 0, -1, dtype=np.float64)
            pairs = rng.choice(len(elite), (self.population - len(elite), 2), p=weights / weights.sum())
            takes = rng.random((len(pairs), len(low))) < 0.5
            children = np.where(takes, elite[pairs[:, 0]], elite[pairs[:, 1]])
            moves = rng.choice([-1, 1], children.shape) * (rng.random(children.shape) < self.mutation)
            nodes = np.vstack([elite, np.clip(children + moves, low, high)])
        self._fitness(search, nodes)
        return {"optimal": False, "generations": generations}

    @staticmethod
    def _fitness(search: Search, nodes: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Floats:
        """Ranks of nodes, the best lowest: by score if they satisfy the goal, else by what they would suppress."""
        found = [search.check(_node(row)) for row in nodes]
        keys = [(not c.ok, c.score if c.ok else float(c.suppressed), i) for i, c in enumerate(found)]
        ranks = np.empty(len(keys))
        ranks[[i for *_, i in sorted(keys)]] = np.arange(len(keys))
        return ranks


def _node(row: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> Node:
    return tuple(int(level) for level in row)
