"""Best-first search with a bound."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import ClassVar

import numpy as np

from tarnkappe.algorithms.effort import Improving
from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.algorithms.fulldomain.lattice import Node
from tarnkappe.algorithms.fulldomain.search import Search
from tarnkappe.groups import Note
from tarnkappe.params import param


@dataclass(frozen=True)
class BestFirst(FullDomainSearch, Improving):
    """Check nodes in the order of the least they can lose, until the best found cannot be beaten or the patience ends.

    A node's bound is its loss if nothing had to be suppressed; it never falls when generalising. Nodes wait in a heap
    by their bound and never in a grid, so lattices of any size can be searched. Above a node that violates the goal, a
    path upwards is halved as in Flash: that finds releases early and rules out whole sublattices.

    Where there are more nodes than checks, half of the checks first go downwards: from the most general node, the best
    release found so far is specialised in every column. The first of these steps are those of `TopDown`, so the result
    is never worse than its result, as long as the checks last.

    If the search ends early, the smallest bound still waiting says how much better the optimum could be: the gap.

    References
    ----------
    .. [PKKB16] Prasser, Bild, Eicher, Spengler, Kohlmayer, Kuhn. "Lightning: utility-driven anonymization of
       high-dimensional data." Transactions on Data Privacy 9(2), 2016. (the way downwards)
    .. [HaNR68] Hart, Nilsson, Raphael. "A formal basis for the heuristic determination of minimum cost paths." 1968.
    """

    name: ClassVar = "best-first"
    title: ClassVar = "Best-first search"
    summary: ClassVar = "For very large lattices: the best node within a number of checks, and how far it may be off."
    keeps_all_nodes: ClassVar = False
    asks_watch: ClassVar = False

    checks: int = param(
        20_000, doc="How many nodes may be looked at before the best so far is taken, at normal effort.", ge=1
    )

    @property
    def _checks(self) -> int:
        return self.work.of_usual(self.checks)

    def run(self, search: Search, rng: np.random.Generator) -> dict[str, Note]:
        """Search until the bound meets the best score, or the checks are used up."""
        lattice, bound = search.lattice, search.scoring.bound
        ruled_out = np.empty((0, len(lattice.low)), np.int16)
        waiting = [(bound(lattice.low), lattice.low)]
        seen = {lattice.low}
        search.check(lattice.high)
        if 2 * lattice.n_nodes > self._checks:
            self._descend(search)
        taken = 0  # nodes that were ruled out already cost little, but there may be very many of them
        while waiting and waiting[0][0] <= search.threshold and search.n_checked + taken < self._checks:
            _, node = heappop(waiting)
            taken += 1
            if not (ruled_out >= node).all(axis=1).any():
                highest = self._climb(search, node) if not search.check(node).ok else None
                if highest is not None:
                    covered = (ruled_out <= highest).all(axis=1)
                    ruled_out = np.vstack([ruled_out[~covered], np.array([highest], np.int16)])
            for successor in lattice.successors(node):
                if successor not in seen:
                    seen.add(successor)
                    heappush(waiting, (bound(successor), successor))
        reached = search.threshold
        least = min(waiting[0][0] if waiting else np.inf, reached)
        sign = search.scoring.sign
        return {
            "optimal": bool(least >= reached),
            "bound": float(sign * least),
            "gap": float(reached - least),
        }

    def _descend(self, search: Search) -> None:
        """Specialise the best release found so far, again and again, until half of the checks are used up."""
        waiting = [(*Search.rank(search.check(search.lattice.high)), search.lattice.high)]
        seen = {search.lattice.high}
        while waiting and search.n_checked < self._checks // 2 and not self.watch.over:
            node = heappop(waiting)[-1]
            for special in search.lattice.predecessors(node):
                if special in seen:
                    continue
                seen.add(special)
                found = search.check(special)
                # From a top that violates the goal (suppression may help further down) any step is worth trying.
                if found.ok or search.best is None:
                    heappush(waiting, (*Search.rank(found), special))

    def _climb(self, search: Search, node: Node) -> Node | None:
        """Go up from a violating node; the highest node of the way that rules out everything below it, if any."""
        lattice, bound = search.lattice, search.scoring.bound
        path = [node]
        while path[-1] != lattice.high:
            path.append(min(lattice.successors(path[-1]), key=lambda n: (bound(n), n)))
        low, high, highest = 0, len(path) - 1, None
        while low <= high:
            middle = (low + high) // 2
            found = search.check(path[middle], bound=search.threshold)
            if found.rules_out_below:
                highest = path[middle]
            if found.ok:
                high = middle - 1
            else:
                low = middle + 1
        return highest
