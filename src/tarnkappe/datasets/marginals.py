"""Tables of any length with the value shares of a given table, column by column."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from tarnkappe.datasets.blocks import block_rows, rebatch, require_at_least
from tarnkappe.errors import DataError


def resample(frame: pl.DataFrame, n: int, seed: int = 0) -> pl.DataFrame:
    """`n` artificial records whose values are drawn independently per column from the table's own shares.

    Missing values are drawn like any other value, and types stay what they are. Columns become independent of
    each other: this is a table to measure speed on, not one to study how columns depend on each other.

    >>> table = pl.DataFrame({"sex": ["female", "male", None], "age": [30, 30, 50]})
    >>> resample(table, 5, seed=1).schema == table.schema
    True

    References
    ----------
    The generator of test data in section 8.2.2 of the master's thesis on a distributed Hilb algorithm.
    Differs from it in: a value is drawn by picking a record of the table at random, which gives the same
    shares without counting them.
    """
    _require_drawable(frame, n, seed)
    return pl.concat([frame.clear(), *(_block(frame, i, rows, seed) for i, rows in block_rows(n))], rechunk=True)


def resample_batches(frame: pl.DataFrame, n: int, seed: int = 0, batch_rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
    """The records of `resample` in batches, in memory that does not depend on `n`.

    >>> table = pl.DataFrame({"sex": ["female", "male"]})
    >>> [batch.height for batch in resample_batches(table, 25, batch_rows=10)]
    [10, 10, 5]
    """
    _require_drawable(frame, n, seed)
    require_at_least("batch_rows", batch_rows, 1)
    return rebatch((_block(frame, i, rows, seed) for i, rows in block_rows(n)), batch_rows)


def _require_drawable(frame: pl.DataFrame, n: int, seed: int) -> None:
    require_at_least("n", n, 0)
    require_at_least("seed", seed, 0)
    if n and not frame.height:
        raise DataError(
            "E402",
            "the table has no records to draw values from",
            where="frame",
            hint="Pass a table with at least one record.",
        )


def _block(frame: pl.DataFrame, index: int, rows: int, seed: int) -> pl.DataFrame:
    """The first `rows` records of one block; every column of every block has its own random stream."""
    columns = []
    for place, column in enumerate(frame.iter_columns()):
        rng = np.random.default_rng(np.random.SeedSequence([seed, index, place]))
        columns.append(column.gather(rng.integers(0, frame.height, rows)))
    return pl.DataFrame(columns)
