"""Distinct rows and how often each occurs, of what a database sends: as it counted them, or counted as they arrive.

Values are numbered as soon as they are there: whole, the texts of many rows would take more than all that follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.arrays import Codes
from tarnkappe.freed import give_back
from tarnkappe.io.cells import Counted
from tarnkappe.io.kept import one_of_a_kind
from tarnkappe.io.lookup import Lookup, different_texts
from tarnkappe.io.texts import is_text
from tarnkappe.kernels.sorting import bits_of, pack, pack_columns, sorted_keys, unpack
from tarnkappe.threads import Aside, map_threads, share_evenly, share_out

#: Rows that wait before they are counted, eight bytes each.
_WAITING = 1 << 22

_WORD_BITS = 63


def counted_there(types: Sequence[pl.DataType], batches: Iterator[pl.DataFrame]) -> Counted:
    """Take what a database has counted: its last column says how often a row occurs."""
    numbers = [_numbers(dtype) for dtype in types]
    parts, counts = [], []
    for batch in batches:
        *columns, n = batch
        parts.append(_coded(numbers, columns))
        counts.append(n.to_numpy().copy())  # else all that was sent with it stays
    codes = [np.concatenate([part[j] for part in parts]) for j in range(len(types))]
    del parts
    give_back()  # what rows were sent in
    return _in_order(numbers, codes, np.concatenate(counts))


def counted_here(types: Sequence[pl.DataType], batches: Iterator[pl.DataFrame]) -> Counted | None:
    """Count rows as they arrive; None if one number cannot tell them apart."""
    keys = _Keys([_numbers(dtype) for dtype in types])
    with Aside() as aside:
        for batch in batches:
            aside(partial(keys.take, batch))  # while the next rows are fetched
            if keys.full:
                break
    return None if keys.full else keys.counted()


class _Texts:
    """Numbers the texts of a column from 1 on, as they arrive; a missing one is 0."""

    def __init__(self) -> None:
        self._categories = pl.Categories.random()
        self._alive = pl.Series(dtype=pl.Categorical(self._categories))  # else Polars forgets them between batches

    def __call__(self, column: pl.Series) -> Codes:
        listed, which = different_texts(column) or (column, None)
        found = listed.cast(pl.String).cast(self._alive.dtype).to_physical()
        code = (found.cast(pl.Int32) + 1).fill_null(0).to_numpy()
        return code if which is None else code[which]

    @property
    def values(self) -> pl.Series:
        return self._categories.to_series()


class _Others:
    """Numbers values that are no texts from 1 on, as they arrive; a missing one is 0."""

    def __init__(self, dtype: pl.DataType) -> None:
        self.values = pl.Series(dtype=dtype)
        self._learn(self.values)

    def __call__(self, column: pl.Series) -> Codes:
        known = column.to_frame().select(one_of_a_kind(pl.first(), column.dtype)).to_series()
        code = self._lookup(known)
        if (new := code < 0).any():
            self._learn(known.filter(pl.Series(new)).unique())
            code = self._lookup(known)
        return code

    def _learn(self, new: pl.Series) -> None:
        self.values = self.values.append(new.alias(self.values.name))
        missing = pl.Series([None], dtype=self.values.dtype)
        self._lookup = Lookup(missing.append(self.values), np.arange(len(self.values) + 1, dtype=np.int32))


_Numbers = _Texts | _Others


def _numbers(dtype: pl.DataType) -> _Numbers:
    return _Texts() if is_text(dtype) else _Others(dtype)


def _coded(numbers: Sequence[_Numbers], columns: Sequence[pl.Series]) -> list[Codes]:
    pairs = list(zip(numbers, columns, strict=True))
    return map_threads(lambda pair: pair[0](pair[1]), pairs)


class _Keys:
    """Counts rows whose codes fit into one number each; codes get more bits when there are more of them."""

    def __init__(self, numbers: Sequence[_Numbers]) -> None:
        self._numbers = numbers
        self._bits = [0] * len(numbers)
        self._waiting: list[NDArray[np.uint64]] = []
        self._known = pl.DataFrame(schema={"key": pl.UInt64, "n": pl.Int64})
        #: Whether rows have more values than a number has room for.
        self.full = False

    def take(self, batch: pl.DataFrame) -> None:
        """Number the values of some rows, and count them when enough of them wait."""
        codes = _coded(self._numbers, batch.get_columns())
        needed = bits_of([len(column.values) + 1 for column in self._numbers])
        if any(bits > had for bits, had in zip(needed, self._bits, strict=True)):
            self._widen([max(bits) for bits in zip(needed, self._bits, strict=True)])
        if self.full:
            return
        key = np.zeros(batch.height, np.uint64)
        for code, bits in zip(codes, self._bits, strict=True):
            pack(key, code, bits)
        self._waiting.append(key)
        if sum(map(len, self._waiting)) >= _WAITING:
            self._count()

    def _widen(self, bits: list[int]) -> None:
        if sum(bits) > _WORD_BITS:
            self.full = True
            return
        self._count()
        codes = self._codes()
        key = np.zeros(len(codes), np.uint64)
        for j, width in enumerate(bits):
            pack(key, codes[:, j], width)
        self._known = self._known.with_columns(key=pl.Series(key))
        self._bits = bits

    def _codes(self) -> NDArray[np.int32]:
        n = self._known.height
        codes = np.empty((n, len(self._bits)), np.int32)
        unpack(self._known["key"].to_numpy(), [(self._bits, codes)], share_evenly)
        return codes

    def _count(self) -> None:
        if not self._waiting:
            return
        runs = pl.Series(np.concatenate(self._waiting)).sort().rle().struct
        self._waiting = []
        new = pl.DataFrame({"key": runs.field("value"), "n": runs.field("len").cast(pl.Int64)})
        both = pl.concat([self._known, new]).lazy().group_by("key").agg(pl.col("n").sum())
        self._known = both.collect(engine="streaming") if self._known.height else new

    def counted(self) -> Counted:
        """All rows that came."""
        self._count()
        codes, count = self._codes(), self._known["n"].to_numpy()
        self._known = self._known.clear()
        give_back()
        return _in_order(self._numbers, list(codes.T), count)


def _in_order(numbers: Sequence[_Numbers], codes: list[Codes], count: NDArray[np.int64]) -> Counted:
    """Distinct rows in an order that does not depend on that in which they arrived; `codes` are taken away."""
    values = []
    for j, column in enumerate(numbers):
        listed = column.values
        order = listed.arg_sort().to_numpy()
        place = np.zeros(len(listed) + 1, np.int32)
        place[order + 1] = np.arange(1, len(listed) + 1)
        codes[j] = place[codes[j]]
        values.append(listed.gather(order))
    sizes = [len(v) + 1 for v in values]
    keys, width, readable = pack_columns(codes, sizes)
    keys, order = sorted_keys(keys, width, share_out)
    out = np.empty((len(order), len(codes)), np.int32)
    if readable:
        codes.clear()
        unpack(keys, [(bits_of(sizes), out)], share_evenly)
    else:
        for j, code in enumerate(codes):
            out[:, j] = code[order]
    return Counted(tuple(values), *_pooled(out, count[order]))


def _pooled(codes: NDArray[np.int32], count: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Rows of the same codes as one: 0 and -0, missing and no number, are the same to us."""
    new = np.ones(len(codes), np.bool_)
    new[1:] = (codes[1:] != codes[:-1]).any(axis=1)
    if new.all():
        return codes, count
    return codes[new], np.add.reduceat(count, np.flatnonzero(new))
