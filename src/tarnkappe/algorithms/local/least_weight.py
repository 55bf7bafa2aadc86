"""The cells of least weight to give up, by integer programming."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.local.patterns import Cover, Demand, groups_by
from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.criteria.key_anonymity import KeyAnonymity
from tarnkappe.criteria.lkc_privacy import LKCPrivacy
from tarnkappe.errors import DataError
from tarnkappe.fixes import algorithm, say
from tarnkappe.goal import Goal
from tarnkappe.tally import distinct_rows

#: Largest model that is tried: pairs of a row and a pattern.
MOST_CHOICES = 20_000


def demands_of(goal: Goal, columns: Sequence[str]) -> list[Demand] | None:
    """What a goal asks for, if that is only how many records publish the same in which columns; else None.

    What another demand implies is left out: records that publish the same in all columns do so in some.
    """
    everything = tuple(range(len(columns)))
    found: set[Demand] = set()
    for criterion in goal.criteria:
        if isinstance(criterion, KeyAnonymity):
            chosen = {columns.index(name) for name in criterion.x}
            found.add((tuple(sorted(chosen)) or everything, criterion.k))
        elif isinstance(criterion, LKCPrivacy) and criterion.column is None:
            known = min(criterion.l, len(columns))
            found.update((some, criterion.k) for some in combinations(everything, known))
        elif criterion.decided_by_size:
            found.add((everything, criterion.min_size))
        else:
            return None
    implied = {a for a, b in product(found, found) if a != b and set(a[0]) <= set(b[0]) and a[1] <= b[1]}
    return sorted(found - implied)


def solver() -> ModuleType:
    """HiGHS, which is an extra."""
    try:
        import highspy
    except ImportError:
        raise DataError(
            "E430",
            "the least weight is found by integer programming, which needs a library that is not installed",
            hint=say("pip install 'tarnkappe[optimal]'   or  {}", algorithm("local-suppression", method="greedy")),
        ) from None
    found: ModuleType = highspy
    return found


def least_weight(
    codes: Codes,
    sizes: Sequence[int],
    size: Counts,
    demands: Sequence[Demand],
    weights: Floats,
    budget: int,
    nodes: int,
) -> Cover | None:
    """The cells of least weight that records give up so that every demand is met; None if none was found in time.

    Whole numbers `x[i, p]` say how many records of row `i` give up the cells of pattern `p`. A group, what is published
    in the columns of a demand, is open or not: whoever joins it opens it, and an open one has as many records as
    demanded. Records may also be removed, `budget` of them, at the weight of all their cells.
    """
    n, d = codes.shape
    patterns = np.array(list(product([False, True], repeat=d)))
    row, pattern = np.repeat(np.arange(n), len(patterns)), np.tile(np.arange(len(patterns)), n)
    keys = [_keys(codes, sizes, patterns, demand[0]) for demand in demands]
    useful = np.ones(len(row), np.bool_)
    if len(demands) == 1 and len(demands[0][0]) == d:
        useful = _closed(codes, patterns, keys[0], row, pattern)
    for (_, k), key in zip(demands, keys, strict=True):
        useful &= np.bincount(key, size[row])[key] >= k
    row, pattern = row[useful], pattern[useful]
    model = _Model(len(row), n, size, weights, budget, row, patterns[pattern])
    for (_, k), key in zip(demands, keys, strict=True):
        model.demand(key[useful], k)
    return model.solve(nodes)


def _keys(codes: Codes, sizes: Sequence[int], patterns: NDArray[np.bool_], columns: tuple[int, ...]) -> Counts:
    """The group of every row under every pattern in some columns, numbered through; rows lead."""
    looked = np.zeros(codes.shape[1], np.bool_)
    looked[list(columns)] = True
    shapes, shape = np.unique(patterns & looked, axis=0, return_inverse=True)
    own = np.column_stack([groups_by(codes, sizes, looked & ~given) for given in shapes])
    number = np.cumsum([0, *(own.max(axis=0) + 1)])[:-1]
    key: Counts = (own + number)[:, np.ravel(shape)].ravel().astype(np.int64)
    return key


def _closed(codes: Codes, patterns: NDArray[np.bool_], key: Counts, row: Counts, pattern: Counts) -> NDArray[np.bool_]:
    """Which choices are worth looking at: not those of a group whose rows all agree in a column that they give up.

    Such a group could publish that column too, and would still be as large.
    """
    n_groups = int(key.max()) + 1
    wasteful = np.zeros(n_groups, np.bool_)
    for j in range(codes.shape[1]):
        low, high = np.full(n_groups, np.iinfo(np.int32).max), np.full(n_groups, -1)
        np.minimum.at(low, key, codes[row, j])
        np.maximum.at(high, key, codes[row, j])
        given = np.zeros(n_groups, np.bool_)
        given[key] = patterns[pattern, j]
        wasteful |= given & (low == high)
    return ~wasteful[key]


class _Model:
    """The integer program: choices, removals, then one switch per group; rows of the matrix are gathered as triples."""

    def __init__(
        self,
        n_choices: int,
        n_rows: int,
        size: Counts,
        weights: Floats,
        budget: int,
        row: Counts,
        given_up: NDArray[np.bool_],
    ) -> None:
        self.n_choices, self.n_rows = n_choices, n_rows
        self.row, self.given_up, self.size = row, given_up, size
        self.cost = [given_up @ weights, np.full(n_rows, weights.sum())]
        self.upper = [size[row].astype(np.float64), np.minimum(size, budget).astype(np.float64)]
        self.n_columns = n_choices + n_rows
        self.entries: list[tuple[Counts, Counts, Floats]] = []
        self.low: list[Floats] = []
        self.high: list[Floats] = []
        self.n_constraints = 0
        choices, removals = np.arange(n_choices), n_choices + np.arange(n_rows)
        records = size.astype(np.float64)
        everybody = np.concatenate([row, np.arange(n_rows)])
        self._add(everybody, np.concatenate([choices, removals]), np.ones(self.n_columns), records, records)
        nothing, most = np.full(1, -np.inf), np.full(1, float(budget))
        self._add(np.zeros(n_rows, np.int64), removals, np.ones(n_rows), nothing, most)

    def _add(self, at: Counts, column: Counts, value: Floats, low: Floats, high: Floats) -> None:
        self.entries.append((at + self.n_constraints, column, value))
        self.low.append(low)
        self.high.append(high)
        self.n_constraints += len(low)

    def demand(self, key: Counts, k: int) -> None:
        """Open groups have `k` records, closed ones none."""
        group, first = distinct_rows([key.astype(np.int64)], [int(key.max(initial=0)) + 1])
        n, own = len(first), np.arange(self.n_choices)
        switch = self.n_columns + np.arange(n)
        at, column = np.concatenate([group.astype(np.int64), np.arange(n)]), np.concatenate([own, switch])
        value = np.concatenate([np.ones(self.n_choices), np.full(n, -float(k))])
        self._add(at, column, value, np.zeros(n), np.full(n, np.inf))
        most = self.size[self.row].astype(np.float64)
        at, column = np.concatenate([own, own]), np.concatenate([own, switch[group]])
        value = np.concatenate([np.ones(self.n_choices), -most])
        self._add(at, column, value, np.full(self.n_choices, -np.inf), np.zeros(self.n_choices))
        self.cost.append(np.zeros(n))
        self.upper.append(np.ones(n))
        self.n_columns += n

    def solve(self, nodes: int) -> Cover | None:
        """Let HiGHS search, on one thread and for so many nodes, so that the same table gives the same answer."""
        highs = solver()
        search: Any = highs.Highs()
        for option, value in (
            ("output_flag", False),
            ("parallel", "off"),
            ("random_seed", 0),
            ("mip_rel_gap", 0.0),
            ("mip_abs_gap", 1e-7),
            ("mip_max_nodes", nodes),
        ):
            search.setOptionValue(option, value)
        search.passModel(self._program(highs))
        search.run()
        info = search.getInfo()
        if info.primal_solution_status != highs.SolutionStatus.kSolutionStatusFeasible.value:
            return None
        found = np.rint(np.array(search.getSolution().col_value)).astype(np.int64)
        quota = found[: self.n_choices + self.n_rows]
        row = np.concatenate([self.row, np.arange(self.n_rows)])
        given_up = np.concatenate([self.given_up, np.zeros((self.n_rows, self.given_up.shape[1]), np.bool_)])
        removed = np.arange(len(row)) >= self.n_choices
        used = np.flatnonzero(quota)
        within = 1.0 if search.getModelStatus() == highs.HighsModelStatus.kOptimal else math.inf
        lower = float(info.mip_dual_bound)
        return Cover(row[used].astype(np.int32), quota[used], given_up[used], removed[used], lower, within)

    def _program(self, highs: ModuleType) -> Any:
        at, column, value = (np.concatenate(parts) for parts in zip(*self.entries, strict=True))
        order = np.argsort(at, kind="stable")
        program = highs.HighsLp()
        program.num_col_, program.num_row_ = self.n_columns, self.n_constraints
        program.col_cost_ = np.concatenate(self.cost)
        program.col_lower_, program.col_upper_ = np.zeros(self.n_columns), np.concatenate(self.upper)
        program.row_lower_, program.row_upper_ = np.concatenate(self.low), np.concatenate(self.high)
        program.a_matrix_.format_ = highs.MatrixFormat.kRowwise
        program.a_matrix_.start_ = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=self.n_constraints))])
        program.a_matrix_.index_, program.a_matrix_.value_ = column[order], value[order]
        program.integrality_ = [highs.HighsVarType.kInteger] * self.n_columns
        return program
