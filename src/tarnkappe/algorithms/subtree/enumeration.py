"""Exact search: set enumeration over refinements with lower bounds."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.subtree.candidates import Judge, Rows, Splits, States
from tarnkappe.algorithms.subtree.costs import CellLossCost, Cost
from tarnkappe.algorithms.subtree.refinements import Refinements, Steps
from tarnkappe.algorithms.watch import Watch
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.goal import Goal
from tarnkappe.groups import Grouping, Note
from tarnkappe.kernels.subtree.refinements import OK, bound_splits
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally

#: Costs closer than this, relatively, are the same: they are sums in different orders.
_TIE = 1e-12

#: As much work as to count one record after a step: to ask a goal about one, to group one for a branch that is
#: visited, and to visit a branch at all.
_ASKING, _GROUPING, _VISITING = 8, 2, 50_000


@dataclass(frozen=True, eq=False)
class _Branch:
    """All recodings that make the steps `made` and any of the steps `open`; none is cheaper than `bound`."""

    made: Steps
    open: Steps
    bound: float


class _Frontier:
    """The branches still to be visited: by turns the newest one, to find good recodings, and that of lowest bound."""

    def __init__(self, branches: list[_Branch]) -> None:
        self._by_bound: list[tuple[float, int]] = []
        self._waiting: dict[int, _Branch] = {}
        self._pushed = 0
        self._newest: list[int] = []
        self._turn = 0
        self.push(branches)

    def __len__(self) -> int:
        return len(self._waiting)

    def push(self, branches: list[_Branch]) -> None:
        """Add branches; the first of them is to be visited first."""
        for branch in reversed(branches):
            heapq.heappush(self._by_bound, (branch.bound, self._pushed))
            self._newest.append(self._pushed)
            self._waiting[self._pushed] = branch
            self._pushed += 1

    def pop(self) -> _Branch:
        """Take a branch away."""
        self._turn += 1
        while True:
            number = self._newest.pop() if self._turn % 2 else heapq.heappop(self._by_bound)[1]
            if number in self._waiting:
                return self._waiting.pop(number)

    @property
    def lowest(self) -> float:
        """The lowest bound of all."""
        return min((branch.bound for branch in self._waiting.values()), default=math.inf)


class Enumeration:
    """Looks through all sets of steps, each once, but for those that cannot be better than the best one known.

    A branch is a set of steps made and a set of steps still open. It is given up if its lower bound reaches the best
    cost, or if it must suppress too many records; a step whose own branch would be given up is closed, which raises the
    bounds of the others, so this is repeated. Each remaining step starts a branch in which the steps after it are open.
    Steps that lower the cost most come first, so that most branches lack them and have high bounds.
    """

    def __init__(self, tally: Tally, goal: Goal, space: Refinements, cost: Cost) -> None:
        self.tally = tally
        self.goal = goal
        self.space = space
        self.cost = cost
        self.judge = Judge(tally, goal)
        self.everything: Steps = np.ones(len(space), np.bool_)
        self.rows = Rows.of(tally, space, self.everything)
        self.best = math.inf
        self.best_steps: Steps | None = None
        self.visited = 0
        #: Records, as rows or cells, that were looked at after a step in visited branches.
        self.work = 0

    def least_cost(self) -> float:
        """What no recoding costs less than, as far as a look at the finest one tells."""
        group = np.zeros(len(self.rows.size), np.int32)
        state = self._examined(np.zeros_like(self.everything), self.rows)[1]
        floor = self.cost.floor(self.rows, self.everything)
        bound, _ = bound_splits(group[None], state, self.rows.size, floor, self.cost.price)
        return float(bound[0])

    def optimum(self, nodes: int | None, work: int, watch: Watch) -> Grouping:
        """The best recoding found within a number of visited branches; its notes say whether it is the best of all.

        If no number is given, so much `work` is done.
        """
        self.descend()
        if self.judge.budget:
            self._search_without_suppression(None if nodes is None else nodes // 2, work // 2, watch)
        lower = min(self.best, self._search(nodes, work, watch))
        self.refine()
        notes: dict[str, Note] = {
            "optimal": lower >= self._threshold,
            "cost": self.best * self.cost.scale,
            "lower bound": min(lower, self.best) * self.cost.scale,
            "nodes": self.visited,
        }
        return replace(self.grouping(), notes=notes)

    def _search(self, nodes: int | None, work: int, watch: Watch) -> float:
        """Visit branches until enough have been visited or none is left; the lowest bound of those left."""
        frontier = _Frontier([_Branch(np.zeros_like(self.everything), self.everything, 0.0)])
        while len(frontier) and (self.work < work if nodes is None else self.visited < nodes) and not watch.over:
            branch = frontier.pop()
            if branch.bound < self._threshold:
                frontier.push(self._branches(branch))
        return frontier.lowest

    def _search_without_suppression(self, nodes: int | None, work: int, watch: Watch) -> None:
        """Look for a good first solution where branches are given up soonest: where nothing may be suppressed."""
        strict = Enumeration(self.tally, Goal(self.goal.criteria), self.space, self.cost)
        strict.descend()
        strict._search(nodes, work, watch)
        self.visited += strict.visited
        self.work += strict.work
        if strict.best_steps is not None:
            self.offer(strict.best_steps)

    def grouping(self) -> Grouping:
        """The best recoding found; an `InfeasibleError` if there is none."""
        if self.best_steps is None:
            raise self.goal.infeasible(self.tally)
        settled = suppress_leftovers(self.tally, self.space.grouping(self.tally, self.best_steps), self.goal)
        assert settled is not None, "the best recoding was feasible when it was found"
        return settled

    def descend(self) -> None:
        """Make the step that lowers the cost most, as long as one does: a first solution to compare others with."""
        made, untried = np.zeros_like(self.everything), self.everything.copy()
        current = self.offer(made)
        while len(ready := self.space.ready(made, untried)):
            cost, suppressed = self._after(made, ready, self.cost)
            feasible = suppressed <= self.judge.budget
            if self.judge.final:
                untried[ready[~feasible]] = False
            if feasible.any():
                chosen = int(np.argmin(np.where(feasible, cost, np.inf)))
                if cost[chosen] >= current:
                    return
            elif math.isinf(current):  # only with criteria that a part can satisfy where the whole does not
                chosen = int(np.argmin(suppressed))
            else:
                return
            untried[ready[chosen]] = False
            made[ready[chosen]] = True
            reached = self.offer(made)
            if math.isinf(reached) and not math.isinf(current):
                made[ready[chosen]] = False
            else:
                current = reached

    def refine(self) -> None:
        """Make further steps that cost nothing, those that save most detail first."""
        if self.best_steps is None:
            return
        detail = self.cost if isinstance(self.cost, CellLossCost) else CellLossCost(self.tally, self.space, "lm")
        made, free = self.best_steps, self.everything.copy()
        while len(ready := self.space.ready(made, free & ~made)):
            cost, suppressed = self._after(made, ready, self.cost)
            good = (cost <= self.best * (1 + _TIE)) & (suppressed <= self.judge.budget)
            free[ready[~good]] = False
            if not good.any():
                return
            kept = cost[good] if detail is self.cost else self._after(made, ready[good], detail)[0]
            chosen = ready[good][np.argmin(kept)]
            free[chosen] = False
            more = _with(made, chosen)
            if self.offer(more) <= self.best * (1 + _TIE):
                made = self.best_steps = more

    def _after(self, made: Steps, steps: Codes, cost: Cost) -> tuple[Floats, Floats]:
        """Cost and suppressed records of the recoding after each of the steps."""
        rows = self.rows
        group, first = rows.grouped(self.space, made)
        found = []
        for some in rows.chunks(steps):
            splits = Splits.of(rows, self.space, group, len(first), some)
            found.append(_costs(rows, made, splits, self.judge.states(rows, splits), cost))
        return np.concatenate([costs for costs, _ in found]), np.concatenate([lost for _, lost in found])

    def offer(self, made: Steps) -> float:
        """The cost of a recoding, infinite if it is not allowed; remembered if it is the best so far."""
        whole, state = self._examined(made, self.rows)
        kept = self.judge.kept(self.rows, whole.group[0], state, whole.size)
        if kept is None:
            return math.inf
        published = self.cost.published(self.rows, made, whole)
        cost = float(published[kept].sum() + self.cost.price * whole.size[~kept].sum())
        if cost < self._threshold:
            self.best, self.best_steps = cost, made.copy()
        return cost

    def _examined(self, made: Steps, rows: Rows) -> tuple[Splits, States]:
        """The groups of a recoding and their states."""
        group, first = rows.grouped(self.space, made)
        whole = Splits.of(rows, self.space, group, len(first), np.array([-1], np.int32))
        return whole, self.judge.states(rows, whole)

    @property
    def _threshold(self) -> float:
        """What a cost must be below to be an improvement."""
        return self.best - _TIE * abs(self.best) if math.isfinite(self.best) else math.inf

    def _branches(self, branch: _Branch) -> list[_Branch]:
        """Divide a branch into branches, all of whose first recodings are tried; the most promising is the first."""
        made = branch.made
        still_open = self.space.counting(made | branch.open) & ~made
        if not still_open.any():
            return []
        self.visited += 1
        self.work += _VISITING + _GROUPING * len(self.rows.size)
        rows, _ = self.rows.condensed(self.space, made | still_open)
        whole, state = self._examined(made, rows)
        group = whole.group[0]
        while True:
            floor = self.cost.floor(rows, made | still_open)
            bound, lost = bound_splits(group[None], state, rows.size, floor, self.cost.price)
            if self._hopeless(bound, lost)[0]:
                return []
            ready = self.space.ready(made, still_open)
            bounds, costs, hopeless = self._bounds(made, rows, group, len(state), ready, floor)
            if not hopeless.any():
                break
            still_open[ready[hopeless]] = False
            still_open = self.space.counting(made | still_open) & ~made
            rows, like = rows.condensed(self.space, made | still_open)
            group = np.ascontiguousarray(group[like])
        out = []
        for i in np.argsort(costs, kind="stable"):
            still_open[ready[i]] = False
            out.append(_Branch(_with(made, ready[i]), still_open.copy(), float(max(bounds[i], bound[0]))))
        return out

    def _hopeless(self, bound: Floats, lost: Counts) -> NDArray[np.bool_]:
        """Which branches with these bounds hold nothing better or nothing allowed."""
        return (bound >= self._threshold) | (lost > self.judge.budget)

    def _bounds(
        self, made: Steps, rows: Rows, group: Codes, n_groups: int, steps: Codes, floor: Floats
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """The lower bound of the branch of each step, the cost of its first recoding, and whether it is hopeless.

        The goal is only asked about steps that sizes alone do not rule out.
        """
        bounds, costs = np.zeros(len(steps)), np.full(len(steps), np.inf)
        hopeless = np.zeros(len(steps), np.bool_)
        for by_size in (True,) if self.goal.decided_by_size else (True, False):
            left = np.flatnonzero(~hopeless).astype(np.int32)
            self.work += len(left) * (len(rows.size) if by_size else _ASKING * self.tally.n_cells)
            for some in rows.chunks(left):
                splits = Splits.of(rows, self.space, group, n_groups, steps[some])
                state = self.judge.by_size(splits) if by_size else self.judge.states(rows, splits)
                bounds[some], lost = bound_splits(splits.group, state, rows.size, floor, self.cost.price)
                hopeless[some] = self._hopeless(bounds[some], lost)
                if self.goal.decided_by_size or not by_size:
                    costs[some] = self._tried(made, rows, splits, state)
        return bounds, costs, hopeless

    def _tried(self, made: Steps, rows: Rows, splits: Splits, state: States) -> Floats:
        """The costs of some recodings, infinite if not allowed; the best is remembered if better than what is known."""
        cost, lost = _costs(rows, made, splits, state, self.cost)
        cost[lost > self.judge.budget] = np.inf
        for at in np.argsort(cost, kind="stable"):
            if cost[at] >= self._threshold:
                break
            self.offer(_with(made, splits.steps[at]))
        return cost


def _costs(rows: Rows, made: Steps, splits: Splits, state: States, by: Cost) -> tuple[Floats, Floats]:
    """What a recoding costs after each of some steps, and how many records it suppresses."""
    ok = state == OK
    cost = splits.sums(np.where(ok, by.published(rows, made, splits), by.price * splits.size))
    return cost, splits.sums(np.where(ok, 0, splits.size))


def _with(made: Steps, step: int) -> Steps:
    """The steps made and one more."""
    out = made.copy()
    out[step] = True
    return out
