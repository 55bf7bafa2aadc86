"""What every way to draw made-up people has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Flags
from tarnkappe.bundle import Found
from tarnkappe.codebook import Entry
from tarnkappe.criteria.base import Card, Verdict
from tarnkappe.errors import DataError
from tarnkappe.fixes import Fix
from tarnkappe.synthetic.domains import Coded

#: How often records that would be copies are drawn again before it is given up.
_ROUNDS = 300


@dataclass(frozen=True)
class Spent:
    """A step of a mechanism, and what it costs: epsilon if that is pure, and rho of zCDP in any case; steps add up."""

    step: str
    epsilon: float | None
    rho: float


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """What was learnt about people, and how others are drawn from it.

    Tables are drawn as codes (see `Coded`), a row per made-up person and a column per domain.
    """

    domains: tuple[Coded, ...]

    #: The name of the promise, what it is called in print, and what it is good for.
    promise: ClassVar[str]
    title: ClassVar[str]
    card: ClassVar[Card]
    #: Whom the promise is about, in a sentence that goes on after "The promise is about".
    attacker: ClassVar[str]

    @property
    @abstractmethod
    def usual_records(self) -> int:
        """How many made-up people there are if nobody said it."""

    @abstractmethod
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Draw made-up people."""

    @abstractmethod
    def sentence(self) -> str:
        """What is promised, in one sentence that goes on after "Verified:"."""

    @abstractmethod
    def check(self, people: Codes, written: Codes) -> Found:
        """What the written records, as codes, are found to keep of the promise, beside the people they stand for."""

    def cards(self) -> dict[str, tuple[str, Card]]:
        """What each promise is called in print, and is good for."""
        return {self.promise: (self.title, self.card)}

    def facts(self) -> dict[str, Any]:
        """What only the publisher may know about the model."""
        return {}

    def spent(self) -> tuple[Spent, ...]:
        """What each step of the mechanism costs."""
        return ()

    def decode(self, codes: Codes, rng: np.random.Generator) -> pl.DataFrame:
        """Made-up people as they are published."""
        return pl.DataFrame([domain.decode(codes[:, j], rng) for j, domain in enumerate(self.domains)])

    def encode(self, table: pl.DataFrame) -> Codes:
        """The codes of a table that was published."""
        return encoded(table, self.domains)

    def view(self, people: Codes) -> Codes:
        """The codes of people as codes of what is published, to compare them."""
        return people

    def strangers(self, table: pl.DataFrame) -> dict[str, int]:
        """How many cells of each column of a published table have no place in its domain."""
        return {d.name: d.strangers(table[d.name]) for d in self.domains}

    def codebook(self) -> tuple[Entry, ...]:
        """What published labels mean; nothing if values are published."""
        return ()


def encoded(table: pl.DataFrame, domains: tuple[Coded, ...]) -> Codes:
    """A table as codes, a column for each domain."""
    return np.column_stack([domain.encode(table[domain.name]) for domain in domains]).astype(np.int32)


def copies(people: Codes, made: Codes, k: int) -> Flags:
    """Which made-up records are, in every column, the same as records that one to k - 1 people have."""
    names = [f"c{j}" for j in range(people.shape[1])]
    held = pl.DataFrame(people, schema=names).group_by(names).len("people")
    rows = pl.DataFrame(made, schema=names).join(held, on=names, how="left", maintain_order="left")
    flags: Flags = (rows["people"].fill_null(k) < k).to_numpy()
    return flags


#: What it is good for that nobody is copied.
_NO_COPIES = Card(
    protects_from="being published as one is: no record is, in names and intervals of numbers, that of fewer than k.",
    does_not="hide who is in the data: a record may be nearly somebody's, and who stands there is hardly in the data.",
    typical="k = 10, the same as for what values are drawn from.",
    cost="little where there are many columns; with few columns rare combinations are lost.",
)


class Copied(Model):
    """A model whose values come from people: what it draws is never what fewer than k of them are."""

    k: int

    def draw_apart(self, n: int, people: Codes, rng: np.random.Generator) -> Codes:
        """Draw made-up people; whoever is a copy of fewer than k people is drawn again.

        Copies are known by their codes: the same names, and numbers of the same intervals.
        """
        made = self.draw(n, rng)
        for _ in range(_ROUNDS):
            again = np.flatnonzero(copies(people, made, self.k))
            if not len(again):
                return made
            made[again] = self.draw(len(again), rng)
        raise DataError(
            "E451",
            f"nearly everybody who can be drawn is the same as fewer than {self.k} of the people in the data",
            hint=Fix(
                "synthetic: {method: …, k: 5, bins: 10}   makes values coarser; or drop columns",
                "k=5, bins=10   makes values coarser; or drop columns",
            ),
        )

    def cards(self) -> dict[str, tuple[str, Card]]:
        """That nobody is copied, beside what else is promised."""
        return {"no-copies": ("no copies", _NO_COPIES), **super().cards()}

    def copy_verdict(self, people: Codes, written: Codes) -> Verdict:
        """How many written records are copies of fewer than k people."""
        n = int(copies(people, written, self.k).sum())
        return Verdict("no-copies", None, f"copies of fewer than {self.k} records = 0", float(n), n == 0, n)
