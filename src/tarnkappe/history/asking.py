"""Questions to a ledger: who is in which release, and what a withdrawal means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tarnkappe.history.ledger import Ledger, Line, plain
from tarnkappe.history.places import ABSENT, PERSON, PLACE, secret_name


@dataclass(frozen=True)
class Holding:
    """A release that holds a person: how many share the person's place in it, and what it would take to let them go."""

    line: Line
    #: People in the same place, the person included.
    alike: int
    #: Sensitive columns in which nobody else there has what the person has.
    only_one_in: tuple[str, ...] = ()

    @property
    def enough_without(self) -> bool:
        """Whether the others would still be as many as what the release promises needs."""
        return self.alike - 1 >= self.line.least

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        told = {"people_alike": self.alike, "groups_must_change": not self.enough_without}
        return {**plain(self.line), **told, "only_one_in": list(self.only_one_in)}


def releases_with(ledger: Ledger, person: str) -> tuple[Holding, ...]:
    """The releases that hold a person, the first one first."""
    wanted = ledger.person(person)
    out = []
    for line in ledger.releases:
        frame = ledger.groups_of(line).filter(pl.col(PLACE).is_not_null() & (pl.col(PLACE) != ABSENT))
        place = frame.filter(pl.col(PERSON) == wanted)[PLACE]
        if len(place):
            there = frame.filter(pl.col(PLACE) == place[0])
            out.append(Holding(line, there.height, _only_one(there, wanted)))
    return tuple(out)


def _only_one(there: pl.DataFrame, person: int) -> tuple[str, ...]:
    """The sensitive columns in which nobody else of a place has what a person has.

    There the others have one value less without the person, which may be one too few for a criterion about secrets.
    """
    mine = there.filter(pl.col(PERSON) == person)
    names = [name for name in there.columns if name.startswith(secret_name(""))]
    alone = (name for name in names if there.filter(pl.col(name).eq_missing(mine[name][0])).height == 1)
    return tuple(name.removeprefix(secret_name("")) for name in alone)


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
