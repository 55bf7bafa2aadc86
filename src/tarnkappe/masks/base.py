"""What every mask is: what it changes, what it leaves as it was, and how that is recomputed."""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Floats
from tarnkappe.errors import DataError, JobError
from tarnkappe.fixes import Fix
from tarnkappe.io import Source
from tarnkappe.io.texts import series_of
from tarnkappe.masks.columns import Columns
from tarnkappe.params import Declared, param
from tarnkappe.schema import Role

#: Six standard deviations: a sum of chance is farther off once in 500 million masks.
SIGMAS = 6.0

#: What rounding of floating-point numbers may do to a figure.
HAIR = 1e-9


@dataclass(frozen=True)
class MaskCard:
    """Plain words about a mask, for `tarnkappe explain`, the report and the docs."""

    #: What happens to a value.
    changes: str
    #: What is the same before and after, and recomputed from the written file.
    keeps: str
    #: What it does not protect from.
    does_not: str
    #: When something else serves better.
    not_for: str


@dataclass(frozen=True)
class Kept:
    """Something that a mask leaves as it was, recomputed: how far off it is, and how far it may be."""

    what: str
    off: float
    allowed: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it is so."""
        return bool(self.off <= self.allowed)


@dataclass(frozen=True)
class Chance:
    """What decides by lot in one mask: a stream of its own, and a secret that follows from the seed of the run."""

    rng: np.random.Generator = field(repr=False)
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, seed: int, purpose: int, mask: int) -> Chance:
        """The chance of one mask of a run."""
        sequence = np.random.SeedSequence(seed, spawn_key=(purpose, mask))
        size = max(-(-seed.bit_length() // 8), 16)
        secret = hmac.digest(seed.to_bytes(size, "big"), b"tarnkappe mask %d" % mask, "sha256")
        return cls(np.random.Generator(np.random.Philox(sequence)), secret)


class Fitted(ABC):
    """A mask that has seen the data: what it makes of any of the records."""

    #: The types of the columns that it makes, by name.
    types: Mapping[str, pl.DataType]
    #: The columns of the original that it reads once more for every batch.
    needs: tuple[str, ...] = ()
    #: The changed columns as a whole, if they are in memory.
    held: tuple[pl.Series, ...] = ()

    @abstractmethod
    def at(self, rows: NDArray[np.integer], given: pl.DataFrame) -> list[pl.Series]:
        """The changed columns of some rows, of which `given` are the columns that it needs."""


class Held(Fitted):
    """Changed columns that are held in memory, because they depend on all records."""

    def __init__(self, values: Sequence[pl.Series]) -> None:
        """Take whole columns."""
        self.held = tuple(values)
        self.types = {series.name: series.dtype for series in values}

    def at(self, rows: NDArray[np.integer], given: pl.DataFrame) -> list[pl.Series]:
        """A piece of each column."""
        if len(rows) and rows[-1] - rows[0] == len(rows) - 1:  # a piece of the table in its order
            return [series.slice(int(rows[0]), len(rows)) for series in self.held]
        return [series.gather(rows) for series in self.held]


class ByValue(Fitted):
    """Changed columns that follow from the values of each record by itself, so that nothing is held."""

    def __init__(
        self,
        types: Mapping[str, pl.DataType],
        needs: Sequence[str],
        change: Callable[[pl.DataFrame], list[pl.Series]],
    ) -> None:
        """Remember how values are changed."""
        self.types, self.needs, self._change = types, tuple(needs), change

    def at(self, rows: NDArray[np.integer], given: pl.DataFrame) -> list[pl.Series]:
        """What becomes of the values."""
        return self._change(given)


@dataclass(frozen=True)
class Mask(Declared, ABC):
    """Something that changes values of columns, and says what it leaves as it was.

    A subclass is a frozen dataclass in a file of its own. It declares its parameters with `param`, `fit` looks at the
    data and returns what becomes of each record, and `kept` and `kept_by_record` recompute what stays the same.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    card: ClassVar[MaskCard]
    #: The roles that its columns may have.
    roles: ClassVar[frozenset[Role]] = frozenset({"quasi", "sensitive", "keep"})
    #: Parameters that name files; in a job file they are relative to it, and they are never told to readers.
    secrets: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def changes(self) -> tuple[str, ...]:
        """The columns that it changes."""

    @property
    def looks_at(self) -> tuple[str, ...]:
        """The columns that it looks at beside those that it changes."""
        return ()

    @property
    def compares_with(self) -> tuple[str, ...]:
        """Those of them that what it keeps is about, so that no other mask may change them."""
        return self.looks_at

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that it reads as a whole when it is fitted; a mask that changes values as they come has none."""
        return (*self.changes, *self.looks_at)

    @property
    def computes_with(self) -> tuple[str, ...]:
        """Those of them of which it asks for nothing but numbers."""
        return ()

    @property
    def draws_from(self) -> tuple[str, ...]:
        """Those of them that it holds, and whose texts it hands on without looking at them."""
        return ()

    @property
    def counts_repeats(self) -> tuple[str, ...]:
        """The columns of which it keeps how often values are repeated."""
        return ()

    @property
    @abstractmethod
    def done(self) -> str:
        """What was done to a column, in words for readers."""

    @property
    @abstractmethod
    def keeps(self) -> tuple[str, ...]:
        """What stays the same with these parameters, in words for readers."""

    @abstractmethod
    def fit(self, data: Columns, chance: Chance) -> Fitted:
        """Look at the data, and decide what becomes of each record."""

    def kept(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """What must be the same in the original and in a table of the same records in any order."""
        yield from ()

    def kept_by_record(self, before: Columns, after: Columns) -> Iterator[Kept]:
        """What must be so record by record, in tables of which the rows stand side by side."""
        yield from ()

    def told_publicly(self) -> dict[str, Any]:
        """The parameters that readers of a release may know."""
        return {name: value for name, value in self.get_params().items() if name not in self.secrets}


@dataclass(frozen=True)
class ColumnMask(Mask):
    """A mask of one column."""

    column: str = param(doc="The column that is changed.", example="NAME")

    @property
    def changes(self) -> tuple[str, ...]:
        """The column."""
        return (self.column,)


@dataclass(frozen=True)
class ColumnsMask(Mask):
    """A mask of several columns."""

    columns: tuple[str, ...] = param(doc="The columns that are changed.", example=("NAME",))

    def __post_init__(self) -> None:
        """Check the parameters; a column stands once."""
        super().__post_init__()
        if not self.columns or len(set(self.columns)) < len(self.columns):
            what = "needs a column" if not self.columns else "names a column twice"
            raise JobError(
                "E110", f"'columns' of {self.name} {what}", hint=Fix("columns: [income]", 'columns=["income"]')
            )

    @property
    def changes(self) -> tuple[str, ...]:
        """The columns."""
        return self.columns


def unfit(mask: Mask, what: str, source: Source, hint: str) -> DataError:
    """The error about data that a mask can make nothing of."""
    return DataError("E421", f"{mask.name} cannot mask these data: {what}", where=source.name, hint=hint)


def as_series(
    mask: Mask, data: Columns, name: str, numbers: Floats, *, whole: bool, by_chance: bool = False
) -> pl.Series:
    """Numbers as a column, which the array belongs to from now on; no number (NaN) is missing.

    None may look like a text that stands for missing values: where chance decides anyway, it is moved a little.
    """
    marked = pl.Series(list(data.source.missing), dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls()
    clash = np.isin(numbers, marked.to_numpy()) if len(marked) else np.zeros(0, np.bool_)
    if clash.any() and not by_chance:
        hint = "data: {missing: ['']}   and leave cells without a value empty"
        raise unfit(mask, f"a number of '{name}' would become one that stands for a missing value", data.source, hint)
    if clash.any():
        numbers = np.where(clash, numbers + 1 if whole else np.nextafter(numbers, np.inf), numbers)
    numbers += 0.0  # there is one zero
    made = series_of(numbers).alias(name)
    return made.cast(pl.Int64) if whole else made


def is_whole(numbers: pl.Series) -> bool:
    """Whether a column holds whole numbers."""
    return numbers.dtype.is_integer()


def exchanged(name: str, before: Floats, after: Floats) -> Kept:
    """Most of the records that are alone with their number have another one; if there are few, it may be that none."""
    _, place, count = np.unique(before, return_inverse=True, return_counts=True)
    alone = count[place] == 1
    stayed = int((before[alone] == after[alone]).sum())
    return Kept(f"most values of {name} are exchanged", stayed, max(int(alone.sum()) / 2, 10))
