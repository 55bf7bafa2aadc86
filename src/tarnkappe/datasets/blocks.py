"""Generating a long table block by block, so that neither memory nor the records depend on the batch size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from tarnkappe.errors import JobError

#: Records per block. Each block has its own random stream, so this number is part of what a seed means.
BLOCK_ROWS = 1 << 16


def block_rows(n: int) -> Iterator[tuple[int, int]]:
    """The number and the length of each block of a table of `n` records.

    >>> list(block_rows(70_000))
    [(0, 65536), (1, 4464)]
    """
    for start in range(0, n, BLOCK_ROWS):
        yield start // BLOCK_ROWS, min(BLOCK_ROWS, n - start)


def rebatch(frames: Iterable[pl.DataFrame], batch_rows: int) -> Iterator[pl.DataFrame]:
    """The same records in batches of `batch_rows`, the last one shorter; at most one batch is held.

    >>> thirds = (pl.DataFrame({"a": [i, i, i]}) for i in range(3))
    >>> [batch.height for batch in rebatch(thirds, 4)]
    [4, 4, 1]
    """
    held: list[pl.DataFrame] = []
    rows = 0
    for frame in frames:
        held.append(frame)
        rows += frame.height
        if rows < batch_rows:
            continue
        whole = pl.concat(held)
        full = rows - rows % batch_rows
        for start in range(0, full, batch_rows):
            yield whole.slice(start, batch_rows)
        held, rows = [whole.slice(full)], rows - full
    if rows:
        yield pl.concat(held)


def require_at_least(name: str, value: int, least: int) -> None:
    """Refuse a number of records or a seed that makes no sense."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise JobError(
            "E110",
            f"{name} must be a whole number of at least {least}, got {value!r}",
            where=name,
            hint=f"Set  {name}={least}  or more.",
        )
