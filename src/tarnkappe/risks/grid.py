"""The share of people who are unique, over the levels of two columns: how much coarsening hides how many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from tarnkappe.engines.cells import tally_of_cells
from tarnkappe.errors import JobError, did_you_mean
from tarnkappe.io import Source
from tarnkappe.schema import Column, Schema
from tarnkappe.tally import Tally, distinct_rows


@dataclass(frozen=True)
class UniqueGrid:
    """The share of unique records for every level of one column and every level of another.

    ``shares[i][j]`` is that at level ``i`` of the column `down` and level ``j`` of the column `across`; level 0 is the
    value itself, the last one says nothing. The columns `beside` are known as they are.
    """

    down: str
    across: str
    beside: tuple[str, ...]
    shares: tuple[tuple[float, ...], ...]

    @property
    def table(self) -> pl.DataFrame:
        """The grid as a table: one row for each level of the first column."""
        names = [f"{self.down} level", *(f"{self.across} level {j}" for j in range(len(self.shares[0])))]
        rows = [(i, *row) for i, row in enumerate(self.shares)]
        return pl.DataFrame(rows, names, orient="row")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "down": self.down,
            "across": self.across,
            "beside": list(self.beside),
            "shares": [list(row) for row in self.shares],
        }


def unique_grid(source: Source, columns: Sequence[Column], down: str, across: str) -> UniqueGrid:
    """Count who is unique at every pair of levels of two columns; all others are known as they are.

    Levels are those of the columns' taxonomies; a number without one has two: itself, and nothing. Records are counted
    once, then each pair of levels is one pass over the distinct ones.

    References
    ----------
    .. [Goll06] Golle. "Revisiting the uniqueness of simple demographics in the US population." WPES 2006.
    .. [Swee00] Sweeney. "Simple demographics often identify people uniquely." Carnegie Mellon University, 2000.
    """
    names = [c.name for c in columns]
    for name in (down, across):
        if name not in names:
            raise JobError(
                "E105",
                f"the grid names '{name}', which is no quasi-identifier{did_you_mean(name, names)}",
                hint=f"Quasi-identifiers: {', '.join(names)}.",
            )
    if down == across:
        raise JobError("E110", "a grid needs two different columns", hint=f"Quasi-identifiers: {', '.join(names)}.")
    tally, _ = tally_of_cells(source.cells(names), source, Schema(list(columns), "own-value"))
    first, second = names.index(down), names.index(across)
    shares = tuple(
        tuple(_unique_share(tally, {first: i, second: j}) for j in range(_levels(tally, second)))
        for i in range(_levels(tally, first))
    )
    beside = tuple(name for name in names if name not in (down, across))
    return UniqueGrid(down, across, beside, shares)


def _levels(tally: Tally, column: int) -> int:
    return tally.quasi_domains[column].taxonomy.height + 1


def _unique_share(tally: Tally, levels: dict[int, int]) -> float:
    """The share of records that are alone if some columns are raised to a level."""
    codes, sizes = [], []
    for j, domain in enumerate(tally.quasi_domains):
        raised = tally.quasi[:, j]
        if levels.get(j, 0):
            raised = domain.taxonomy.ancestors[levels[j]][raised]
        codes.append(raised)
        sizes.append(domain.taxonomy.n_nodes)
    rank, first = distinct_rows(codes, sizes)
    together = np.bincount(rank, tally.count, len(first))
    return float((together == 1).sum()) / tally.n_records
