"""Records counted in cells that the job fixes, and the same with noise.

Nothing but the noisy counts depends on a record: a value that the job does not name is one of all others, whatever it
is and whatever type its column has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import polars as pl

from tarnkappe.arrays import Codes, Counts
from tarnkappe.io import Source
from tarnkappe.io.texts import plain_texts
from tarnkappe.job.bins import Bins
from tarnkappe.job.histogram import Histogram
from tarnkappe.mechanisms import geometric_noise
from tarnkappe.publish.sheets import MAIN, free_name

#: What the column with the counts is called.
COUNT = "count"


def table_names(asked: Histogram) -> list[str]:
    """What each table is called; the first has no name."""
    return [MAIN, *(f"table-{i}" for i in range(2, len(asked.wanted) + 1))]


def count_name(columns: tuple[str, ...]) -> str:
    """What the column with the counts is called beside those that are counted by."""
    return free_name(COUNT, columns)


def true_counts(source: Source, asked: Histogram, rng: np.random.Generator) -> list[Counts]:
    """How many records each cell of each table has; cells come in the order of the bins, the last column fastest.

    Of a person with too many records some are drawn by lot.
    """
    names = list(dict.fromkeys(name for table in asked.wanted for name in table))
    persons = [] if asked.person is None else [asked.person]
    frame = source.read([*names, *persons])
    n = source.n_rows if not frame.width else frame.height
    kept = np.arange(n)
    if asked.person is not None:
        kept = _of_each_person(frame[asked.person], asked.most, rng)
    codes = {name: codes_of(frame[name], asked.bins[name], source)[kept] for name in names}
    counts = []
    for table in asked.wanted:
        cell = np.zeros(len(kept), np.int64)
        for name in table:
            cell = cell * asked.bins[name].size + codes[name]
        counts.append(np.bincount(cell, minlength=math.prod(asked.bins[name].size for name in table)).astype(np.int64))
    return counts


def codes_of(series: pl.Series, bins: Bins, source: Source) -> Codes:
    """The bin of every value; the last one for what the job does not name."""
    other = bins.size - 1
    if bins.edges:
        numbers = series.cast(pl.Float64) if series.dtype.is_numeric() else _numbers(series, source)
        values = numbers.fill_null(float("nan")).to_numpy()
        at = np.searchsorted(np.array(bins.edges), values, side="right") - 1
        inside = (values >= bins.edges[0]) & (values < bins.edges[-1])
        return np.where(inside, at, other).astype(np.int32)
    known = pl.DataFrame({"text": list(bins.of_text), "bin": list(bins.of_text.values())})
    # One record with a fraction must not turn the whole numbers of all others into others.
    asked = plain_texts(series).alias("text").to_frame()
    found = asked.join(known, on="text", how="left", maintain_order="left")["bin"]
    return found.fill_null(other).to_numpy().astype(np.int32)


def _numbers(series: pl.Series, source: Source) -> pl.Series:
    """Texts as numbers, null where they are none."""
    texts = series.cast(pl.String)
    if source.decimal == ",":
        texts = texts.str.replace(",", ".", literal=True)
    return texts.str.strip_chars().cast(pl.Float64, strict=False)


def _of_each_person(key: pl.Series, most: int, rng: np.random.Generator) -> Counts:
    """Some records of every person, at most so many, drawn by lot; records without a key are nobody's.

    Each of these would count as a person of its own, who could have any number of them.
    """
    lots = pl.DataFrame({"key": plain_texts(key), "lot": rng.random(len(key))}).with_row_index("row")
    chosen = lots.drop_nulls("key").sort("lot").with_columns(pl.int_range(pl.len()).over("key").alias("place"))
    return np.sort(chosen.filter(pl.col("place") < most)["row"].to_numpy().astype(np.int64))


def noisy(counts: list[Counts], asked: Histogram, rng: np.random.Generator) -> list[Counts]:
    """Counts with geometric noise, independent for every cell; below 0 only if that is not clipped.

    Every table has a stream of chance of its own.
    """
    out = []
    for true, stream in zip(counts, rng.spawn(len(counts)), strict=True):
        shown = true + geometric_noise(asked.share, asked.most, stream, len(true))
        out.append(np.maximum(shown, 0) if asked.clip else shown)
    return out


def as_tables(counts: list[Counts], asked: Histogram) -> dict[str, pl.DataFrame]:
    """The tables to publish: every cell that the job fixes, whether anybody is in it or not."""
    return {
        name: pl.DataFrame([*cells_of(columns, asked.bins).get_columns(), pl.Series(count_name(columns), shown)])
        for name, columns, shown in zip(table_names(asked), asked.wanted, counts, strict=True)
    }


def cells_of(columns: tuple[str, ...], bins: Mapping[str, Bins]) -> pl.DataFrame:
    """All cells of a table by their labels, in order."""
    if not columns:
        return pl.DataFrame()
    sizes = [bins[name].size for name in columns]
    places = np.indices(sizes).reshape(len(sizes), -1)
    return pl.DataFrame(
        [pl.Series(n, bins[n].labels, dtype=pl.String).gather(p).alias(n) for n, p in zip(columns, places, strict=True)]
    )
