"""Questions to a ledger: who is in which release, and what a withdrawal means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.history.ledger import Ledger, Line, plain
from tarnkappe.history.places import ABSENT, PERSON, PLACE


@dataclass(frozen=True)
class Holding:
    """A release that holds a person: how many share the person's place in it, and what it would take to let them go."""

    line: Line
    #: People in the same place, the person included.
    alike: int

    @property
    def enough_without(self) -> bool:
        """Whether the others would still be enough for what the release promises."""
        return self.alike - 1 >= self.line.least

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return {**plain(self.line), "people_alike": self.alike, "groups_must_change": not self.enough_without}


def releases_with(ledger: Ledger, person: str) -> tuple[Holding, ...]:
    """The releases that hold a person, the first one first."""
    wanted = ledger.person(person)
    out = []
    for line in ledger.releases:
        frame = ledger.groups_of(line).filter(pl.col(PLACE).is_not_null() & (pl.col(PLACE) != ABSENT))
        place = frame.filter(pl.col(PERSON) == wanted)[PLACE]
        if len(place):
            out.append(Holding(line, frame.filter(pl.col(PLACE) == place[0]).height))
    return tuple(out)


def withdraw(path: str | Path, person: str) -> tuple[Holding, ...]:
    """Enter the withdrawal of a person; the releases that hold the person, and so must be issued anew.

    From then on no release with this ledger may hold the person.

    >>> import tempfile
    >>> withdraw(Path(tempfile.mkdtemp()) / "ledger.jsonl", "somebody who is in no release")
    ()
    """
    with Ledger.opened(path) as ledger:
        found = releases_with(ledger, person)
        hashed = ledger.person(person)
        if hashed not in ledger.withdrawn()[PERSON]:
            ledger.withdrawal(hashed)
        return found
