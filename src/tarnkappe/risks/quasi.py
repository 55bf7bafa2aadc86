"""Which columns tell people apart: every subset of them, and the smallest that tell everybody apart."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from tarnkappe.errors import JobError
from tarnkappe.risks.subsets import Combinations, all_subsets, largest_size


@dataclass(frozen=True)
class SubsetRisk:
    """How well some columns tell records apart.

    `unique` is the share of records that no other is like, `distinction` the number of different combinations over the
    number of records, and `separation` the share of all pairs of records that differ.
    """

    columns: tuple[str, ...]
    unique: float
    distinction: float
    separation: float

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**asdict(self), "columns": list(self.columns)}


@dataclass(frozen=True)
class QuasiAnalysis:
    """Every subset of the columns with its figures, and the minimal keys.

    A key tells apart whoever all columns together tell apart; it is minimal if none of its columns can be left out.
    Subsets of more than `largest` columns were not looked at, if that is less than there are.
    """

    columns: tuple[str, ...]
    subsets: tuple[SubsetRisk, ...]
    keys: tuple[tuple[str, ...], ...]
    largest: int

    @property
    def is_complete(self) -> bool:
        """Whether all subsets were looked at."""
        return self.largest >= len(self.columns)

    @property
    def table(self) -> pl.DataFrame:
        """All subsets, those that single out most people first."""
        ordered = sorted(self.subsets, key=lambda s: (-s.unique, -s.separation, len(s.columns), s.columns))
        return pl.DataFrame(
            {
                "columns": [", ".join(s.columns) for s in ordered],
                "size": [len(s.columns) for s in ordered],
                "unique": [s.unique for s in ordered],
                "distinction": [s.distinction for s in ordered],
                "separation": [s.separation for s in ordered],
            }
        )

    def of(self, *columns: str) -> SubsetRisk:
        """The figures of one subset."""
        wanted = set(columns)
        for subset in self.subsets:
            if set(subset.columns) == wanted:
                return subset
        raise JobError("E105", "these columns were not looked at together", hint=f"Columns: {', '.join(self.columns)}.")

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {
            "columns": list(self.columns),
            "largest": self.largest,
            "keys": [list(key) for key in self.keys],
            "subsets": [s.as_dict() for s in self.subsets],
        }


def quasi_analysis(given: Combinations, most: int | None = None) -> QuasiAnalysis:
    r"""Look at every subset of columns, at most so many at once.

    .. math:: \mathrm{distinction} = \frac{\#combinations}{n}, \quad
              \mathrm{separation} = 1 - \frac{\sum_G |G|(|G| - 1)}{n(n - 1)}

    One pass over the distinct records per subset: O(2^columns · records). Where that is too much, `most` limits the
    number of columns of a subset; so it is set if it is not given.

    References
    ----------
    .. [MoXu07] Motwani, Xu. "Efficient algorithms for masking and finding quasi-identifiers." VLDB workshop SDM 2007.
    """
    n, names = given.n_records, given.names
    largest = min(largest_size(len(names), len(given.records)) if most is None else most, len(names))
    pairs = n * (n - 1)
    subsets: list[SubsetRisk] = []
    keys: list[int] = []
    for found in all_subsets(given, largest):
        size = found.size
        columns = tuple(names[j] for j in found.places)
        alike = int(size @ (size - 1))
        subsets.append(
            SubsetRisk(columns, int((size == 1).sum()) / n, found.n_groups / n, 1 - alike / pairs if pairs else 1.0)
        )
        # A subset of a key comes before it, so a key that contains none that is known is minimal.
        if found.n_groups == len(given.records) and not any(key & found.columns == key for key in keys):
            keys.append(found.columns)
    keys.sort(key=lambda bits: (bits.bit_count(), bits))
    by_name = tuple(tuple(names[j] for j in range(len(names)) if bits >> j & 1) for bits in keys)
    subsets.sort(key=lambda s: len(s.columns))
    return QuasiAnalysis(names, tuple(subsets), by_name, largest)
