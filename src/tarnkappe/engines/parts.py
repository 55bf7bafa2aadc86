"""Cells that are too many for one machine: they stay in parts, each of which is decided where it lies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.arrays import Counts
from tarnkappe.engines.ledger import Ledger
from tarnkappe.goal import Goal
from tarnkappe.groups import GroupStats
from tarnkappe.io import Source
from tarnkappe.plan import Distribution, Plan
from tarnkappe.schema import Schema
from tarnkappe.tally import Tally

#: Decides about the part of a number, which is a tally like any other: its plan, and what is told about it.
DecidePart = Callable[[int, Tally], tuple[Plan, Any]]

#: Judges some whole groups: published rows, how many records look like each, and rows as they were planned (labels,
#: codes of secrets, and their number in the column `RECORDS`).
JudgePart = Callable[[pl.DataFrame, Counts, pl.DataFrame], Any]

#: What the number of records is called in such rows; a name that is blank is refused in tables.
RECORDS = " "


class Parts(ABC):
    """The cells of a table in parts along an order; nothing that grows with cells or groups comes to this machine.

    What is decided and judged on other machines is code of the layers above, handed down.
    """

    #: The table column by column, in place of its cells.
    outline: Tally
    #: Distinct rows of the columns that are counted.
    n_cells: int

    @abstractmethod
    def decide(self, goal: Goal, decide: DecidePart) -> list[Any]:
        """Let every part be decided; each satisfies the goal as a whole. Returns what is told about them, in order."""

    @abstractmethod
    def size_counts(self) -> Distribution:
        """The sizes of the decided groups, those of equal labels being one, and how many have each size."""

    @abstractmethod
    def rewrite(
        self, schema: Schema, columns: Sequence[str], writer: Any, n_published: int, rng: np.random.Generator
    ) -> Ledger | None:
        """Write every record under the labels of its group, in an order that tells nothing."""

    @abstractmethod
    def table(self, written: Source, column: str) -> tuple[pl.Series, Counts]:
        """The values of a column of a written table, and how many records have each."""

    @abstractmethod
    def recount(self, written: Source, schema: Schema, judge: JudgePart) -> list[Any]:
        """Let all groups of a written table be judged, many at a time, beside what was planned for their labels."""

    @abstractmethod
    def release(self) -> None:
        """Let go of what was counted and decided."""


def eligible_parts(goal: Goal, stats: GroupStats) -> Counts:
    """Join neighbours until every part satisfies the goal as a whole; returns the joined part of each part.

    A part that does not satisfy it joins the one after it, the last one the one before.
    """
    into = np.arange(stats.n_groups)
    while True:
        ok = goal.satisfied(stats.pooled(into))
        bad = np.flatnonzero(~ok)
        if not len(bad) or len(ok) == 1:
            return into
        first = np.minimum(bad[0], len(ok) - 2)
        into = np.where(into > first, into - 1, into)
