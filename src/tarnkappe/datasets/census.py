"""A synthetic census of any length: realistic shares, dependent columns, no real person in it."""

from __future__ import annotations

import errno
import os
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import BinaryIO

import numpy as np
import polars as pl

from tarnkappe.appeared import is_to_take
from tarnkappe.datasets.blocks import BLOCK_ROWS, block_rows, rebatch, require_at_least
from tarnkappe.datasets.census_model import WORDS_PER_RECORD, census_model
from tarnkappe.datasets.census_values import (
    CENSUS_COLUMNS,
    CENSUS_ROLE_REASONS,
    CENSUS_ROLES,
    ROOTS,
    census_taxonomies,
    census_taxonomy_trees,
    values_of,
)
from tarnkappe.errors import DataError, LimitError, RefusedError

__all__ = [
    "CENSUS_COLUMNS",
    "CENSUS_ROLES",
    "CENSUS_ROLE_REASONS",
    "census",
    "census_batches",
    "census_taxonomies",
    "census_taxonomy_trees",
    "write_census",
]

#: Called after every written batch with the records written so far and the number asked for.
Progress = Callable[[int, int], None]

#: Records that `write_census` holds at a time.
WRITE_ROWS = 4 * BLOCK_ROWS


def census(n: int, seed: int = 0) -> pl.DataFrame:
    """A synthetic census of `n` working people aged 16 to 95, with 11 columns.

    Columns depend on each other as in a real census: education on age and country of birth; marital status
    on age and sex; relationship on marital status, sex and age; race on country of birth; occupation on
    education, sex and age; workclass on occupation (hence on education) and age; hours on workclass, sex
    and age; capital gain (mostly 0) on education and age.

    The 500 occupations are Zipf-like inside their 23 major groups; the most frequent has a share of 1.9 %.
    What education, sex and age band tell about the occupation is 1.18 bits of its entropy of 8.39 bits.

    The same seed gives the same people, whatever the batch size, and a shorter census is the beginning of a
    longer one.

    >>> people = census(3, seed=1)
    >>> people.columns[:5]
    ['age', 'workclass', 'education', 'marital-status', 'occupation']
    >>> people.equals(census(100_000, seed=1).head(3))
    True
    """
    require_at_least("n", n, 0)
    require_at_least("seed", seed, 0)
    return pl.concat([_block(0, 0, seed), *(_block(i, rows, seed) for i, rows in block_rows(n))], rechunk=True)


def census_batches(n: int, seed: int = 0, batch_rows: int = 1_000_000) -> Iterator[pl.DataFrame]:
    """The records of `census` in batches, in memory that does not depend on `n`.

    >>> [batch.height for batch in census_batches(25, batch_rows=10)]
    [10, 10, 5]
    """
    require_at_least("n", n, 0)
    require_at_least("seed", seed, 0)
    require_at_least("batch_rows", batch_rows, 1)
    return rebatch((_block(i, rows, seed) for i, rows in block_rows(n)), batch_rows)


def write_census(path: str | os.PathLike[str], n: int, seed: int = 0, progress: Progress | None = None) -> None:
    """Write `census(n, seed)` to a ``.csv`` or ``.parquet`` file, in memory that does not depend on `n`.

    The file gets its name only when it is complete, and then replaces a file of that name; on failure
    nothing is left behind. `progress` is called after each batch with the records written so far and `n`.
    """
    target = Path(path)
    writers = {".csv": _write_csv, ".parquet": _write_parquet}
    write = writers.get(target.suffix.lower())
    if write is None:
        raise DataError(
            "E408",
            f"cannot write a census as '{target.suffix}'",
            where=str(target),
            hint="Use a name that ends in .csv or .parquet:  census.parquet",
        )
    batches = census_batches(n, seed, WRITE_ROWS)
    unfinished = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        with unfinished.open("xb") as file:
            write(file, _reported(batches, n, progress))
        is_to_take(unfinished, target)
        unfinished.replace(target)
    except OSError as error:
        raise _write_error(error, target) from error
    finally:
        unfinished.unlink(missing_ok=True)


@cache
def _labels() -> dict[str, pl.Series]:
    return {column: pl.Series(column, values_of(column), dtype=pl.String) for column in ROOTS}


def _block(index: int, rows: int, seed: int) -> pl.DataFrame:
    """The first `rows` records of one block; numpy keeps a seed's raw words the same in every version."""
    raw = np.random.PCG64(np.random.SeedSequence([seed, index])).random_raw((rows, WORDS_PER_RECORD // 2))
    words = np.ascontiguousarray(raw.astype("<u8", copy=False).view("<u4").T)
    codes = census_model().draw(words)
    labels = _labels()
    return pl.DataFrame(
        [
            labels[column].gather(codes[column])
            if column in labels
            else pl.Series(column, codes[column], dtype=pl.Int64)
            for column in CENSUS_COLUMNS
        ]
    )


def _reported(batches: Iterator[pl.DataFrame], n: int, progress: Progress | None) -> Iterator[pl.DataFrame]:
    """The batches; `progress` hears of one when the next is asked for, that is after it was written."""
    done = 0
    for batch in batches:
        yield batch
        done += batch.height
        if progress is not None:
            progress(done, n)


def _write_csv(file: BinaryIO, batches: Iterator[pl.DataFrame]) -> None:
    file.write((",".join(CENSUS_COLUMNS) + "\n").encode())
    for batch in batches:
        # No value holds a comma, a quote or a line break, so nothing needs quoting.
        batch.write_csv(file, include_header=False, quote_style="never")


def _write_parquet(file: BinaryIO, batches: Iterator[pl.DataFrame]) -> None:
    import pyarrow.parquet as pq

    schema = census(0).to_arrow().schema
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for batch in batches:
            writer.write_table(batch.to_arrow().cast(schema))


def _write_error(error: OSError, target: Path) -> Exception:
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        return LimitError("E701", "the disk is full", where=str(target), hint="Free some space, or write elsewhere.")
    reason = error.strerror or "the system refused"
    hint = "Choose a folder that you may write to."
    if not target.parent.exists():
        hint = f"mkdir -p {target.parent}"
    return RefusedError("E603", f"cannot write the census: {reason}", where=str(target), hint=hint)
