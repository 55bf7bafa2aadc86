"""Many candidate recodings at once: what single steps make of the groups, and what the goal says about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tarnkappe.algorithms.subtree.refinements import Refinements, Steps
from tarnkappe.arrays import Codes, Counts
from tarnkappe.goal import Goal
from tarnkappe.groups import SUPPRESSED, Draft, Grouping
from tarnkappe.kernels.subtree.refinements import DEAD, OK, VIOLATING, group_rows, split_groups
from tarnkappe.plan import suppress_leftovers
from tarnkappe.tally import Tally

States = NDArray[np.int8]

#: So many (step, row) pairs are looked at together.
_AT_ONCE = 1 << 22


@dataclass(frozen=True, eq=False)
class Rows:
    """Distinct rows of codes with their records, and the row of every cell.

    A row stands for all cells that no step still in question tells apart.
    """

    codes: Codes
    size: Counts
    of_cell: Codes

    @classmethod
    def of(cls, tally: Tally, space: Refinements, steps: Steps) -> Rows:
        """The rows that some steps tell apart."""
        row, first = group_rows(tally.quasi, space.parts(steps), space.offset)
        size = np.bincount(row, weights=tally.count, minlength=len(first)).astype(np.int64)
        return cls(tally.quasi[first], size, row)

    def grouped(self, space: Refinements, steps: Steps) -> tuple[Codes, Codes]:
        """The group of each row after some steps, and one row of each group."""
        grouped: tuple[Codes, Codes] = group_rows(self.codes, space.parts(steps), space.offset)
        return grouped

    def condensed(self, space: Refinements, steps: Steps) -> tuple[Rows, Codes]:
        """The rows that these steps still tell apart, and which of the former rows each is like."""
        row, first = self.grouped(space, steps)
        if len(first) == len(self.codes):
            return self, np.arange(len(first), dtype=np.int32)
        size = np.bincount(row, weights=self.size, minlength=len(first)).astype(np.int64)
        return Rows(self.codes[first], size, row[self.of_cell]), first

    def chunks(self, steps: Codes) -> Iterator[Codes]:
        """The steps in portions that fit into memory."""
        portion = max(1, _AT_ONCE // max(len(self.of_cell), 1))
        for at in range(0, len(steps), portion):
            yield steps[at : at + portion]


@dataclass(frozen=True, eq=False)
class Splits:
    """The groups that each of several steps leads to, numbered through.

    ``group[a, r]`` is the group of row ``r`` after step ``steps[a]`` (-1: no step at all).
    """

    steps: Codes
    group: Codes
    #: Per group: a row in it, and its records.
    first: Codes
    size: Counts
    #: Where the groups of each step begin.
    begin: Counts

    @classmethod
    def of(cls, rows: Rows, space: Refinements, group: Codes, n_groups: int, steps: Codes) -> Splits:
        """Refine groups of rows by each of the steps."""
        column, begin, end = space.cuts
        cuts = column[steps], begin[steps], end[steps], space.starts
        found = split_groups(rows.codes, rows.size, group, n_groups, *cuts)
        return cls(steps, *found)

    @classmethod
    def together(cls, several: Sequence[Splits]) -> Splits:
        """The groups of several splits of the same rows, numbered through."""
        ahead = np.append(0, np.cumsum([len(s.size) for s in several]))
        group = np.concatenate([s.group + np.int32(n) for s, n in zip(several, ahead[:-1], strict=True)])
        begin = np.concatenate([s.begin[:-1] + n for s, n in zip(several, ahead[:-1], strict=True)])
        steps, first, size = (np.concatenate([getattr(s, x) for s in several]) for x in ("steps", "first", "size"))
        return cls(steps, group, first, size, np.append(begin, ahead[-1]))

    @property
    def step_of_group(self) -> Codes:
        """The position in `steps` of each group."""
        return np.repeat(np.arange(len(self.steps), dtype=np.int32), np.diff(self.begin))

    def sums(self, values: NDArray[np.number]) -> NDArray[np.float64]:
        """Add up a value of the groups for each step."""
        return np.bincount(self.step_of_group, weights=values, minlength=len(self.steps)).astype(np.float64)

    def grouping(self, tally: Tally, rows: Rows, asked: NDArray[np.bool_]) -> Draft:
        """All cells once per step, in the groups that are asked about; the others are left out."""
        number = np.where(asked, np.cumsum(asked) - 1, SUPPRESSED).astype(np.int32)
        group = number[self.group[:, rows.of_cell]].reshape(-1)
        cell = np.tile(np.arange(tally.n_cells, dtype=np.int32), len(self.steps))
        return Draft(cell, group, np.tile(tally.count, len(self.steps)), int(asked.sum()))


class Judge:
    """Asks a goal about candidate groups."""

    def __init__(self, tally: Tally, goal: Goal) -> None:
        self.tally = tally
        self.goal = goal
        self.tables = goal.table_distributions(tally)
        self.budget = goal.budget(tally.n_records)
        #: Whether no part of a violating group can satisfy the goal.
        self.absorbing = all(c.is_absorbing for c in goal.criteria)

    @property
    def final(self) -> bool:
        """Whether a recoding that must suppress too much does so after every further step."""
        return self.absorbing or self.budget == 0

    def by_size(self, splits: Splits) -> States:
        """The state of each group as far as its size tells: too small, or nothing against it."""
        return np.where(splits.size >= self.goal.min_size, OK, DEAD).astype(np.int8)

    def states(self, rows: Rows, splits: Splits) -> States:
        """The state of each group."""
        state = self.by_size(splits)
        large = state == OK
        if self.goal.decided_by_size or not large.any():
            return state
        asked = splits.grouping(self.tally, rows, large)
        ok = self.goal.satisfied(self.goal.stats(self.tally, asked, self.tables))
        state[large] = np.where(ok, OK, DEAD if self.absorbing else VIOLATING)
        return state

    def kept(self, rows: Rows, group: Codes, state: States, size: Counts) -> NDArray[np.bool_] | None:
        """Which groups are published if the violating ones are suppressed; None if the goal does not allow that."""
        ok: NDArray[np.bool_] = state == OK
        suppressed = int(size[~ok].sum())
        if not ok.any() or suppressed > self.budget:
            return None
        if suppressed == 0 or not self.goal.compares_with_table:
            return ok
        of_cell = group[rows.of_cell]
        settled = suppress_leftovers(self.tally, Grouping.of_cells(self.tally, of_cell, len(size)), self.goal)
        if settled is None:
            return None
        kept = np.zeros(len(size), np.bool_)
        kept[of_cell[settled.group >= 0]] = True
        return kept
