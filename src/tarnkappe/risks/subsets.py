"""All subsets of some columns, each grouped from a smaller one by one more column."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tarnkappe.arrays import Codes, Counts
from tarnkappe.io import Cells
from tarnkappe.kernels.risks.subsets import divide

#: So many cells are looked at in all subsets together if nobody says how large they may be: some ten seconds.
WORK = 1_000_000_000


@dataclass(frozen=True, eq=False)
class Combinations:
    """Distinct combinations of values as codes, one row each, and how many records have each."""

    names: tuple[str, ...]
    codes: Codes
    records: Counts
    #: What the codes stand for, where they were counted in a table.
    cells: Cells | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(int(c.max(initial=0)) + 1 for c in self.codes.T)

    @property
    def n_records(self) -> int:
        """Number of records."""
        return int(self.records.sum())


@dataclass(frozen=True, eq=False)
class Subset:
    """Some of the columns, as bits, and the groups that they divide the records into."""

    columns: int
    group: Codes
    size: Counts

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the columns."""
        return tuple(j for j in range(self.columns.bit_length()) if self.columns >> j & 1)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.size)


def largest_size(n_columns: int, n_cells: int, work: int = WORK) -> int:
    """Up to how many columns at once all subsets can be looked at.

    >>> largest_size(9, 30_000), largest_size(40, 30_000)
    (9, 3)
    """
    total = 0
    for size in range(1, n_columns + 1):
        total += math.comb(n_columns, size)
        if total * max(n_cells, 1) > work:
            return max(size - 1, 1)
    return n_columns


def all_subsets(given: Combinations, most: int) -> Iterator[Subset]:
    """Every subset of at most so many columns, each after all of its own subsets.

    In this order the bits of subsets count upwards, so a subset extends one that is still at hand by its lowest column:
    one pass over the cells each. Where all cells are told apart already, further columns change nothing and are not
    looked at. What is yielded holds until the next one is asked for.
    """
    n_cells, n_columns = given.codes.shape
    places = np.empty(1 << max(2 * n_cells - 1, 1).bit_length(), np.int64)
    columns = [np.ascontiguousarray(given.codes[:, j], np.int32) for j in range(n_columns)]
    sizes = given.sizes
    rooms = [(np.empty(n_cells, np.int32), np.empty(n_cells, np.int64)) for _ in range(most)]
    weight = np.ascontiguousarray(given.records, np.int64)

    def below(above: Subset, depth: int, lowest: int) -> Iterator[Subset]:
        for j in range(lowest):
            found = replace(above, columns=above.columns | 1 << j)
            if above.n_groups < n_cells:
                out, size = rooms[depth]
                n_groups = divide(above.group, columns[j], sizes[j], weight, places, out, size)
                found = Subset(found.columns, out, size[:n_groups])
            yield found
            if depth + 1 < most:
                yield from below(found, depth + 1, j)

    everybody = Subset(0, np.zeros(n_cells, np.int32), weight.sum(keepdims=True))
    yield from below(everybody, 0, n_columns)
