"""Disassociation: items stay as they are, but which of them belong together is cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.baskets.apriori import Baskets
from tarnkappe.baskets.form import MAIN, Protected, baskets_of, differing
from tarnkappe.baskets.published import CHUNK, CLUSTER, CLUSTERS, RECORDS, TERMS, chunk_sets, names_for
from tarnkappe.baskets.reading import ITEM, PERSON, Sets, encoded, require_joinable
from tarnkappe.errors import InfeasibleError
from tarnkappe.fixes import setting
from tarnkappe.io import Source
from tarnkappe.job.items import Items
from tarnkappe.kernels.baskets.chunking import vertical_parts
from tarnkappe.kernels.baskets.clustering import horizontal_parts
from tarnkappe.taxonomy import Taxonomy

#: Times k: how many persons a cluster may have if the job does not say.
_USUAL = 6


@dataclass(frozen=True, eq=False)
class Dissected(Protected):
    """Persons in clusters, and the items of each cluster in chunks; persons without items are left out."""

    items: Items
    sets: Sets
    baskets: Baskets
    tree: Taxonomy
    #: The persons, cluster by cluster, and where each cluster begins.
    order: Codes
    bounds: Counts
    #: The items of each cluster, and the chunk of each; chunk 0 are items without those who have them.
    first: Counts
    item: Codes
    chunk: Codes
    #: The number of each cluster, drawn by lot.
    number: Counts

    abouts: ClassVar = {
        MAIN: "Items that one person of the cluster has; rows of different chunks may be of the same person or not.",
        TERMS: "An item that one or more persons of the cluster have, in whatever row.",
        CLUSTERS: "How many persons a cluster has.",
    }
    caution: ClassVar = "Rows of different chunks do not belong together: any may be of the same person."
    joined: ClassVar = (
        "Rows with the same cluster, in all tables, are about the same persons; clusters have numbers drawn by lot."
    )
    done: ClassVar = "items are published as they are; which of them belong to one person is cut"

    @classmethod
    def of(cls, sets: Sets, items: Items, source: Source, rng: np.random.Generator) -> Dissected:
        """Cut people into clusters, and the items of each cluster into chunks."""
        whole, tree = encoded(sets, items, source)
        require_joinable(tree.leaves, items)
        filled = np.flatnonzero(np.diff(whole.starts) > 0)
        baskets = Baskets(np.append(whole.starts[filled], whole.starts[-1]), whole.codes)
        most = items.cluster or _USUAL * items.k
        order, bounds = horizontal_parts(baskets.starts, baskets.codes, tree.n_leaves, most, items.k)
        parts = vertical_parts(baskets.starts, baskets.codes, tree.n_leaves, order, bounds, items.k, items.m)
        if not parts[2].any():
            raise InfeasibleError(
                "E301",
                f"no cluster has an item that {items.k} of its persons share, so nothing would be told about anybody",
                where=source.name,
                hint=setting(f"items: {{cluster: {10 * most}}}", "cluster", 10 * most),
            )
        number = rng.permutation(len(bounds) - 1) + 1
        # Persons are numbered as in the input again.
        return cls(items, sets, whole, tree, filled[order].astype(np.int32), bounds, *parts, number)

    @cached_property
    def _cluster(self) -> Counts:
        """The cluster of each person, or -1 of one who has no items."""
        cluster = np.full(self.baskets.n, -1, np.int64)
        cluster[self.order] = np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))
        return cluster

    @cached_property
    def _rows(self) -> pl.DataFrame:
        """A row for every person and item, with the cluster and the chunk."""
        n_leaves = self.tree.n_leaves
        cluster = self._cluster
        person = np.repeat(np.arange(self.baskets.n), np.diff(self.baskets.starts))
        keys = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first)) * n_leaves + self.item
        by_key = np.argsort(keys)
        place = np.searchsorted(keys, cluster[person] * n_leaves + self.baskets.codes, sorter=by_key)
        return pl.DataFrame(
            {PERSON: person, "leaf": self.baskets.codes, CLUSTER: cluster[person], CHUNK: self.chunk[by_key[place]]}
        )

    def tables(self, rng: np.random.Generator) -> dict[str, pl.DataFrame]:
        """Chunks with the rows of each in random order, items without holders, and the sizes of clusters."""
        cluster, chunk, records = names_for(self.items)
        column = self.items.column
        number = pl.Series(self.number)
        label = pl.Series(self.tree.leaves)
        rows = self._rows.with_columns(
            pl.Series(CLUSTER, number.gather(self._rows[CLUSTER])), pl.Series(ITEM, label.gather(self._rows["leaf"]))
        )
        told = rows.filter(pl.col(CHUNK) > 0).sort("leaf").group_by(CLUSTER, CHUNK, PERSON, maintain_order=True)
        joined = told.agg(pl.col(ITEM).str.join(self.items.separator)).sort(CLUSTER, CHUNK, PERSON)
        # Only chance decides about the order within a chunk: it must not tell who is who in the next one.
        mixed = joined.with_columns(pl.Series("place", rng.permutation(joined.height))).sort(CLUSTER, CHUNK, "place")
        terms = rows.filter(pl.col(CHUNK) == 0).select(CLUSTER, ITEM).unique().sort(CLUSTER, ITEM)
        sizes = pl.DataFrame({CLUSTER: number, RECORDS: np.diff(self.bounds)}).sort(CLUSTER)
        tables = {
            MAIN: mixed.select(pl.col(CLUSTER).alias(cluster), pl.col(CHUNK).alias(chunk), pl.col(ITEM).alias(column)),
            TERMS: terms.select(pl.col(CLUSTER).alias(cluster), pl.col(ITEM).alias(column)),
            CLUSTERS: sizes.select(pl.col(CLUSTER).alias(cluster), pl.col(RECORDS).alias(records)),
        }
        return {name: table for name, table in tables.items() if table.height}

    def untrue(self, tables: Mapping[str, pl.DataFrame]) -> Iterator[str]:
        """The rows of each chunk must be what the persons of a cluster of the input have of its items."""
        written, terms, sizes = chunk_sets(tables, self.items)
        persons = np.flatnonzero(self._cluster >= 0)
        of = pl.DataFrame({PERSON: persons, CLUSTER: self.number[self._cluster[persons]]})
        expected = self.sets.labelled(pl.Series(self.sets.texts)).join(of, on=PERSON)
        shown = pl.concat(
            [
                written.select(CLUSTER, CHUNK, ITEM),
                terms.with_columns(pl.lit(0).cast(pl.Int64).alias(CHUNK)).select(CLUSTER, CHUNK, ITEM),
            ]
        ).unique()
        chunks = expected.join(shown, on=[CLUSTER, ITEM], how="left")
        unknown = chunks[CHUNK].null_count()
        invented = shown.join(expected, on=[CLUSTER, ITEM], how="anti").height
        if unknown or invented:
            yield f"{unknown} items of persons are missing in their cluster, {invented} items of clusters are nobody's"
        wanted = baskets_of(chunks.filter(pl.col(CHUNK) > 0), CLUSTER, CHUNK, PERSON)
        other = differing(baskets_of(written, CLUSTER, CHUNK, PERSON), wanted)
        if other:
            yield f"{other} rows of chunks occur more or less often than in the input"
        if not sizes.sort(CLUSTER).equals(of.group_by(CLUSTER).len(RECORDS).cast(pl.Int64).sort(CLUSTER)):
            yield "the clusters do not have as many persons as in the input"

    def facts(self) -> dict[str, Any]:
        """What was lost: the share of items whose holders are not told."""
        return {
            "loss": float(np.mean(self._rows[CHUNK].to_numpy() == 0)),
            "items_before": len(np.unique(self.baskets.codes)),
            "clusters": len(self.bounds) - 1,
            "persons": self.sets.n,
            "persons_with_items": self.sets.n_filled,
        }

    def persons(self, tables: Mapping[str, pl.DataFrame]) -> int:
        """The sizes of all clusters."""
        return int(tables[CLUSTERS][names_for(self.items)[2]].cast(pl.Int64).sum())
