"""The independent check of published sets of items, from the texts that stand in the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import polars as pl

from tarnkappe.baskets.form import MAIN, as_sets
from tarnkappe.baskets.reading import ITEM, PERSON
from tarnkappe.baskets.recount import NAME, recount
from tarnkappe.bundle import Found
from tarnkappe.criteria.base import Verdict
from tarnkappe.job.items import Items
from tarnkappe.publish.sheets import free_name

#: What the promise is called in print, and what is said to break it.
TITLE, UNIT = "k^m-anonymity", "combination"

#: The further tables of a disassociated release: items without those who have them, and how large clusters are.
TERMS, CLUSTERS = "terms", "clusters"

#: What their columns are called, unless the items stand in a column of that name.
CLUSTER, CHUNK, RECORDS = "cluster", "chunk", "records"


def names_for(items: Items) -> tuple[str, str, str]:
    """The names of the columns for clusters, chunks and records beside that of the items."""
    cluster, chunk, records = (free_name(name, [items.column]) for name in (CLUSTER, CHUNK, RECORDS))
    return cluster, chunk, records


def check_tables(tables: Mapping[str, pl.DataFrame], items: Items) -> Found:
    """Count every set of up to m items in tables that were published."""
    if items.algorithm == "disassociation":
        return _check_chunks(tables, items)
    found = recount(as_sets(tables[MAIN], items), items.k, items.m)
    return Found((found.verdict(items.column, items.asked),))


def chunk_sets(tables: Mapping[str, pl.DataFrame], items: Items) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The three tables of a disassociated release under names of our own, chunks with a row for every item."""
    cluster, chunk, records = names_for(items)
    text, group = pl.col(items.column).cast(pl.String), pl.col(cluster).cast(pl.Int64).alias(CLUSTER)
    rows = tables[MAIN].select(
        group, pl.col(chunk).cast(pl.Int64).alias(CHUNK), text.str.split(items.separator).alias(ITEM)
    )
    rows = rows.with_row_index(PERSON).explode(ITEM)
    terms = pl.DataFrame(schema={CLUSTER: pl.Int64, ITEM: pl.String})
    if TERMS in tables:
        terms = tables[TERMS].select(group, text.alias(ITEM))
    sizes = tables[CLUSTERS].select(group, pl.col(records).cast(pl.Int64).alias(RECORDS))
    return rows, terms, sizes


def _check_chunks(tables: Mapping[str, pl.DataFrame], items: Items) -> Found:
    """Every chunk must be safe by itself, and k persons may have any items of several chunks."""
    rows, terms, sizes = chunk_sets(tables, items)
    # An item of another chunk is another item: what a person has in two chunks is not known together.
    apart = pl.concat_str(pl.col(CLUSTER), pl.col(CHUNK), pl.col(ITEM), separator=" ").alias(ITEM)
    inside = recount(rows.select(PERSON, apart), items.k, items.m)
    small = int((sizes[RECORDS] < items.k).sum())
    smallest = min(int(sizes[RECORDS].to_numpy().min()), inside.smallest)
    verdict = Verdict(NAME, items.column, items.asked, float(smallest), not (inside.rare or small), inside.rare + small)
    return Found((verdict,), tuple(_loose_ends(rows, terms, sizes, items)))


def _loose_ends(rows: pl.DataFrame, terms: pl.DataFrame, sizes: pl.DataFrame, items: Items) -> Iterator[str]:
    """What else lets somebody conclude too much from chunks that are safe by themselves."""
    twice = pl.concat([rows.select(CLUSTER, CHUNK, ITEM).unique().drop(CHUNK), terms.select(CLUSTER, ITEM)])
    if twice.height != twice.unique().height:
        yield f"{twice.height - twice.unique().height} items stand in several chunks of their cluster"
    if sizes[CLUSTER].n_unique() != sizes.height:
        yield "a cluster has several sizes"
    per_chunk = rows.group_by(CLUSTER, CHUNK).agg(pl.col(PERSON).n_unique().cast(pl.Int64).alias("rows"))
    both = per_chunk.join(sizes, on=CLUSTER, how="left")
    if both[RECORDS].null_count() or terms.join(sizes, on=CLUSTER, how="anti").height:
        yield "a cluster has no size"
    if both.filter(pl.col("rows") > pl.col(RECORDS)).height:
        yield "a chunk has more rows than its cluster has persons"
    # Everybody has an item: where no item may be anybody's, rows must be left for all when k of each chunk are joined.
    told = per_chunk.join(terms, on=CLUSTER, how="anti").group_by(CLUSTER).agg(pl.col("rows").sum(), pl.len())
    needed = pl.col(RECORDS) + items.k * (pl.min_horizontal("len", pl.lit(items.m)) - 1)
    scarce = told.cast(pl.Int64).join(sizes, on=CLUSTER).filter(pl.col("rows") < needed).height
    if scarce:
        yield f"{scarce} clusters have so few rows that items of different chunks cannot be one person's"
