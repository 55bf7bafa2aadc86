"""Sorting and counting of packed integer keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import read_only
from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import how_many

_RADIX_BITS = 11

#: So many keys are sorted at once; of more, those with the same highest bits.
_BUCKET = 1 << 12

#: Marks that are kept in one word.
_WORD = 64

#: Bits of a key, which is not negative as a signed number either.
_KEY_BITS = 63

#: Runs that are shorter are counted by their length; there are few of the others.
_SHORT = 1 << 16


def _alone(task: Callable[[int, int], None], work: NDArray[np.int64]) -> None:
    """All items at once."""
    task(0, len(work) - 1)


#: Shares items out to threads by their work, which is cumulated: item ``i`` costs ``work[i + 1] - work[i]``.
Share = Callable[[Callable[[int, int], None], NDArray[np.int64]], None]


def sorted_keys(
    keys: NDArray[np.uint64], bits: int, share: Share = _alone
) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The keys in order, and the places where they were; equal ones keep their order. The array given is used up.

    Only their lowest `bits` bits are looked at, and all others must be 0; O(n) per eleven bits. Many keys are dealt to
    buckets by their highest bits first, since what is sorted then does not leave the processor's cache.

    >>> keys, order = sorted_keys(np.array([5, 3, 5], np.uint64), 3)
    >>> keys.tolist(), order.tolist()
    ([3, 5, 5], [1, 0, 2])
    """
    n = len(keys)
    now = keys, np.arange(n, dtype=np.int32)
    room = np.empty(n, np.uint64), np.empty(n, np.int32)
    starts = np.array([0, n], np.int64)
    top = min((n // _BUCKET).bit_length(), _RADIX_BITS, bits)
    if top:
        heads = np.empty((1 << top) + 1, np.int64)
        _sort_runs(*now, *room, starts, bits - top, bits, top, heads)
        starts = np.append(0, heads[:-1])
        now, room = room, now
    rest = bits - top

    def sort(first: int, after: int) -> None:
        heads = np.empty((1 << _RADIX_BITS) + 1, np.int64)
        _sort_runs(*now, *room, starts[first : after + 1], 0, rest, _RADIX_BITS, heads)

    share(sort, starts)
    return room if -(-rest // _RADIX_BITS) % 2 else now


@kernel
def _sort_runs(
    keys: NDArray[np.uint64],
    order: NDArray[np.int32],
    room_keys: NDArray[np.uint64],
    room_order: NDArray[np.int32],
    starts: NDArray[np.int64],
    low: int,
    high: int,
    step: int,
    heads: NDArray[np.int64],
) -> None:
    """Sort each run of keys by their bits from `low` to `high`, so many at a time.

    After an odd number of times they stand in the other arrays. The heads then say where keys with each number end;
    there is one more than there are such numbers.
    """
    mask = np.uint64((1 << step) - 1)
    for run in range(starts.size - 1):
        begin, end = starts[run], starts[run + 1]
        if begin == end:
            continue
        one, one_order, other, other_order = keys, order, room_keys, room_order
        for shift in range(low, high, step):
            by = np.uint64(shift)
            heads[:] = 0
            for i in range(begin, end):
                heads[np.int64((one[i] >> by) & mask) + 1] += 1
            heads[0] = begin
            for d in range(1, heads.size):
                heads[d] += heads[d - 1]
            for i in range(begin, end):
                digit = (one[i] >> by) & mask
                other[heads[digit]] = one[i]
                other_order[heads[digit]] = one_order[i]
                heads[digit] += 1
            one, one_order, other, other_order = other, other_order, one, one_order


def dense_ranks(
    keys: NDArray[np.uint64], bits: int, share: Share = _alone
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64]]:
    """Number equal keys 0, 1, … in their order: the rank of every key, the first place of every rank, and its key.

    The array given is used up; see `sorted_keys`.
    """
    keys, order = sorted_keys(keys, bits, share)
    ends = np.ones(len(keys) + 1, np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=ends[1:-1])
    starts = np.flatnonzero(ends)
    rank = np.empty(len(keys), np.int32)
    share(lambda first, after: _number(starts, order, first, after, rank), starts)
    return rank, order[starts[:-1]], keys[starts[:-1]]


@kernel
def _number(
    starts: NDArray[np.int64], order: NDArray[np.int32], first: int, after: int, rank: NDArray[np.int32]
) -> None:
    """Write the number of each of these runs wherever its keys were."""
    for run in range(first, after):
        for i in range(starts[run], starts[run + 1]):
            rank[order[i]] = run


def _at_once(task: Callable[[int, int], None], n: int) -> None:
    """All items at once."""
    task(0, n)


def ranks_by_place(
    columns: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    share: Callable[[Callable[[int, int], None], int], None] = _at_once,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number the distinct rows of columns of codes in lexicographic order: rank per row, and the codes of each rank.

    All rows that there could be are listed, so nothing is sorted; there must be fewer than 2**31. `share` may share
    rows out to threads.

    >>> rank, codes = ranks_by_place([np.array([1, 0, 1]), np.array([4, 5, 4])], [2, 6])
    >>> rank.tolist(), codes.tolist()
    ([1, 0, 1], [[0, 5], [1, 4]])
    """
    place = np.empty(len(columns[0]), np.int32)
    occurs = np.zeros(-(-prod(sizes) // _WORD) * _WORD, np.bool_)

    def mark(begin: int, end: int) -> None:
        own = place[begin:end]
        own[:] = columns[0][begin:end]
        for codes, size in zip(columns[1:], sizes[1:], strict=True):
            own *= np.int32(size)
            np.add(own, codes[begin:end], out=own, casting="unsafe")
        _mark(own, occurs)

    share(mark, len(place))
    rest = np.flatnonzero(occurs).astype(np.int32)
    out = np.empty((len(rest), len(sizes)), np.int32)
    for j in range(len(sizes) - 1, -1, -1):
        out[:, j] = rest % sizes[j]
        rest //= sizes[j]
    words = np.packbits(occurs, bitorder="little").view("<u8").astype(np.uint64, copy=False)
    below = np.cumsum(np.bitwise_count(words), dtype=np.int32)
    below -= np.bitwise_count(words)
    share(lambda begin, end: _rank(place[begin:end], words, below), len(place))
    return place, out


@kernel
def _mark(place: NDArray[np.int32], occurs: NDArray[np.bool_]) -> None:
    """Mark which places occur."""
    for i in range(place.size):
        occurs[place[i]] = True


@kernel
def _rank(place: NDArray[np.int32], words: NDArray[np.uint64], below: NDArray[np.int32]) -> None:
    """Put the number of marked places before it in the place of each; those before every word of marks are known."""
    for i in range(place.size):
        at = place[i] >> 6
        before = words[at] & ((np.uint64(1) << np.uint64(place[i] & 63)) - np.uint64(1))
        place[i] = below[at] + np.int32(how_many(before))


def pack(keys: NDArray[np.uint64], codes: NDArray[Any], bits: int) -> None:
    """Append one column of codes below ``2**bits`` to the keys, in place."""
    keys <<= np.uint64(bits)
    np.bitwise_or(keys, codes, out=keys, dtype=np.uint64, casting="unsafe")


def unpack(
    keys: NDArray[np.uint64],
    into: Sequence[tuple[Sequence[int], NDArray[np.int32]]],
    share: Callable[[Callable[[int, int], None], int], None] = _at_once,
) -> None:
    """Read the columns of packed keys, one row of codes for each, the last ones first.

    Arrays take them in turn, a column for each number of bits. `share` may share rows out to threads.
    """
    shifts, below = [], 0
    for bits, _ in into:
        shifts.append(np.cumsum([below, *reversed(bits)])[::-1].astype(np.uint64))
        below += sum(bits)

    def read(begin: int, end: int) -> None:
        for places, (_, out) in zip(shifts, into, strict=True):
            _read(read_only(keys[begin:end]), places, out[begin:end])

    share(read, len(keys))


@kernel
def _read(keys: NDArray[np.uint64], shifts: NDArray[np.uint64], out: NDArray[np.int32]) -> None:
    """Read the bits of each key between the shifts, which descend, into the columns of its row."""
    for i in range(keys.size):
        for j in range(out.shape[1]):
            width = shifts[j] - shifts[j + 1]
            out[i, j] = np.int32((keys[i] >> shifts[j + 1]) & ((np.uint64(1) << width) - np.uint64(1)))


def count_runs(words: NDArray[np.uint64]) -> dict[int, int]:
    """How many different words occur once in a sorted array, how many twice, and so on.

    >>> count_runs(np.array([3, 3, 5, 7, 7], np.uint64))
    {1: 1, 2: 2}
    """
    counted, long = np.zeros(_SHORT, np.int64), np.empty(len(words) // _SHORT + 1, np.int64)
    n_long = _count_runs(words, counted, long)
    out = {int(length): int(counted[length]) for length in np.flatnonzero(counted)}
    for length in np.sort(long[:n_long]).tolist():
        out[length] = out.get(length, 0) + 1
    return out


@kernel
def _count_runs(words: NDArray[np.uint64], counted: NDArray[np.int64], long: NDArray[np.int64]) -> int:
    """Count the lengths of runs, and list those that are long; how many those are."""
    n_long, start = 0, 0
    for i in range(1, words.size + 1):
        if i == words.size or words[i] != words[start]:
            length = i - start
            if length < counted.size:
                counted[length] += 1
            else:
                long[n_long] = length
                n_long += 1
            start = i
    return n_long


def bits_of(sizes: Sequence[int]) -> list[int]:
    """Bits that hold the codes below each size."""
    return [max(size - 1, 0).bit_length() for size in sizes]


def pack_columns(columns: Sequence[NDArray[Any]], sizes: Sequence[int]) -> tuple[NDArray[np.uint64], int, bool]:
    """One integer key per row in lexicographic order, its bits, and whether the codes can be read off it again."""
    keys = np.zeros(len(columns[0]), np.uint64)
    width = 0
    readable = True
    for codes, bits in zip(columns, bits_of(sizes), strict=True):
        if width + bits > _KEY_BITS:
            rank, first, _ = dense_ranks(keys, width)
            keys, width, readable = rank.astype(np.uint64), bits_of([len(first)])[0], False
        pack(keys, codes, bits)
        width += bits
    return keys, width, readable
