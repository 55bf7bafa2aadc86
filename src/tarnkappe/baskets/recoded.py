"""Sets whose items are coarsened: one table, like the one that was read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes
from tarnkappe.baskets.apriori import REMOVED, Baskets, apriori, loss_of
from tarnkappe.baskets.form import MAIN, Protected, as_sets, baskets_of, differing
from tarnkappe.baskets.reading import ITEM, PERSON, Sets, encoded, require_joinable
from tarnkappe.codebook import Entry
from tarnkappe.errors import InfeasibleError
from tarnkappe.fixes import Fix
from tarnkappe.io import Source
from tarnkappe.job.items import Items
from tarnkappe.kernels.baskets.counting import recode
from tarnkappe.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Recoded(Protected):
    """Every item is published as one node of its taxonomy, the same for everybody, or not at all."""

    items: Items
    sets: Sets
    baskets: Baskets
    tree: Taxonomy
    #: What is published for each leaf.
    at: Codes

    abouts: ClassVar = {MAIN: "The items of a person, in one row or, under a number drawn by lot, in several."}
    caution: ClassVar = "An item may stand for others too, and a person may have had items that were removed."
    done: ClassVar = "items that too few persons have are coarsened or removed, alike for everybody"

    @classmethod
    def of(cls, sets: Sets, items: Items, source: Source, rng: np.random.Generator) -> Recoded:
        """Coarsen, or remove, until the promise is kept."""
        baskets, tree = encoded(sets, items, source)
        if items.key is None:
            require_joinable(tree.labels, items)
        generalise = items.builder is not None
        at = apriori(baskets, tree, items.k, items.m, generalise=generalise, remove=items.remove or not generalise)
        if np.all(at[baskets.codes] == REMOVED):
            raise InfeasibleError(
                "E301",
                f"no item could stay: any {items.m} items that are known must fit at least {items.k} persons",
                where=source.name,
                hint=Fix(
                    "items: {taxonomy: ITEMS.csv, …}   coarsens items instead of removing them",
                    'taxonomy=from_file("ITEMS.csv")   coarsens items instead of removing them',
                ),
            )
        return cls(items, sets, baskets, tree, at)

    @cached_property
    def _nodes(self) -> Codes:
        """The nodes that are published, in the order of their leaves."""
        shown: Codes = np.unique(self.at[np.unique(self.baskets.codes)])
        return np.delete(shown, np.flatnonzero(shown == REMOVED))

    def tables(self, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        """The sets in random order, with new numbers for persons where there is a row for each item."""
        new = np.where(self.at == REMOVED, REMOVED, np.searchsorted(self._nodes, self.at)).astype(np.int32)
        starts, codes = recode(self.baskets.starts, self.baskets.codes, new)
        held = np.diff(starts)
        labels = pl.Series([self.tree.labels[v] for v in self._nodes], dtype=pl.String)
        place = rng.permutation(self.baskets.n)
        rows = pl.DataFrame({PERSON: np.repeat(place, held), ITEM: labels.gather(codes)})
        rows = rows.sort(PERSON, maintain_order=True)
        if self.items.key is not None:
            number = rows[PERSON].rank("dense").cast(pl.Int64)
            return {MAIN: pl.DataFrame({self.items.key: number, self.items.column: rows[ITEM]})}
        joined = rows.group_by(PERSON, maintain_order=True).agg(pl.col(ITEM).str.join(self.items.separator))
        everybody = pl.DataFrame({PERSON: np.arange(self.baskets.n)})
        whole = everybody.join(joined, on=PERSON, how="left", maintain_order="left")[ITEM].fill_null("")
        return {MAIN: pl.DataFrame({self.items.column: whole})}

    def untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
        """Every label must be its item's own or stand above it, and every set must be that of one person."""
        above = {path[0]: {*path} for path in self.tree.paths()}
        labels = {
            leaf: None if v == REMOVED else self.tree.labels[v]
            for leaf, v in zip(self.tree.leaves, self.at, strict=True)
        }
        wrong = sum(label is not None and label not in above[leaf] for leaf, label in labels.items())
        if wrong:
            yield f"{wrong} items are published as something that does not cover them"
        texts = self.sets.texts
        leaves = texts if self.items.builder is None else self.items.builder.published(texts)
        told = self.sets.labelled(pl.Series([labels[leaf] for leaf in leaves], dtype=pl.String))
        expected = told.unique()
        written = as_sets(tables[MAIN], self.items)
        if self.items.key is None and tables[MAIN].height != self.sets.n:
            yield f"the table has {tables[MAIN].height} rows for {self.sets.n} persons"
        other = differing(baskets_of(written, PERSON), baskets_of(expected, PERSON))
        if other:
            yield f"{other} sets occur more or less often than in the input"

    def facts(self) -> dict[str, Any]:
        """What was lost."""
        gone = self.at[np.unique(self.baskets.codes)] == REMOVED
        return {
            "loss": loss_of(self.baskets, self.tree, self.at),
            "items_before": len(gone),
            "items_published": len(self._nodes),
            "items_removed": int(gone.sum()),
            "persons": self.sets.n,
            "persons_with_items": self.sets.n_filled,
        }

    def persons(self, tables: Mapping[str, pl.DataFrame]) -> int:
        """A row, or a number, for every person."""
        table = tables[MAIN]
        return table.height if self.items.key is None else table[self.items.key].n_unique()

    def codebook(self) -> tuple[Entry, ...]:
        """What every label stands for, by the taxonomy; which items lie below it is not said, few may have some."""
        if self.items.builder is None:
            return ()
        alone = self.tree.lo[self._nodes] == self.tree.hi[self._nodes]
        return tuple(
            Entry(
                self.items.column,
                "items",
                self.tree.labels[v],
                "The item itself." if single else "One or more items of this group of the taxonomy.",
            )
            for v, single in zip(self._nodes, alone, strict=True)
        )
