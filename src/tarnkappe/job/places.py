"""Where the data of a job are, and where its release goes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tarnkappe.io import CsvDialect
from tarnkappe.io.databases import require_table


@dataclass(frozen=True)
class DataSettings:
    """Where the data are (a file, or a table's address) and how to read them; what is not said is detected."""

    path: str | None = None
    dialect: CsvDialect = field(default_factory=CsvDialect)
    missing: tuple[str, ...] = ("",)

    def __post_init__(self) -> None:
        """Refuse an address that is none, or holds a password."""
        require_table(self.path)


@dataclass(frozen=True)
class Population(DataSettings):
    """The public table that the people in the data come from: a file, or a data frame."""

    frame: Any = field(default=None, compare=False, repr=False)

    @property
    def given(self) -> Any:
        """What can be opened."""
        return self.path if self.frame is None else self.frame


@dataclass(frozen=True)
class OutputSettings:
    """Where a release goes: a folder, and the address of a table (`database`) if the records go to one."""

    folder: str | None = None
    format: str | None = None
    #: Whether texts that a spreadsheet would run as formulas get an apostrophe before them in a CSV file.
    spreadsheet_safe: bool = False
    #: Whether the nodes of the lattice are written for the publisher, and which.
    solutions: str | None = None
    #: Whether the recoding is written for the publisher, to be applied to other data.
    recoding: bool = False
    database: str | None = None

    def __post_init__(self) -> None:
        """Refuse an address that no table can be written to."""
        require_table(self.database, to_write=True)
