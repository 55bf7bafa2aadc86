"""The columns of a table as masks, and those who check them, read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Floats
from tarnkappe.io import Source
from tarnkappe.io.kept import restored_rows
from tarnkappe.threads import map_threads

if TYPE_CHECKING:
    from tarnkappe.masks.base import Mask

#: A name that no column has: a name that is blank is refused in tables.
_COUNT = " "

#: Records that one thread adds up.
_ROWS = 1 << 20


@dataclass(frozen=True)
class Seen:
    """What was seen of a table as its records went by, so that it is not read again."""

    #: Whole columns, of which missing markers are null.
    columns: Mapping[str, pl.Series] = field(default_factory=dict)
    #: How often values of columns are repeated; see `Source.repeats`.
    repeats: Mapping[str, dict[int, int]] = field(default_factory=dict)


class Columns:
    """The columns of a table as masks, and those who check them, read them; numbers are read once and remembered."""

    def __init__(self, source: Source, seen: Seen | None = None) -> None:
        """Nothing is read yet but what was `seen` already."""
        seen = seen or Seen()
        self.source = source
        self.names = frozenset(source.columns)
        self._held = dict(seen.columns)
        self._early: dict[str, pl.Series] = {}
        self._categories: dict[str, pl.Series] = {}
        self._repeats = dict(seen.repeats)
        self._numbers: dict[str, pl.Series] = {}
        self._matrix: tuple[tuple[str, ...], Floats] = ((), np.zeros((0, 0)))
        self._moments: tuple[tuple[str, ...], tuple[Floats, Floats, int]] | None = None

    @property
    def n(self) -> int:
        """Number of records."""
        return self.source.n_rows

    def values(self, name: str, first: int | None = None) -> pl.Series:
        """A column as it is, or its first values; missing markers are null."""
        if name in self._held:
            return self._held[name].head(self.n if first is None else first)
        if name in self._early:
            read = self._early[name].head(self.n if first is None else first)
        else:
            read = (self.source.read([name]) if first is None else self.source.sample([name], first))[name]
        return read.cast(pl.String) if isinstance(read.dtype, (pl.Categorical, pl.Enum)) else read

    def read_early(self, masks: Iterable[Mask]) -> None:
        """Read columns that masks are about to ask for, all at once; `forget_early` lets go of them."""
        asked = list(masks)
        wanted = list(dict.fromkeys(name for mask in asked for name in mask.reads))
        plain = {name for mask in asked for name in {*mask.reads} - {*mask.computes_with, *mask.draws_from}}
        drawn = [name for name in wanted if any(name in mask.draws_from for mask in asked)]
        numbers = [name for name in wanted if name not in plain and name not in drawn]
        drawn = [name for name in drawn if name not in plain and not any(name in m.computes_with for m in asked)]
        found = self.source.typed(numbers, drawn) if numbers or drawn else None
        if found is not None:
            self._numbers |= {name: found[name] for name in numbers}
            self._categories = {name: found[name] for name in drawn}
        left = [name for name in wanted if found is None or name not in found]
        self._early = self.source.read(left).to_dict() if left else {}

    def forget_early(self) -> None:
        """Let go of what was read early."""
        self._early, self._categories = {}, {}

    def repeats(self, name: str) -> dict[int, int]:
        """How many values of a column occur once, how many twice, and so on."""
        known = self._repeats.get(name)
        return self.source.repeats([name]) if known is None else known

    def know_repeats(self, found: Mapping[str, dict[int, int]]) -> None:
        """Remember how often values are repeated."""
        self._repeats |= found

    def hold(self, name: str) -> pl.Series:
        """A column as it is, or as an enumeration of its texts, which from now on is held in memory."""
        if name not in self._held:
            known = self._categories.get(name)
            self._held[name] = self.values(name) if known is None else known
        return self._held[name]

    def numbers(self, name: str) -> pl.Series:
        """A column of numbers: whole ones if all of them are."""
        self._read([name])
        return self._numbers[name]

    def _read(self, names: Sequence[str]) -> None:
        """Read those columns of numbers that are not known yet, all at once."""
        unknown = [name for name in dict.fromkeys(names) if name not in self._numbers]
        known = {**self._early, **self._held}
        new = [name for name in unknown if name not in known]
        read = {**known, **(self.source.read(new).to_dict() if new else {})}
        self._numbers |= {name: self.source.numeric(read[name], name).alias(name) for name in unknown}

    def floats(self, name: str) -> Floats:
        """A column of numbers as an array; a missing one is not a number."""
        return self.numbers(name).cast(pl.Float64).fill_null(np.nan).to_numpy()

    def several(self, names: Sequence[str]) -> list[Floats]:
        """Several columns of numbers, which are read at once."""
        self._read(names)
        return [self.floats(name) for name in names]

    def matrix(self, names: Sequence[str]) -> Floats:
        """Several columns of numbers, side by side; whoever asks for the same ones again gets the same array."""
        known = self._matrix  # which another thread may replace meanwhile
        if known[0] != tuple(names):
            known = tuple(names), np.column_stack(self.several(names))
            known[1].setflags(write=False)
            self._matrix = known
        return known[1]

    def moments(self, names: Sequence[str]) -> tuple[Floats, Floats, int]:
        """The means and covariances of the rows that lack nothing, and how many there are."""
        if self._moments is None or self._moments[0] != tuple(names):
            self._moments = tuple(names), moments(self.several(names))
        return self._moments[1]

    def codes(self, names: Sequence[str]) -> NDArray[np.int64]:
        """One number for every combination of values, from 0 on; all are 0 if there are no columns."""
        if not names:
            return np.zeros(self.n, np.int64)
        early = [self._early[name] for name in names if name in self._early]
        frame = pl.DataFrame(early) if len(early) == len(names) else self.source.read(names)
        ranks = frame.select(pl.struct(pl.col(*names)).rank("dense").cast(pl.Int64) - 1)
        return ranks.to_series().to_numpy()

    def types(self, names: Sequence[str]) -> dict[str, pl.DataType]:
        """The types of columns."""
        return self.source.types(names)

    def counted(self, names: Sequence[str], types: Mapping[str, pl.DataType]) -> pl.DataFrame:
        """How often every combination of values occurs; values in the types that they have elsewhere."""
        wanted = {name: types[name] for name in names}
        number = pl.len().cast(pl.Int64).alias("n")
        keys = [pl.col(name).alias(f"c{j}") for j, name in enumerate(wanted)]
        if not wanted.keys() <= self._held.keys():
            return self.source.collected(self.source.scan_as_were(wanted).select(keys).group_by(pl.all()).agg(number))
        # Counted as they are held, which may be as categories, and then as what they stand for.
        held = pl.DataFrame([self._held[name] for name in wanted]).group_by(pl.all()).agg(number.alias(_COUNT))
        rows = restored_rows(held.lazy(), held.schema, wanted, self.source.decimal).select(keys).collect()
        counts = held[_COUNT].alias("n")
        return rows.with_columns(counts).group_by(pl.exclude("n")).agg(pl.col("n").sum())


def differing(names: Sequence[str], before: Columns, after: Columns) -> int:
    """How many combinations of values occur more or less often than before."""
    types = before.types(names)
    one, other = before.counted(names, types), after.counted(names, types)
    keys = [c for c in one.columns if c != "n"]
    both = one.join(other, on=keys, how="full", nulls_equal=True, suffix=" after")
    return both.filter(~pl.col("n").eq_missing(pl.col("n after"))).height


def moments(columns: Sequence[Floats]) -> tuple[Floats, Floats, int]:
    """The means and covariances of the rows that lack nothing, and how many there are."""
    from tarnkappe.kernels.masks.noise import products, sums

    k, rows, where = len(columns), len(columns[0]), addresses(columns)
    bounds = [*range(0, rows, _ROWS), rows]
    parts = [(np.zeros(k), np.zeros((k, k)), *ends) for ends in pairwise(bounds)]
    n = sum(map_threads(lambda part: sums(where, *part[2:], part[0]), parts))
    if n == 0:
        return np.zeros(k), np.zeros((k, k)), 0
    mean = np.sum([total for total, *_ in parts], axis=0) / n
    map_threads(lambda part: products(where, mean, *part[2:], part[1]), parts)
    return mean, np.sum([both for _, both, *_ in parts], axis=0) / n, n


def addresses(columns: Sequence[Floats]) -> NDArray[np.int64]:
    """Where the numbers of columns are in memory; they stand side by side there."""
    assert all(column.flags.c_contiguous and column.dtype == np.float64 for column in columns)
    return np.array([column.ctypes.data for column in columns], np.int64)
