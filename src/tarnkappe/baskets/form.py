"""What a release of sets of items is made of, whichever way they are protected."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tarnkappe.baskets.reading import ITEM, PERSON
from tarnkappe.codebook import Entry
from tarnkappe.criteria.base import Card
from tarnkappe.job.items import Items
from tarnkappe.publish.sheets import MAIN


class Protected(ABC):
    """Sets of items that were made safe: the tables to publish, and how they are compared with the input."""

    #: What each table says, by name, in one sentence.
    abouts: ClassVar[Mapping[str, str]]
    #: What may not be concluded from the tables, in one sentence for the reader.
    caution: ClassVar[str]
    #: What joins the tables, in one sentence.
    joined: ClassVar[str] = ""
    #: What was done to the items, in a few words.
    done: ClassVar[str]

    @abstractmethod
    def tables(self, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        """The tables to publish; the first has no name."""

    @abstractmethod
    def untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
        """What tables that were written say that is not true of the input."""

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What only the publisher may know: what was lost."""

    @abstractmethod
    def persons(self, tables: Mapping[str, pl.DataFrame]) -> int:
        """How many persons published tables are about, as their readers count them."""

    def codebook(self) -> tuple[Entry, ...]:
        """What every published label means; nothing if items are published as they are."""
        return ()


#: What k^m-anonymity is good for.
CARD = Card(
    protects_from="being found by a few items of a set: whoever knows up to m of them finds at least k persons.",
    does_not="hide an item that all persons with the known items share, nor protect from who knows more than m items.",
    typical="k = 5 to 10; m = 2 or 3, as many items as a neighbour may have seen.",
    cost="grows with m, and with the number of items that few persons have.",
)


def as_sets(table: pl.DataFrame, items: Items) -> pl.DataFrame:
    """The sets of a published table: a row for every person and item; texts are taken as they stand."""
    column = pl.col(items.column).cast(pl.String)
    if items.key is not None:
        rows = table.select(pl.col(items.key).alias(PERSON), column.alias(ITEM))
    else:
        rows = table.select(column.fill_null("").str.split(items.separator).alias(ITEM)).with_row_index(PERSON)
        rows = rows.explode(ITEM).filter(pl.col(ITEM) != "")
    return rows.drop_nulls()


def baskets_of(sets: pl.DataFrame, *together: str) -> pl.DataFrame:
    """How often each set occurs; what has the same values in the columns `together` (the person) is a set.

    A set is known by the sums of two hashes of its items, 128 bits in all.
    """
    words = [pl.col(ITEM).hash(seed).alias(f"word {seed}") for seed in (1, 2)]
    whole = sets.select(*together, *words).group_by(together).agg(pl.exclude(*together).sum())
    return whole.drop(PERSON).group_by(pl.all()).len()


def differing(written: pl.DataFrame, expected: pl.DataFrame) -> int:
    """How many kinds of sets occur more or less often than they should."""
    names = [c for c in expected.columns if c != "len"]
    both = written.join(expected, on=names, how="full", suffix="_expected")
    return both.filter(~pl.col("len").eq_missing(pl.col("len_expected"))).height


__all__ = ["CARD", "MAIN", "Protected", "as_sets", "baskets_of", "differing"]
