"""Sheets: the tables of a release, and how a stranger reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, get_args

from tarnkappe.arrays import Codes

if TYPE_CHECKING:
    import polars as pl

    from tarnkappe.criteria.base import Criterion
    from tarnkappe.publish.recoding import Recoding
    from tarnkappe.tally import Domain

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

    Where quasi-identifiers are coarsened, people are found by what looks alike in the columns `alike` of the first
    table. Where other columns stand on the same row as a sensitive one (`beside`), whoever knows them narrows the group
    down to the rows that have them, so that these rows are the group.

    In the sensitive column `raised` stand labels of its taxonomy, each as coarse as its group needed it. Those who look
    alike then have one number, and nobody else has it.

    Where the numbers are `hidden`, only the publisher can regroup the table: they are kept beside it, row by row.
    """

    number: str
    secrets: str = MAIN
    count: str | None = None
    alike: tuple[str, ...] = ()
    beside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    summaries: tuple[Summary, ...] = ()
    raised: str | None = None
    hidden: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As a manifest tells it."""
        return asdict(self)

    @classmethod
    def told(cls, told: Mapping[str, Any]) -> Self:
        """What a manifest tells; an `AttributeError`, `KeyError`, `TypeError` or `ValueError` if it makes no sense."""
        beside = {name: tuple(columns) for name, columns in told.get("beside", {}).items()}
        summaries = tuple(Summary.told(summary) for summary in told.get("summaries", ()))
        return cls(**{**told, "alike": tuple(told.get("alike", ())), "beside": beside, "summaries": summaries})

    def finds_alike(self, criterion: Criterion) -> bool:
        """Whether a criterion is about those who look alike in the first table, and not about the numbers."""
        return bool(self.alike) and criterion.protects == {"identity"}

    def known_beside(self, criterion: Criterion) -> tuple[str, ...]:
        """The columns that stand on the same row as the sensitive one that a criterion looks at."""
        return self.beside.get(criterion.sensitive_column or "", ())


@dataclass(frozen=True)
class Strand:
    """Columns of a table that stay together on a record; different strands of a group are torn from each other.

    Where rows are counted, `count` is the column that says how many records a row stands for. Where a table calls its
    columns otherwise than the data do, `names` are those of the data. Where labels stand instead of the values,
    `recoded` says which; where they stand there record by record, `raised` is the column whose taxonomy has them.
    Numbers that were `drawn` anew, to so many decimal places, keep the moments of their groups and nothing else. Where
    some values are `falsified`, each record has the one that it was dealt to tell.
    """

    columns: tuple[str, ...]
    sheet: str = MAIN
    count: str | None = None
    names: tuple[str, ...] = ()
    recoded: Recoding | None = None
    raised: Domain | None = None
    drawn: int | None = None
    falsified: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As a manifest tells it."""
        return {"columns": list(self.columns), "sheet": self.sheet, "count": self.count, "names": list(self.names)}

    @property
    def of_data(self) -> tuple[str, ...]:
        """What the data call the columns."""
        return self.names or self.columns


class Values(Protocol):
    """The columns of cells as they are published where nothing is coarsened: every value as it is in the data."""

    #: The texts that stand for a missing value in the data.
    missing: Collection[str]

    def at(self, name: str, cells: Codes) -> pl.Series:
        """The values of records that have these cells."""


def free_name(name: str, taken: Collection[str]) -> str:
    """A name that is not taken."""
    while name in taken:
        name = f"_{name}"
    return name
