"""Families of patterns that colluders cannot use to frame others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Flags, Floats
from tarnkappe.errors import JobError

#: Levels of patterns, one row each.
Levels = NDArray[np.int16]


def meet(*patterns: Sequence[int]) -> tuple[int, ...]:
    """What recipients of several patterns learn together: the finer level of every column.

    >>> meet([0, 2], [1, 1])
    (0, 1)
    """
    return tuple(int(x) for x in np.min(np.array(patterns), axis=0))


def framed(levels: Levels, c: int) -> tuple[int, tuple[int, ...]] | None:
    """Somebody whom at most `c` others can frame, and they; None if the family is frameproof.

    A coalition can publish whatever is at least as coarse as its meet. So pattern i is safe from coalition C exactly
    if some column of it is finer than in all of C. All coalitions are tried: this is the proof.

    >>> framed(np.array([[0, 1], [1, 0]], np.int16), 1) is None
    True
    >>> framed(np.array([[0, 2], [1, 1], [2, 0], [0, 3]], np.int16), 1)
    (3, (0,))
    """
    n = len(levels)
    for size in range(1, min(c, n - 1) + 1):
        for coalition in combinations(range(n), size):
            inside = (levels >= levels[list(coalition)].min(axis=0)).all(axis=1)
            inside[list(coalition)] = False
            if inside.any():
                return int(inside.argmax()), coalition
    return None


def one_finer(base: Sequence[int], heights: Sequence[int]) -> Levels:
    """As many patterns as columns that can still go up, frameproof against coalitions of any size.

    Pattern a has column a as in the base and every other one a level higher: nobody but its recipient has it so fine.

    >>> one_finer([0, 1, 2], [1, 2, 2]).tolist()
    [[0, 2, 2], [1, 1, 2]]
    """
    low, high = np.asarray(base, np.int16), np.asarray(heights, np.int16)
    free = np.flatnonzero(low < high)
    up = np.minimum(low + 1, high).astype(np.int16)
    out = np.tile(up, (len(free), 1))
    out[np.arange(len(free)), free] = low[free]
    return out


@dataclass(frozen=True, eq=False)
class Family:
    """Patterns that are frameproof against `c` colluders, by their places among the candidates.

    `bound` is what no such family exceeds in size (or falls below in mean loss, if a size was asked for).
    """

    members: NDArray[np.int64]
    c: int
    mean_loss: float
    bound: float
    value: float
    objective: str

    @property
    def gap(self) -> float:
        """What is left to gain at most, relative to what was reached."""
        return abs(self.bound - self.value) / max(abs(self.value), 1e-12)

    @property
    def is_optimal(self) -> bool:
        """Whether no better family exists."""
        return self.gap < 1e-9


#: Coalitions that a search asks about, unless told otherwise: some seconds.
EFFORT = 200_000


def frameproof(
    levels: Levels, losses: Floats, c: int, *, rng: np.random.Generator, n: int | None = None, effort: int = EFFORT
) -> Family:
    """A frameproof family: the largest one, or the cheapest one of `n` patterns.

    For one colluder it is an antichain, whose largest size is that of a smallest cover by chains (Dilworth): found by
    a matching, and proved. For more colluders a depth-first search adds patterns one by one, asks only about coalitions
    with the newest member, and drops at once whoever such a coalition frames (cuts are made when they are needed, not
    listed before). It starts from greedy families and ends when it has asked about `effort` coalitions; then the gap
    says what is open. Counted in work, not in time: the same seed gives the same family everywhere.

    Bounds: the size of an antichain; for a given size, the sum of the cheapest patterns of as many chains.
    """
    if c < 1:
        raise JobError("E110", f"'colluders' must be at least 1, got {c!r}", hint="colluders=2")
    levels = np.asarray(levels, np.int16)
    below: NDArray[np.bool_] = np.array((levels[:, None, :] <= levels[None, :, :]).all(axis=2))
    np.fill_diagonal(below, False)
    widest, chain = _widest_antichain(below)
    search = _Search(levels, np.asarray(losses, np.float64), c, below | below.T, effort)
    if n is not None:
        cheapest = np.sort([losses[chain == i].min() for i in np.unique(chain)])
        if n > len(cheapest):
            raise _too_many(n, len(cheapest), c)
        members = search.cheapest(n, rng)
        if members is None:
            raise _too_many(n, len(search.largest(rng)), c)
        value = float(losses[members].mean())
        bound = value if search.is_complete else float(cheapest[:n].mean())
        return Family(np.sort(members), c, value, bound, value, f"least mean loss of {n} patterns")
    members = widest if c == 1 else search.largest(rng)
    bound = len(members) if c == 1 or search.is_complete else len(widest)
    return Family(np.sort(members), c, float(losses[members].mean()), bound, len(members), "most patterns")


def _too_many(n: int, most: int, c: int) -> JobError:
    return JobError(
        "E110",
        f"{n} patterns that {c} colluders cannot frame were not found; the largest family found has {most}",
        hint="Use block marks, which carry any number of recipients:  --scheme marks",
    )


def _widest_antichain(below: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A largest antichain, and a smallest cover by chains: the chain of every pattern (Dilworth, Kőnig).

    `below[i, j]`: pattern i is finer than j. Augmenting paths in the bipartite graph of that relation, O(N · pairs).
    """
    n = len(below)
    next_of, before = np.full(n, -1), np.full(n, -1)
    uppers = [np.flatnonzero(row) for row in below]
    for start in range(n):
        came: dict[int, int] = {}  # upper side -> lower side it was reached from
        queue, end = [start], -1
        seen = np.zeros(n, np.bool_)
        while queue and end < 0:
            i = queue.pop()
            for j in uppers[i][~seen[uppers[i]]]:
                seen[j] = True
                came[int(j)] = i
                if before[j] < 0:
                    end = int(j)
                    break
                queue.append(int(before[j]))
        while end >= 0:
            i = came[end]
            before[end] = i
            next_of[i], end = end, int(next_of[i])
    # Kőnig: what alternating paths reach from lower sides that are not matched.
    low, high = next_of < 0, np.zeros(n, np.bool_)
    queue = np.flatnonzero(low).tolist()
    while queue:
        fresh = uppers[queue.pop()]
        fresh = fresh[~high[fresh]]
        high[fresh] = True
        owners = before[fresh]
        owners = owners[(owners >= 0) & ~low[owners]]
        low[owners] = True
        queue += owners.tolist()
    chain = np.full(n, -1)
    for first in np.flatnonzero(before < 0).tolist():
        at = first
        while at >= 0:
            chain[at] = first
            at = int(next_of[at])
    return np.flatnonzero(low & ~high), chain


class _Search:
    """Depth-first search for frameproof families."""

    def __init__(self, levels: Levels, losses: Floats, c: int, comparable: NDArray[np.bool_], effort: int) -> None:
        self.levels, self.losses, self.c, self.effort = levels, losses, c, effort
        self.asked = 0
        self.apart = ~comparable
        np.fill_diagonal(self.apart, False)
        self.is_complete = False

    def left(self, family: list[int], free: Flags, new: int) -> Flags | None:
        """Who can still join after `new` did; None if a coalition with it frames a member."""
        free = free & self.apart[new]
        self.asked += 1
        for size in range(1, min(self.c, len(family) + 1)):
            for others in combinations(family, size):
                self.asked += 1
                coalition = [new, *others]
                low = self.levels[coalition].min(axis=0)
                inside = (self.levels >= low).all(axis=1)
                free = free & ~inside
                inside[coalition] = False
                if inside[family].any():
                    return None
        return free

    def joins(self, family: list[int], new: int) -> bool:
        """Whether nobody frames the new member."""
        for size in range(1, min(self.c, len(family)) + 1):
            for others in combinations(family, size):
                if (self.levels[new] >= self.levels[list(others)].min(axis=0)).all():
                    return False
        return True

    def greedy(self, order: NDArray[np.int64], most: int | None = None) -> list[int]:
        """Take whoever fits, in this order."""
        self.asked += 1
        family: list[int] = []
        free = np.ones(len(order), np.bool_)
        for i in order.tolist():
            if most is not None and len(family) == most:
                break
            if free[i] and (kept := self.left(family, free, i)) is not None:
                family.append(i)
                free = kept
        return family

    def largest(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The largest family found: greedy ones from many orders with half of the effort, then a search."""
        best: list[int] = []
        half = self.asked + (self.effort - self.asked) / 2
        while self.asked < half:
            found = self.greedy(rng.permutation(len(self.levels)))
            best = max(best, found, key=len)
        order = np.argsort(self.losses, kind="stable")
        done = self._deepen([], np.ones(len(order), np.bool_), order, best)
        self.is_complete = done
        return np.array(best, np.int64)

    def _deepen(self, family: list[int], free: Flags, order: NDArray[np.int64], best: list[int]) -> bool:
        if len(family) > len(best):
            best[:] = family
        here = order[free[order]]
        for at, i in enumerate(here.tolist()):
            if len(family) + len(here) - at <= len(best):
                return True
            if self.asked > self.effort:
                return False
            rest = free.copy()
            rest[here[: at + 1]] = False
            kept = self.left(family, rest, i)
            if kept is not None and not self._deepen([*family, i], kept, order, best):
                return False
        return True

    def cheapest(self, n: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
        """The cheapest family of `n` found."""
        order = np.argsort(self.losses, kind="stable")
        best: list[int] = []
        quarter = self.asked + (self.effort - self.asked) / 4
        noise = 0.0
        while self.asked < quarter or (not best and self.asked < self.effort):
            shaken = self.losses + noise * rng.standard_normal(len(order)) * self.losses.std()
            found = self.greedy(np.argsort(shaken, kind="stable"), n)
            noise = min(noise + 0.05, 2.0)
            if len(found) == n and (not best or self.losses[found].sum() < self.losses[best].sum()):
                best, noise = found, noise / 2
        self.is_complete = self._cheaper([], np.ones(len(order), np.bool_), order, n, best)
        return np.array(best, np.int64) if best else None

    def _cheaper(self, family: list[int], free: Flags, order: NDArray[np.int64], n: int, best: list[int]) -> bool:
        if len(family) == n:
            if not best or self.losses[family].sum() < self.losses[best].sum() - 1e-15:
                best[:] = family
            return True
        here = order[free[order]]
        spent, missing = self.losses[family].sum(), n - len(family)
        for at, i in enumerate(here.tolist()):
            if len(here) - at < missing:
                return True
            if best and spent + self.losses[here[at : at + missing]].sum() >= self.losses[best].sum() - 1e-15:
                return True
            if self.asked > self.effort:
                return False
            rest = free.copy()
            rest[here[: at + 1]] = False
            kept = self.left(family, rest, i)
            if kept is not None and not self._cheaper([*family, i], kept, order, n, best):
                return False
        return True
