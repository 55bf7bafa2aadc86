"""Count the distinct rows of a plain CSV file: one without quoted fields, so that every line is a record.

The file is read in parts that threads take one by one. Each thread numbers the texts it meets and counts the rows of
those numbers for itself; only the distinct rows of all threads are brought together.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from tarnkappe.io.cells import Counted, Step
from tarnkappe.kernels.io.csvfields import (
    PADDING,
    REGIONS,
    SPARE_ENDS,
    Texts,
    after_line_end,
    count_keys,
    counted_keys,
    field_ends,
    gather_keys,
    merge_keys,
    move_texts,
    number_fields,
)
from tarnkappe.threads import each_in_threads, map_threads

#: Bytes that are read at a time, and how many such parts are read before progress is told.
PART = 2 << 20
_TOLD = 32

#: Bytes read beyond a part to reach the end of its last record; more if that is not enough.
_BEYOND = 64 << 10

#: A longer record is left to Polars.
_LONGEST = 1 << 30

#: Keys that wait before they are counted.
_WAITING = 1 << 21

#: Room for texts (a power of two) and slots for keys in the beginning.
_TEXTS = 1 << 12
_SLOTS = 1 << 16

#: More threads would take more memory: each counts for itself.
_MOST_THREADS = 4

_MOST_BITS = 30

_Words = NDArray[np.uint64]


@dataclass(frozen=True)
class PlainCsv:
    """Where the records of a plain CSV file are, and how to read them; lines may end with a return and `eol`."""

    path: Path
    begin: int
    end: int
    delimiter: int
    eol: int
    fields: int
    n_rows: int


class _OddError(Exception):
    """Something that is not as it should be in a plain CSV file; what, Polars will find out."""


def count_plain(
    file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool, step: Step | None = None
) -> Counted | None:
    """Count the distinct rows of the wanted fields; nothing if the file is not as it should be."""
    with ExitStack() as stack:
        try:
            counters = [
                _Counter(file, wanted, empty_is_missing) for _ in range(min(os.cpu_count() or 1, _MOST_THREADS))
            ]
            free: queue.SimpleQueue[_Counter] = queue.SimpleQueue()
            for counter in counters:
                stack.callback(counter.close)
                free.put(counter)

            def count(begin: int) -> int:
                counter = free.get()
                try:
                    return counter.count(begin)
                finally:
                    free.put(counter)

            done = 0
            for i, records in enumerate(each_in_threads(count, range(file.begin, file.end, PART))):
                done += records
                if step is not None and (i % _TOLD == 0 or done == file.n_rows):
                    step(min(done, file.n_rows), file.n_rows)
            return _together(map_threads(_Counter.found, counters)) if done == file.n_rows else None
        except (_OddError, OSError):
            return None


class _Found(NamedTuple):
    """What one thread has counted; keys are made of numbers of texts, from 1 on."""

    texts: pl.Series
    first: NDArray[np.int64]  #: where each text stands first
    used: NDArray[np.bool_]  #: whether a number occurs in a column
    bits: int
    keys: _Words
    counts: _Words


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

    def recoded(f: _Found, place: NDArray[np.uint32]) -> _Words:
        own = np.zeros((len(codes), len(place) + 1), np.int32)
        own[:, 1:] = codes[:, place]
        return recode_keys(f.keys, f.bits, own, bits)

    keys = np.concatenate(map_threads(lambda pair: recoded(*pair), zip(found, places, strict=True)))
    rows, count = merge_keys(keys, np.concatenate([f.counts for f in found]), bits, len(codes))
    return Counted(tuple(texts["text"].filter(mask) for mask in used), rows, count)


class _Counter:
    """What one thread reads and counts."""

    def __init__(self, file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool) -> None:
        self._file = file
        self._wanted = np.array(wanted, np.int64)
        self._empty_is_missing = empty_is_missing
        self._stream = file.path.open("rb", buffering=0)
        self._make_room_to_read(PART + _BEYOND)
        self._bits = _TEXTS.bit_length() - 1
        self._texts = _no_texts(self._bits)
        self._rows = _Rows(self._width, _SLOTS)
        self._make_room_for_keys(0)
        self._waiting = 0

    def close(self) -> None:
        self._stream.close()

    def count(self, begin: int) -> int:
        """Count the records that begin in the part that begins at this offset; returns how many there are."""
        file, fields = self._file, self._file.fields
        offset, start, stop = self._read(begin)
        n = field_ends(self._text, start, stop, file.delimiter, file.eol, self._ends)
        records, rest = divmod(n, fields)
        if rest or (self._text[self._ends[fields - 1 : n : fields]] != file.eol).any():
            raise _OddError
        if self._waiting + records > len(self._keys):
            self._count_waiting()
        if records > len(self._keys):
            self._make_room_for_keys(records)
        done = 0
        while done < records:
            start = int(self._ends[done * fields - 1]) + 1 if done else start
            now = number_fields(
                self._text,
                self._words,
                start,
                self._ends[done * fields : n],
                fields,
                self._wanted,
                self._empty_is_missing,
                offset,
                self._texts,
                self._bits,
                self._keys[self._waiting :],
            )
            done += now
            self._waiting += now
            if done < records:
                self._make_room_for_texts(records - done)
        return records

    def found(self) -> _Found:
        """All that was counted."""
        self._count_waiting()
        keys, counts = self._rows.contents()
        texts, n = self._texts, int(self._texts.size[0])
        values = pa.LargeStringArray.from_buffers(n, pa.py_buffer(texts.end[: n + 1]), pa.py_buffer(texts.text))
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:
            raise _OddError from None
        used = np.zeros((len(self._wanted), n + 1), np.bool_)
        mark_numbers(keys, self._bits, used)
        series = pl.Series(values, dtype=pl.String)
        return _Found(series, texts.first[1 : n + 1], used, self._bits, keys, counts)

    @property
    def _width(self) -> int:
        """Words of a key."""
        return key_words(len(self._wanted), self._bits)

    def _read(self, begin: int) -> tuple[int, int, int]:
        """Read the records that begin in a part; returns the offset of what was read, and their begin and end in it."""
        file = self._file
        end = min(begin + PART, file.end)
        offset = begin if begin == file.begin else begin - 1  # a record begins here if the byte before ends a line
        size = self._fill(offset, end - offset + _BEYOND)
        start = 0 if begin == file.begin else after_line_end(self._text, 0, end - 1 - offset, file.eol)
        if start < 0:
            return offset, 0, 0
        while True:
            if end < file.end:
                stop = after_line_end(self._text, end - 1 - offset, size, file.eol)
                if stop >= 0:
                    return offset, start, stop
            if offset + size == file.end:
                if self._text[size - 1] != file.eol:
                    self._text[size] = file.eol  # there is room for it
                    size += 1
                return offset, start, size
            size = self._fill(offset, 2 * size)

    def _fill(self, offset: int, size: int) -> int:
        """Read from an offset on; returns how much, which is less only at the end of the file."""
        size = min(size, self._file.end - offset)
        if size > _LONGEST:
            raise _OddError
        if size + PADDING > len(self._text):
            self._make_room_to_read(size)
        target = self._text.data
        self._stream.seek(offset)
        done = 0
        while done < size:
            now = self._stream.readinto(target[done:size])
            if not now:
                raise _OddError
            done += now
        return size

    def _make_room_to_read(self, size: int) -> None:
        self._words = np.zeros((size + PADDING + 8) // 8, np.uint64)
        self._text = self._words.view(np.uint8)
        self._ends = np.empty(len(self._text) + SPARE_ENDS, np.int32)

    def _count_waiting(self) -> None:
        """Count the keys that wait."""
        keys = self._keys[: self._waiting]
        gathered = self._gathered[: self._waiting]
        gather_keys(keys, gathered)
        self._rows.add(gathered, np.empty(0, np.uint64))
        self._waiting = 0

    def _make_room_for_texts(self, records: int) -> None:
        """Room for more texts, or for more of their bytes; more texts need larger numbers, so keys are made anew."""
        old, n = self._texts, int(self._texts.size[0])
        if n + 1 < len(old.end):
            words = np.zeros(2 * len(old.words), np.uint64)
            words[: len(old.words)] = old.words
            self._texts = old._replace(text=words.view(np.uint8), words=words)
            return
        self._count_waiting()
        keys, counts = self._rows.contents()
        unchanged = np.tile(np.arange(n + 1, dtype=np.int32), (len(self._wanted), 1))
        keys = recode_keys(keys, self._bits, unchanged, self._bits + 2)
        self._bits += 2
        if self._bits > _MOST_BITS:
            raise _OddError
        self._texts = _no_texts(self._bits)._replace(text=old.text, words=old.words, size=old.size)
        for new, given in zip(self._texts[3:6], old[3:6], strict=True):
            new[: n + 1] = given[: n + 1]
        move_texts(old.slots, self._texts.hashed, self._texts.slots)
        self._rows = _Rows(self._width, _SLOTS)
        self._rows.add(keys, counts)
        self._make_room_for_keys(records)

    def _make_room_for_keys(self, records: int) -> None:
        self._keys = np.empty((max(_WAITING, records), self._width), np.uint64)
        self._gathered = np.empty_like(self._keys)


class _Rows:
    """Distinct keys and how often each occurs."""

    def __init__(self, width: int, slots: int) -> None:
        self._table = np.zeros((slots, width + 1), np.uint64)
        self._sizes = np.zeros(REGIONS, np.int64)

    def add(self, keys: _Words, counts: _Words) -> None:
        """Count keys; without counts each of them once."""
        done = count_keys(keys, counts, 0, self._table, self._sizes)
        while done < len(keys):
            larger = _Rows(keys.shape[1], 4 * len(self._table))
            larger.add(*self.contents())
            self._table, self._sizes = larger._table, larger._sizes
            done = count_keys(keys, counts, done, self._table, self._sizes)

    def contents(self) -> tuple[_Words, _Words]:
        """The keys and their counts."""
        return counted_keys(self._table)


def _no_texts(bits: int) -> Texts:
    """Room for as many texts as numbers of so many bits can tell apart, and for some bytes each."""
    n = 1 << bits
    words = np.zeros(2 * n + PADDING // 8, np.uint64)
    return Texts(
        slots=np.zeros((2 * n, 2), np.uint64),
        text=words.view(np.uint8),
        words=words,
        end=np.zeros(n, np.int64),
        hashed=np.zeros(n, np.uint64),
        first=np.zeros(n, np.int64),
        size=np.zeros(1, np.int64),
    )


def key_words(columns: int, bits: int) -> int:
    """Words of a key of so many numbers."""
    return -(-columns // (64 // bits))


def _place(j: int, bits: int, columns: int) -> tuple[int, np.uint64]:
    """In which word of a key the number in column `j` is, and how far from its end."""
    word, last = j // (64 // bits), min((j // (64 // bits) + 1) * (64 // bits), columns) - 1
    return word, np.uint64(bits * (last - j))


def _numbers(keys: _Words, bits: int, columns: int) -> Iterator[_Words]:
    """The numbers in every column of keys."""
    for j in range(columns):
        word, shift = _place(j, bits, columns)
        yield (keys[:, word] >> shift) & np.uint64((1 << bits) - 1)


def mark_numbers(keys: _Words, bits: int, used: NDArray[np.bool_]) -> None:
    """Mark which numbers occur in each column of keys that `number_fields` made."""
    for j, numbers in enumerate(_numbers(keys, bits, len(used))):
        used[j, numbers] = True


def recode_keys(keys: _Words, bits: int, codes: NDArray[np.int32], new_bits: int) -> _Words:
    """Keys with code ``codes[j, number]`` in place of each number in column ``j``, each of so many bits."""
    out = np.zeros((len(keys), key_words(len(codes), new_bits)), np.uint64)
    for j, numbers in enumerate(_numbers(keys, bits, len(codes))):
        word, shift = _place(j, new_bits, len(codes))
        out[:, word] |= codes[j].astype(np.uint64)[numbers] << shift
    return out
