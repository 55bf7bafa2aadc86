"""Read a plain CSV file, one without quoted fields, in parts that threads take one by one.

Each thread has a reader of its own, which numbers the texts it meets; what comes of the numbers is up to others.
"""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from tarnkappe.io.cells import Step
from tarnkappe.kernels.io.csvfields import (
    PADDING,
    SPARE_ENDS,
    Texts,
    after_line_end,
    are_at_ends,
    field_ends,
    move_texts,
    number_fields,
)
from tarnkappe.threads import each_in_threads

#: Bytes that are read at a time, and how many such parts are read before progress is told.
PART = 2 << 20
_TOLD = 32

#: Bytes read beyond a part to reach the end of its last record; more if that is not enough.
_BEYOND = 64 << 10

#: A longer record is left to Polars.
_LONGEST = 1 << 30

#: Room for texts (a power of two) in the beginning.
_TEXTS = 1 << 12

#: More threads would take more memory: each numbers texts for itself.
_MOST_THREADS = 4

_MOST_BITS = 30

Words = NDArray[np.uint64]


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
    #: How many records begin in each part, once all parts were read.
    records: list[int] = field(default_factory=list, compare=False)


class OddError(Exception):
    """Something that is not as it should be in a plain CSV file; what, Polars will find out."""


class PartReader:
    """What one thread reads: numbers, from 1 on, for the texts in the wanted fields of records, packed into keys."""

    def __init__(self, file: PlainCsv, wanted: Sequence[int], empty_is_missing: bool) -> None:
        """Open the file; no text is known yet."""
        self._file = file
        self._wanted = np.array(wanted, np.int64)
        self._empty_is_missing = empty_is_missing
        self._stream = file.path.open("rb", buffering=0)
        self._make_room_to_read(PART + _BEYOND)
        self.bits = _TEXTS.bit_length() - 1
        self._texts = _no_texts(self.bits)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    @property
    def width(self) -> int:
        """Words of a key."""
        return key_words(len(self._wanted), self.bits)

    @property
    def n_texts(self) -> int:
        """How many texts are known."""
        return int(self._texts.size[0])

    @property
    def first(self) -> NDArray[np.int64]:
        """Where in the file each text stands first."""
        return self._texts.first[1 : self.n_texts + 1]

    def texts(self) -> pl.Series:
        """The texts, in the order of their numbers."""
        texts, n = self._texts, self.n_texts
        values = pa.LargeStringArray.from_buffers(n, pa.py_buffer(texts.end[: n + 1]), pa.py_buffer(texts.text))
        try:
            values.validate(full=True)
        except pa.ArrowInvalid:
            raise OddError from None
        return pl.Series(values, dtype=pl.String)

    def read(self, begin: int) -> int:
        """Read the records that begin in the part that begins at this offset; returns how many there are."""
        file, fields = self._file, self._file.fields
        self._offset, self._start, stop = self._read(begin)
        self._n = field_ends(self._text, self._start, stop, file.delimiter, file.eol, self._ends)
        records, rest = divmod(self._n, fields)
        if rest or not are_at_ends(self._text, self._ends[: self._n], fields, file.eol):
            raise OddError
        return records

    def number(self, done: int, keys: Words) -> int:
        """Make keys of the records that were read, from one on; returns how many before there was no room for a text.

        Then `make_room` is to be called, and the rest can be done.
        """
        fields = self._file.fields
        return number_fields(
            self._text,
            self._words,
            int(self._ends[done * fields - 1]) + 1 if done else self._start,
            self._ends[done * fields : self._n],
            fields,
            self._wanted,
            self._empty_is_missing,
            self._offset,
            self._texts,
            self.bits,
            keys,
        )

    def make_room(self) -> None:
        """Room for more texts, or for more of their bytes; more texts need numbers of more `bits`."""
        old, n = self._texts, self.n_texts
        if n + 1 < len(old.end):
            words = np.zeros(2 * len(old.words), np.uint64)
            words[: len(old.words)] = old.words
            self._texts = old._replace(text=words.view(np.uint8), words=words)
            return
        self.bits += 2
        if self.bits > _MOST_BITS:
            raise OddError
        self._texts = _no_texts(self.bits)._replace(text=old.text, words=old.words, size=old.size)
        for new, given in zip(self._texts[3:6], old[3:6], strict=True):
            new[: n + 1] = given[: n + 1]
        move_texts(old.slots, self._texts.hashed, self._texts.slots)

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
            raise OddError
        if size + PADDING > len(self._text):
            self._make_room_to_read(size)
        target = self._text.data
        self._stream.seek(offset)
        done = 0
        while done < size:
            now = self._stream.readinto(target[done:size])
            if not now:
                raise OddError
            done += now
        return size

    def _make_room_to_read(self, size: int) -> None:
        self._words = np.zeros((size + PADDING + 8) // 8, np.uint64)
        self._text = self._words.view(np.uint8)
        self._ends = np.empty(len(self._text) + SPARE_ENDS, np.int32)


R = TypeVar("R", bound=PartReader)
Result = TypeVar("Result")


def readers_of(make: Callable[[int], R]) -> list[R]:
    """A reader for every thread."""
    return [make(i) for i in range(min(os.cpu_count() or 1, _MOST_THREADS))]


def over_parts(
    file: PlainCsv,
    readers: Sequence[R],
    task: Callable[[R, int], tuple[int, Result]],
    step: Step | None = None,
    most: int | None = None,
) -> Iterator[Result]:
    """Let readers do something with every part; their results, in the order of the parts.

    A task is told where its part begins, and returns how many records begin there, too. All records must be found. No
    more than `most` results wait to be taken.
    """
    free: queue.SimpleQueue[R] = queue.SimpleQueue()
    for reader in readers:
        free.put(reader)

    def work(begin: int) -> tuple[int, Result]:
        reader = free.get()
        try:
            return task(reader, begin)
        finally:
            free.put(reader)

    done, counts = 0, []
    for i, (records, result) in enumerate(each_in_threads(work, range(file.begin, file.end, PART), most)):
        yield result
        counts.append(records)
        done += records
        if step is not None and (i % _TOLD == 0 or done == file.n_rows):
            step(min(done, file.n_rows), file.n_rows)
    if done != file.n_rows:
        raise OddError
    file.records[:] = counts


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


def place_in_key(j: int, bits: int, columns: int) -> tuple[int, np.uint64]:
    """In which word of a key the number in column `j` is, and how far from its end."""
    word, last = j // (64 // bits), min((j // (64 // bits) + 1) * (64 // bits), columns) - 1
    return word, np.uint64(bits * (last - j))
