"""Puts the lines of a file into random order: in memory while they are few, by way of the disk when they are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.engines.waiting import Waiting
from tarnkappe.io.lines import Lines, Room
from tarnkappe.kernels.engines.dealing import shuffle_within
from tarnkappe.kernels.io.lines import deal_lines, find_lines, weigh_lines
from tarnkappe.threads import each_in_threads

#: Lines that are put in order together: so few that a processor keeps them near.
BUCKET = 1 << 16

#: Buckets that are put in order, or wait to be taken; and those that were taken and may still be in use.
_AHEAD, _TAKEN = 4, 4


@dataclass(frozen=True, eq=False)
class Dealt:
    """Lines that stand bucket by bucket; those of bucket ``i`` between entries ``i`` and ``i + 1``."""

    text: Bytes
    sizes: NDArray[np.uint32]
    at_byte: Counts
    at_line: Counts


class LineShuffle(Waiting):
    """Every line is thrown into a bucket at random, and every bucket is shuffled: all orders are equally likely.

    Lines are copied when they are thrown, and once more when a bucket is written, never from all over the memory.
    Buckets are kept on disk if they would take more than `limit` bytes. `chance` is that of the order of each bucket,
    or that of a part of the lines, by its number: threads may throw parts at the same time.
    """

    def __init__(self, n_lines: int, chance: Callable[..., np.random.Generator], limit: int | None = None) -> None:
        """Prepare for about that many lines."""
        super().__init__(limit)
        self._chance = chance
        self._n_buckets = max(-(-n_lines // BUCKET), 1)
        self._dealt: list[Dealt] = []

    def deal(self, lines: Lines, part: int) -> Dealt:
        """Throw the lines of a part into buckets; they are copied."""
        n = self._n_buckets
        if n == 1:
            bucket = np.zeros(lines.height, np.uint16)
        else:
            bucket = self._chance(part).integers(0, n, lines.height, dtype=np.uint16)
        at_byte, at_line = (np.zeros(n + 1, np.int64) for _ in range(2))
        weigh_lines(bucket, lines.sizes, at_byte[1:], at_line[1:])
        np.cumsum(at_byte, out=at_byte)
        np.cumsum(at_line, out=at_line)
        text, sizes = np.empty(at_byte[-1], np.uint8), np.empty(lines.height, np.uint32)
        deal_lines(lines.begins, lines.sizes, bucket, at_byte.copy(), at_line.copy(), text, sizes)
        return Dealt(text, sizes, at_byte, at_line)

    def add(self, part: Dealt) -> None:
        """Take a part, in the order of their numbers."""
        self._dealt.append(part)
        self._hold(part.text.nbytes + part.sizes.nbytes + part.at_byte.nbytes + part.at_line.nbytes)

    def batches(self) -> Iterator[Lines]:
        """The lines in random order, some at a time; they are gone when a few more were taken."""
        yield from each_in_threads(_in_order, self._drawn(), _AHEAD)

    def _drawn(self) -> Iterator[tuple[Lines, NDArray[np.float64], Room]]:
        """Every bucket, the lots that decide its order, and the room for it."""
        rng, rooms = self._chance(), cycle([Room() for _ in range(_AHEAD + _TAKEN)])
        for bucket in self._buckets():
            yield bucket, rng.random(bucket.height), next(rooms)

    def _buckets(self) -> Iterator[Lines]:
        held = self._lines()
        for i in range(self._n_buckets):
            moved = [Lines.read(place) for place in self._moved(i)]
            yield Lines.joined([*moved, held(i)]) if moved else held(i)

    def _lines(self) -> Callable[[int], Lines]:
        """What finds the lines of a bucket that are in memory."""
        owners = tuple(dealt.text for dealt in self._dealt)
        shape = len(self._dealt), self._n_buckets + 1
        at_byte = np.array([d.at_byte + d.text.ctypes.data for d in self._dealt], np.int64).reshape(shape)
        at_line = np.array([d.at_line for d in self._dealt], np.int64).reshape(shape)
        known = [d.sizes for d in self._dealt]  # alive as long as their addresses are used
        at_size = np.array([sizes.ctypes.data for sizes in known], np.int64)

        def found(bucket: int) -> Lines:
            n = int((at_line[:, bucket + 1] - at_line[:, bucket]).sum())
            begins, sizes = np.empty(n, np.int64), np.empty(n, np.uint32)
            find_lines(at_byte[:, bucket], at_line[:, bucket : bucket + 2], at_size, begins, sizes)
            return Lines(begins, sizes, owners if known else ())

        return found

    def _move(self) -> None:
        held = self._lines()
        for i in range(self._n_buckets):
            held(i).write(self._place(i))
        self._dealt.clear()


def _in_order(bucket: tuple[Lines, NDArray[np.float64], Room]) -> Lines:
    """The lines of a bucket in the order that lots decide, one after another."""
    lines, lots, room = bucket
    order = np.arange(lines.height, dtype=np.int32)
    shuffle_within(order, np.array([0, lines.height]), lots)
    return lines[order].put_into(room)
