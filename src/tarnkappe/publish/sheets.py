"""Sheets: the tables of a release, and how a stranger reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, get_args

from tarnkappe.arrays import Codes

if TYPE_CHECKING:
    import polars as pl

#: The name of the table that has a row for every person; further tables have names of their own.
MAIN = ""


@dataclass(frozen=True, eq=False)
class Sheet:
    """One table of a release: its name, its columns, and its rows batch by batch, as often as asked for."""

    name: str
    columns: tuple[str, ...]
    batches: Callable[[], Iterator[pl.DataFrame]]
    #: What a row is, in one sentence for the reader.
    about: str


#: What can be said about the numbers of a group.
Statistic = Literal["min", "max", "sum", "mean"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)


@dataclass(frozen=True)
class Figure:
    """A column of a summary: a statistic of the known numbers that a group has in another column."""

    column: str
    what: Statistic
    of: str


@dataclass(frozen=True)
class Summary:
    """A table with a row for every group that sums up the table with the sensitive values, and follows from it.

    The column `records` says how many records the group has.
    """

    sheet: str
    records: str
    figures: tuple[Figure, ...] = ()

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Self:
        """What a manifest tells; a `TypeError`, `KeyError` or `ValueError` if it makes no sense."""
        figures = tuple(Figure(**figure) for figure in told["figures"])
        if any(figure.what not in STATISTICS for figure in figures):
            raise ValueError("no such statistic")
        return cls(str(told["sheet"]), str(told["records"]), figures)


@dataclass(frozen=True)
class Reading:
    """How a stranger regroups the tables of a release whose groups have numbers.

    Rows with the same `number` are one group, in every table. The sensitive values stand in the table called
    `secrets`, where a row stands for as many records as its column `count` says, or for one. Tables that only sum up
    what stands there are `summaries`; whoever reads them can compute them anew.
    """

    number: str
    secrets: str = MAIN
    count: str | None = None
    summaries: tuple[Summary, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As a manifest tells it."""
        return asdict(self)

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Self:
        """What a manifest tells; a `TypeError`, `KeyError` or `ValueError` if it makes no sense."""
        summaries = tuple(Summary.told(summary) for summary in told.get("summaries", ()))
        return cls(**{**told, "summaries": summaries})


@dataclass(frozen=True)
class Strand:
    """Columns of a table that stay together on a record; different strands of a group are torn from each other.

    Where rows are counted, `count` is the column that says how many records a row stands for.
    """

    columns: tuple[str, ...]
    sheet: str = MAIN
    count: str | None = None


class Values(Protocol):
    """The columns of cells as they are published where nothing is coarsened: every value as it is in the data."""

    def at(self, name: str, cells: Codes) -> pl.Series:
        """The values of records that have these cells."""

    def of_codes(self, name: str, codes: Codes) -> pl.Series:
        """The values of codes of a column."""


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name = f"_{name}"
    return name
