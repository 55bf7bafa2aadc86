"""What a decision will take, before it is made: the size of the search, processor time and memory."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import dataclass

import numpy as np

from tarnkappe.algorithms import Algorithm
from tarnkappe.algorithms.ceilings import decide_below_ceilings
from tarnkappe.algorithms.shards import part_of
from tarnkappe.errors import InfeasibleError
from tarnkappe.goal import Goal
from tarnkappe.tally import Tally

#: Samples of so many cells are decided, one after the other, until one has taken long enough to tell.
_SAMPLES = (60, 125, 250, 500, 1000, 2000, 4000, 8000)
_LONG_ENOUGH = 0.4

#: One sample says nothing about growth: a second one follows unless the first has taken so long already.
_TOO_LONG = 3.0

#: What grows slower or faster than these powers between two samples is noise, or has not begun to grow.
_POWERS = (0.5, 2.5)


@dataclass(frozen=True)
class Estimate:
    """What deciding will take; `seconds` is None if no sample could be decided."""

    search: str
    cells: int
    #: The algorithm, and why it was chosen if the job leaves that open.
    algorithm: str
    why: str | None
    #: Processor seconds, and the cells of the largest sample that they were extrapolated from.
    seconds: float | None
    sample: int
    #: Bytes.
    memory: int


def estimate(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator) -> Estimate:
    """Decide about samples of growing size, and extrapolate with the power by which their time grew.

    That needs no promise of the algorithm and holds for any goal. It is rough: groups of a sample are wider than those
    of the whole table.
    """
    why = algorithm.why(tally, goal)
    algorithm = algorithm.chosen_for(tally, goal)
    sizes = [n for n in _SAMPLES if n < tally.n_cells] or [tally.n_cells]
    _seconds(algorithm, tally, goal, rng, sizes[0])  # kernels are compiled, and caches filled
    taken: list[tuple[int, float]] = []
    for n in sizes:
        seconds = _seconds(algorithm, tally, goal, rng, n)
        if seconds is not None:
            taken.append((n, max(seconds, 1e-6)))
            if seconds > (_LONG_ENOUGH if len(taken) > 1 else _TOO_LONG):
                break
    search, cells = algorithm.search_size(tally), tally.n_cells
    if not taken:
        return Estimate(search, cells, algorithm.title, why, None, 0, algorithm.memory(tally))
    sample, seconds = taken[-1]
    if sample < cells:
        seconds *= (cells / sample) ** _power(taken)
    memory = algorithm.memory(tally) + _working(algorithm, tally, goal, rng, taken)
    return Estimate(search, cells, algorithm.title, why, seconds, sample, memory)


def _working(
    algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator, taken: list[tuple[int, float]]
) -> int:
    """The memory of working arrays: a part that any table takes, and a part that grows with the cells."""
    small, large = taken[0][0], taken[max(len(taken) - 2, 0)][0]
    least = most = _peak(algorithm, tally, goal, rng, small)
    if large > small:
        most = _peak(algorithm, tally, goal, rng, large)
    slope = max(most - least, 0) / (large - small) if large > small else 0.0
    return most + int(slope * (tally.n_cells - large))


def _power(taken: list[tuple[int, float]]) -> float:
    """By which power of the cells the time grew between the last two samples; linear if there is one only."""
    if len(taken) < 2:
        return 1.0
    (n, before), (m, after) = taken[-2:]
    return float(np.clip(np.log(after / before) / np.log(m / n), *_POWERS))


def _seconds(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator, n: int) -> float | None:
    start = time.process_time()
    return time.process_time() - start if _decided(algorithm, tally, goal, rng, n) else None


def _peak(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator, n: int) -> int:
    """The most memory that deciding about a sample takes at a time."""
    tracemalloc.start()
    try:
        _decided(algorithm, tally, goal, rng, n)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _decided(algorithm: Algorithm, tally: Tally, goal: Goal, rng: np.random.Generator, n: int) -> bool:
    """Whether a sample of so many cells could be decided."""
    cells = np.linspace(0, tally.n_cells - 1, n).astype(np.int32)  # they are sorted, so these lie all over the table
    part = tally if n == tally.n_cells else part_of(tally, cells).tally
    try:
        decide_below_ceilings(algorithm, part, goal, rng)
    except InfeasibleError:
        return False
    return True
