"""The poster's genetic algorithm, as a baseline with a known distance from the optimum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Flags, Floats
from tarnkappe.errors import JobError
from tarnkappe.fingerprint.selection import Objective, Selection, best_window

#: With this probability genes are replaced; otherwise one is added or removed, each half of the time.
REPLACES = 0.4

#: At most this share of the chosen genes is replaced.
MOST_REPLACED = 1 / 3


@dataclass(frozen=True, eq=False)
class Evolution:
    """What a genetic algorithm found, and the best of every generation: objective, mean loss, cv and size."""

    selection: Selection
    value: Floats
    mean_loss: Floats
    cv: Floats
    size: NDArray[np.int64]


def evolve(
    losses: Floats, objective: Objective, *, rng: np.random.Generator, population: int = 50, generations: int = 200
) -> Evolution:
    """Search for the poster's subset by its genetic algorithm, and say how far from the optimum it ended.

    A solution is a string of bits, one for every pattern of the search space. Parents win a tournament of two; a
    two-point crossover mixes them. Then, with a probability of 40 %, between none and a third of the chosen patterns
    are replaced by others; otherwise one is added or removed, each half of the time. The best solution survives.

    Differs from the poster in: what it leaves open is decided here (start with random sizes, tournaments of two, one
    survivor), and sizes outside ``n_min .. n_max`` are repaired at random.

    References
    ----------
    .. [SaMa] Sarcevic, Mayer. "Anonymisation and fingerprinting of microdata: a genetic algorithm for finding optimal
       set for data distribution." Poster, SBA Research.
    """
    if population < 2 or generations < 1:
        raise JobError("E110", "a population has at least 2 members, and at least 1 generation", hint="population=50")
    losses = np.asarray(losses, np.float64)
    exact = best_window(losses, objective)
    most = min(objective.n_max, len(losses))
    genes = np.zeros((population, len(losses)), np.bool_)
    for row, n in zip(genes, rng.integers(objective.n_min, most + 1, population), strict=True):
        row[rng.choice(len(losses), n, replace=False)] = True
    fitness = _fitness(genes, losses, objective)
    told = []
    for _ in range(generations):
        champion = genes[int(fitness.argmin())].copy()
        children = _crossed(genes, fitness, rng)
        for child in children:
            mutate(child, rng)
            _repair(child, objective.n_min, most, rng)
        children[0] = champion
        genes, fitness = children, _fitness(children, losses, objective)
        chosen = losses[genes[int(fitness.argmin())]]
        told.append((float(fitness.min()), chosen.mean(), chosen.std() / max(chosen.mean(), 1e-300), len(chosen)))
    best = np.flatnonzero(genes[int(fitness.argmin())])
    found = Selection.of(best, losses, objective, exact.value, "genetic algorithm of the poster")
    value, mean, cv, size = (np.array(column) for column in zip(*told, strict=True))
    return Evolution(found, value, mean, cv, size)


def mutate(genes: Flags, rng: np.random.Generator) -> None:
    """Replace some genes, or add or remove one, in place."""
    chosen, others = np.flatnonzero(genes), np.flatnonzero(~genes)
    if rng.random() < REPLACES:
        most = min(int(len(chosen) * MOST_REPLACED), len(others))
        n = int(rng.integers(0, most + 1))
        genes[rng.choice(chosen, n, replace=False)] = False
        genes[rng.choice(others, n, replace=False)] = True
    elif rng.random() < 0.5:
        if len(others):
            genes[rng.choice(others)] = True
    elif len(chosen):
        genes[rng.choice(chosen)] = False


def _fitness(genes: NDArray[np.bool_], losses: Floats, objective: Objective) -> Floats:
    n = genes.sum(axis=1)
    safe = np.maximum(n, 1)
    mean = genes @ losses / safe
    return objective.of_moments(n, mean, genes @ losses**2 / safe - mean**2)


def _crossed(genes: NDArray[np.bool_], fitness: Floats, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Children of parents who won a tournament: the middle of one string between the ends of another."""
    count, length = genes.shape
    rivals = rng.integers(0, count, (2, count, 2))
    parents = np.take_along_axis(rivals, fitness[rivals].argmin(axis=2)[..., None], axis=2)[..., 0]
    cuts = np.sort(rng.integers(0, length + 1, (count, 2)), axis=1)
    place = np.arange(length)
    middle = (place >= cuts[:, :1]) & (place < cuts[:, 1:])
    children: NDArray[np.bool_] = np.where(middle, genes[parents[1]], genes[parents[0]])
    return children


def _repair(genes: Flags, least: int, most: int, rng: np.random.Generator) -> None:
    n = int(genes.sum())
    if n < least:
        genes[rng.choice(np.flatnonzero(~genes), least - n, replace=False)] = True
    elif n > most:
        genes[rng.choice(np.flatnonzero(genes), n - most, replace=False)] = False
