"""Puts any number of records into random order: in memory while they are few, by way of the disk when they are many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.engines.waiting import Waiting
from tarnkappe.kernels.engines.dealing import shuffle_within

#: Records that are put in order together.
BUCKET = 1 << 22


class Shuffle(Waiting):
    """Every record is thrown into a bucket at random, and every bucket is shuffled: all orders are equally likely.

    Buckets are kept on disk if the records would take more than `limit` bytes.
    """

    def __init__(self, n_records: int, rng: np.random.Generator, limit: int | None = None) -> None:
        """Prepare for about that many records."""
        super().__init__(limit)
        self._rng = rng
        self._buckets: list[list[pl.DataFrame]] = [[] for _ in range(max(-(-n_records // BUCKET), 1))]

    def add(self, records: pl.DataFrame) -> None:
        """Throw records into the buckets."""
        if len(self._buckets) == 1:
            self._buckets[0].append(records)
        else:
            bucket = self._rng.integers(0, len(self._buckets), records.height, dtype=np.uint16)
            sorted_ = records[np.argsort(bucket, kind="stable")]
            ends = np.cumsum(np.bincount(bucket, minlength=len(self._buckets)))
            for i, (begin, end) in enumerate(zip(np.append(0, ends[:-1]), ends, strict=True)):
                self._buckets[i].append(sorted_[int(begin) : int(end)])
        self._hold(int(records.estimated_size()))

    def batches(self) -> Iterator[pl.DataFrame]:
        """The records in random order."""
        for i, held in enumerate(self._buckets):
            parts = [*map(pl.read_ipc, self._moved(i)), *held]
            held.clear()
            if parts:
                records = _joined(parts)
                del parts
                yield records[self._order(records.height)]

    def _order(self, n: int) -> NDArray[np.int32]:
        """A random order, drawn faster than by numpy's own permutation."""
        order = np.arange(n, dtype=np.int32)
        shuffle_within(order, np.array([0, n]), self._rng.random(n))
        return order

    def _move(self) -> None:
        for i, held in enumerate(self._buckets):
            if held:
                _joined(held).write_ipc(self._place(i))
                held.clear()


def gathered(parts: Iterable[pl.DataFrame], n: int) -> Iterator[pl.DataFrame]:
    """Records in parts of about `n`, from smaller ones: where they go is drawn for so many at once."""
    waiting: list[pl.DataFrame] = []
    for part in parts:
        waiting.append(part)
        if sum(one.height for one in waiting) >= n:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _joined(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """All parts as one piece: to pick from many chunks takes ten times as long."""
    return pl.concat(parts).rechunk()  # `concat` leaves a single part as it is
