"""Count the distinct rows of a plain CSV file: one without quoted fields, so that every line is a record.

Threads read it part by part (see `tarnkappe.io.csvparts`). Each counts the rows of its own numbers of texts for
itself; only the distinct rows of all threads are brought together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tarnkappe.io.cells import Counted, Step
from tarnkappe.io.csvparts import (
    OddError,
    PartReader,
    PlainCsv,
    Words,
    key_words,
    over_parts,
    place_in_key,
    readers_of,
)
from tarnkappe.kernels.io.csvfields import REGIONS, count_keys, counted_keys, gather_keys, merge_keys
from tarnkappe.threads import map_threads

#: Keys that wait before they are counted.
_WAITING = 1 << 21

#: Slots for keys in the beginning.
_SLOTS = 1 << 16


def count_plain(
    file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool, step: Step | None = None
) -> Counted | None:
    """Count the distinct rows of the wanted fields; nothing if the file is not as it should be."""
    with ExitStack() as stack:
        try:
            counters = readers_of(lambda _: _Counter(file, wanted, empty_is_missing))
            for counter in counters:
                stack.callback(counter.close)
            for _ in over_parts(file, counters, _Counter.count, step):
                pass
            return _together(map_threads(_Counter.found, counters))
        except (OddError, OSError):
            return None


class _Found(NamedTuple):
    """What one thread has counted; keys are made of numbers of texts, from 1 on."""

    texts: pl.Series
    first: NDArray[np.int64]  #: where each text stands first
    used: NDArray[np.bool_]  #: whether a number occurs in a column
    bits: int
    keys: Words
    counts: Words


def _together(found: Sequence[_Found]) -> Counted:
    """The distinct rows of all threads, in lexicographic order; values are in the order of their appearance."""
    each = pl.DataFrame({"text": pl.concat(f.texts for f in found), "first": np.concatenate([f.first for f in found])})
    texts = each.group_by("text").agg(pl.col("first").min()).sort("first").with_row_index("place")
    place = each.join(texts, on="text", how="left", maintain_order="left")["place"].to_numpy()
    places = np.split(place, np.cumsum([len(f.texts) for f in found[:-1]]))
    used = np.zeros((len(found[0].used), texts.height), np.bool_)
    for f, place in zip(found, places, strict=True):
        used[:, place] |= f.used[:, 1:]
    codes = np.cumsum(used, axis=1, dtype=np.int32)
    bits = max(int(codes.max(initial=1)).bit_length(), 1)

    def recoded(f: _Found, place: NDArray[np.uint32]) -> Words:
        own = np.zeros((len(codes), len(place) + 1), np.int32)
        own[:, 1:] = codes[:, place]
        return recode_keys(f.keys, f.bits, own, bits)

    keys = np.concatenate(map_threads(lambda pair: recoded(*pair), zip(found, places, strict=True)))
    rows, count = merge_keys(keys, np.concatenate([f.counts for f in found]), bits, len(codes))
    return Counted(tuple(texts["text"].filter(mask) for mask in used), rows, count)


class _Counter(PartReader):
    """What one thread reads and counts."""

    def __init__(self, file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool) -> None:
        super().__init__(file, wanted, empty_is_missing)
        self._rows = _Rows(self.width, _SLOTS)
        self._make_room_for_keys(0)
        self._waiting = 0

    def count(self, begin: int) -> tuple[int, None]:
        """Count the records that begin in the part that begins at this offset; returns how many there are."""
        records = self.read(begin)
        if self._waiting + records > len(self._keys):
            self._count_waiting()
        if records > len(self._keys):
            self._make_room_for_keys(records)
        done = 0
        while done < records:
            now = self.number(done, self._keys[self._waiting :])
            done += now
            self._waiting += now
            if done < records:
                self._make_room(records - done)
        return records, None

    def found(self) -> _Found:
        """All that was counted."""
        self._count_waiting()
        keys, counts = self._rows.contents()
        used = np.zeros((len(self._wanted), self.n_texts + 1), np.bool_)
        mark_numbers(keys, self.bits, used)
        return _Found(self.texts(), self.first, used, self.bits, keys, counts)

    def _count_waiting(self) -> None:
        """Count the keys that wait."""
        keys = self._keys[: self._waiting]
        gathered = self._gathered[: self._waiting]
        gather_keys(keys, gathered)
        self._rows.add(gathered, np.empty(0, np.uint64))
        self._waiting = 0

    def _make_room(self, records: int) -> None:
        """Room for more texts; where they need larger numbers, keys are made anew."""
        n, bits = self.n_texts, self.bits
        self.make_room()
        if self.bits == bits:
            return
        self._count_waiting()
        keys, counts = self._rows.contents()
        unchanged = np.tile(np.arange(n + 1, dtype=np.int32), (len(self._wanted), 1))
        keys = recode_keys(keys, bits, unchanged, self.bits)
        self._rows = _Rows(self.width, _SLOTS)
        self._rows.add(keys, counts)
        self._make_room_for_keys(records)

    def _make_room_for_keys(self, records: int) -> None:
        self._keys = np.empty((max(_WAITING, records), self.width), np.uint64)
        self._gathered = np.empty_like(self._keys)


class _Rows:
    """Distinct keys and how often each occurs."""

    def __init__(self, width: int, slots: int) -> None:
        self._table = np.zeros((slots, width + 1), np.uint64)
        self._sizes = np.zeros(REGIONS, np.int64)

    def add(self, keys: Words, counts: Words) -> None:
        """Count keys; without counts each of them once."""
        done = count_keys(keys, counts, 0, self._table, self._sizes)
        while done < len(keys):
            larger = _Rows(keys.shape[1], 4 * len(self._table))
            larger.add(*self.contents())
            self._table, self._sizes = larger._table, larger._sizes
            done = count_keys(keys, counts, done, self._table, self._sizes)

    def contents(self) -> tuple[Words, Words]:
        """The keys and their counts."""
        return counted_keys(self._table)


def _numbers(keys: Words, bits: int, columns: int) -> Iterator[Words]:
    """The numbers in every column of keys."""
    for j in range(columns):
        word, shift = place_in_key(j, bits, columns)
        yield (keys[:, word] >> shift) & np.uint64((1 << bits) - 1)


def mark_numbers(keys: Words, bits: int, used: NDArray[np.bool_]) -> None:
    """Mark which numbers occur in each column of keys that `number_fields` made."""
    for j, numbers in enumerate(_numbers(keys, bits, len(used))):
        used[j, numbers] = True


def recode_keys(keys: Words, bits: int, codes: NDArray[np.int32], new_bits: int) -> Words:
    """Keys with code ``codes[j, number]`` in place of each number in column ``j``, each of so many bits."""
    out = np.zeros((len(keys), key_words(len(codes), new_bits)), np.uint64)
    for j, numbers in enumerate(_numbers(keys, bits, len(codes))):
        word, shift = place_in_key(j, new_bits, len(codes))
        out[:, word] |= codes[j].astype(np.uint64)[numbers] << shift
    return out
