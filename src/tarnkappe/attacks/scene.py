"""The scene of an attack: a release, other releases, and what else an attacker has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts, Floats
from tarnkappe.attacks.base import Need
from tarnkappe.attacks.people import Ground
from tarnkappe.errors import DataError
from tarnkappe.schema import Column
from tarnkappe.taxonomy.labels import as_decimal

#: A column of our own beside those of a table; a name that is blank is refused in tables.
_N = " "


@dataclass(frozen=True, eq=False)
class Spread:
    """How often each value of a sensitive column occurs in each group: entries sorted by group, then by value."""

    group: Codes
    code: Codes
    count: Counts
    values: tuple[str | None, ...]
    n_groups: int

    @cached_property
    def start(self) -> Counts:
        """Where the entries of each group begin, and the end of the last."""
        return np.searchsorted(self.group, np.arange(self.n_groups + 1)).astype(np.int64)

    @cached_property
    def size(self) -> Counts:
        """Records in each group."""
        return np.bincount(self.group, self.count, self.n_groups).astype(np.int64)

    @cached_property
    def table(self) -> Counts:
        """Records with each value in the whole release."""
        return np.bincount(self.code, self.count, len(self.values)).astype(np.int64)

    @property
    def n(self) -> int:
        """Records."""
        return int(self.count.sum())

    @property
    def of_entry(self) -> Counts:
        """The size of the group that each entry belongs to."""
        return self.size[self.group]

    @cached_property
    def different(self) -> Counts:
        """How many different values each group has."""
        return np.diff(self.start)

    @cached_property
    def most(self) -> Counts:
        """How often the most frequent value of each group occurs in it."""
        return np.maximum.reduceat(self.count, self.start[:-1]) if self.n_groups else np.zeros(0, np.int64)

    @cached_property
    def numbers(self) -> Floats:
        """The values as numbers; a missing one, or one that is none, is not a number."""
        read = [None if v is None else as_decimal(v) for v in self.values]
        return np.array([np.nan if x is None else float(x) for x in read], np.float64)

    def shuffled(self, rng: np.random.Generator) -> Spread:
        """The same groups and the same values, dealt to them at random: what groups of these sizes show by chance."""
        codes = rng.permutation(np.repeat(self.code, self.count))
        group = np.repeat(np.arange(self.n_groups), self.size)
        key, count = np.unique(group.astype(np.int64) * len(self.values) + codes, return_counts=True)
        group, code = np.divmod(key, len(self.values))
        return Spread(group.astype(np.int32), code.astype(np.int32), count.astype(np.int64), self.values, self.n_groups)

    def whole(self) -> Spread:
        """All records as one group: what the release says about anybody."""
        there = np.flatnonzero(self.table)
        return Spread(np.zeros(len(there), np.int32), there.astype(np.int32), self.table[there], self.values, 1)


@dataclass(frozen=True, eq=False)
class Table:
    """A release as its reader has it: one table with labels, or tables whose groups have numbers."""

    name: str
    frame: pl.DataFrame
    quasi: tuple[str, ...]
    decimal: str = "."
    #: The column that holds the number of a group, if groups are told apart by one.
    number: str | None = None
    #: Where sensitive values stand, if that is another table, and the column that says for how many records a row is.
    secrets: pl.DataFrame | None = None
    count: str | None = None
    #: Columns that stand on the same row as a sensitive one, so that whoever knows them narrows its group down.
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Quasi-identifiers that stand together on a row, where those of a person stand on different rows.
    slices: tuple[tuple[str, ...], ...] = ()
    #: Quasi-identifiers that only this one of several releases has.
    further: tuple[Column, ...] = ()

    @property
    def torn(self) -> bool:
        """Whether quasi-identifiers of a person stand on different rows."""
        return len(self.slices) > 1

    @property
    def n_rows(self) -> int:
        """Records."""
        return self.frame.height

    def spread(self, column: str) -> Spread:
        """The values of a sensitive column in every group: those who look alike, or have the same number."""
        table = self.frame if self.secrets is None else self.secrets
        keys = list(self.quasi) if self.number is None else [self.number, *self.beside.get(column, ())]
        keys = [key for key in keys if key != column]
        for name in (*keys, column):
            if name not in table.columns:
                raise DataError(
                    "E410",
                    f"'{self.name}' has no column '{name}'",
                    where=self.name,
                    hint=f"Its columns are: {', '.join(table.columns)}.",
                )
        weight = pl.len() if self.count is None else pl.col(self.count).cast(pl.Int64).sum()
        cells = table.lazy().group_by([*keys, column]).agg(weight.cast(pl.Int64).alias(_N)).collect()
        cells = cells.sort([column, *keys], nulls_last=True)  # the same numbers, whatever order groups are found in
        group = cells.select(pl.struct(keys).rank("dense") - 1 if keys else pl.lit(0).alias("g")).to_series()
        values = cells[column].unique(maintain_order=True)
        place = pl.DataFrame({column: values, "code": np.arange(len(values), dtype=np.int32)})
        code = cells.select(column).join(place, on=column, how="left", nulls_equal=True, maintain_order="left")["code"]
        numbers = np.broadcast_to(group.to_numpy(), cells.height).astype(np.int32)
        order = np.lexsort([code.to_numpy(), numbers])
        return Spread(
            numbers[order],
            code.to_numpy()[order].astype(np.int32),
            cells[_N].to_numpy()[order],
            tuple(values.cast(pl.String).to_list()),
            int(numbers.max(initial=-1)) + 1,
        )


@dataclass(frozen=True, eq=False)
class Scene:
    """What an attacker has, and what it takes to tell whether a guess is right.

    `known` are people and what an attacker knows about them; sensitive columns in it are used only to check guesses.
    `key` is a column of `known` and of the release that tells who is who, for checking only. `others` are other
    releases of the same people, earlier ones first. `chance` gives a generator, the same one every time it is asked.
    """

    release: Table
    quasi: tuple[Column, ...]
    sensitive: tuple[Column, ...]
    chance: Callable[[], np.random.Generator]
    known: pl.DataFrame | None = None
    key: str | None = None
    others: tuple[Table, ...] = ()
    population: pl.DataFrame | None = None
    holdout: pl.DataFrame | None = None
    #: Whether rows of `known` stand in the order in which the data were before they were released.
    in_order: bool = False
    _spreads: dict[tuple[int, str], Spread] = field(default_factory=dict)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the sensitive columns."""
        return tuple(c.name for c in self.sensitive)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quasi-identifiers."""
        return tuple(c.name for c in self.quasi)

    def has(self, need: Need) -> bool:
        """Whether the scene has what an attack needs."""
        known = () if self.known is None else self.known.columns
        tables = (self.release, *self.others)
        key = self.key is not None and self.key in known and self.key in self.release.frame.columns
        met: dict[Need, bool] = {
            "quasi": bool(self.quasi) or self.release.number is not None,
            "sensitive": bool(self.sensitive),
            "known": self.known is not None and set(self.names) <= set(known),
            "secrets": self.known is not None and set(self.secrets) <= set(known),
            "key": key,
            "other": bool(self.others),
            "population": self.population is not None and set(self.names) <= set(self.population.columns),
            "holdout": self.holdout is not None and set(self.names) <= set(self.holdout.columns),
            "numbers": self.known is not None and bool(self.numeric),
            "whole": not self.release.torn,
            "rows": all(t.number is None and set(self.secrets) <= set(t.frame.columns) for t in tables),
        }
        return met[need]

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """The quasi-identifiers that are published as numbers, and are numbers of people too."""
        if self.known is None:
            return ()
        both = [c for c in self.names if c in self.release.frame.columns and c in self.known.columns]
        return tuple(c for c in both if is_numeric(self.known[c]) and is_numeric(self.release.frame[c]))

    def spread(self, column: str, table: Table | None = None) -> Spread:
        """The values of a sensitive column in every group of a release."""
        of = table or self.release
        key = (id(of), column)
        if key not in self._spreads:
            self._spreads[key] = of.spread(column)
        return self._spreads[key]

    @cached_property
    def ground(self) -> Ground:
        """Everything that is known about quasi-identifiers, in one system of codes."""
        people = [frame for frame in (self.known, self.population, self.holdout) if frame is not None]
        tables = [self.release, *self.others]
        shared = [c for c in self.quasi if any(c.name in t.frame.columns for t in tables)]
        return Ground.of(shared, people, [(t.name, t.frame, t.decimal) for t in tables])

    @cached_property
    def joint_ground(self) -> Ground:
        """The same of all releases together: with quasi-identifiers that only some of them have."""
        assert self.known is not None
        further = {c.name: c for t in self.others for c in t.further if c.name in self.known.columns}
        tables = [(t.name, t.frame, t.decimal) for t in (self.release, *self.others)]
        return Ground.of([*self.quasi, *further.values()], [self.known], tables)


def is_numeric(series: pl.Series) -> bool:
    """Whether a column holds nothing but numbers."""
    if series.dtype.is_numeric():
        return True
    if series.dtype != pl.String:
        return False
    texts = series.drop_nulls()
    coded = texts.str.contains(r"^[+-]?0\d").any()
    return bool(len(texts)) and not coded and not texts.cast(pl.Float64, strict=False).null_count()


def as_floats(series: pl.Series) -> Floats:
    """A column of numbers as an array; a missing one is not a number."""
    return series.cast(pl.Float64, strict=False).fill_null(np.nan).to_numpy()
