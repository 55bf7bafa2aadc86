"""Sorting and counting of packed integer keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.kernels import kernel
from tarnkappe.kernels.io.bytemasks import how_many

_RADIX_BITS = 11

#: Marks that are kept in one word.
_WORD = 64

#: Bits of a key, which is not negative as a signed number either.
_KEY_BITS = 63

#: Runs that are shorter are counted by their length; there are few of the others.
_SHORT = 1 << 16


def radix_argsort(keys: NDArray[np.uint64], bits: int) -> NDArray[np.int32]:
    """The stable order of `keys`, looking only at their lowest `bits` bits; O(n) per eleven bits."""
    order, other = np.arange(len(keys), dtype=np.int32), np.empty(len(keys), np.int32)
    heads = np.empty((1 << _RADIX_BITS) + 1, np.int64)
    for shift in range(0, bits, _RADIX_BITS):
        _sort_by_digit(keys, shift, order, other, heads)
        order, other = other, order
    return order


@kernel
def _sort_by_digit(
    keys: NDArray[np.uint64], shift: int, order: NDArray[np.int32], out: NDArray[np.int32], heads: NDArray[np.int64]
) -> None:
    """Sort positions of keys by eleven of their bits from `shift` on; `heads` is room for a number per digit."""
    step, mask = np.uint64(shift), np.uint64(heads.size - 2)
    for d in range(heads.size):
        heads[d] = 0
    for i in range(keys.size):
        heads[np.int64((keys[i] >> step) & mask) + 1] += 1
    for d in range(1, heads.size):
        heads[d] += heads[d - 1]
    for i in range(keys.size):
        at = order[i]
        digit = (keys[at] >> step) & mask
        out[heads[digit]] = at
        heads[digit] += 1


def dense_ranks(keys: NDArray[np.uint64], order: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Number equal keys 0, 1, … in sorted order: rank per key, and one representative position per rank."""
    rank, first = np.empty(len(keys), np.int32), np.empty(len(keys), np.int32)
    return rank, first[: _number(keys, order, rank, first)].copy()


@kernel
def _number(
    keys: NDArray[np.uint64], order: NDArray[np.int32], rank: NDArray[np.int32], first: NDArray[np.int32]
) -> int:
    """Fill in what `dense_ranks` returns; returns how many different keys there are."""
    groups = 0
    for i in range(keys.size):
        at = order[i]
        if i == 0 or keys[at] != keys[order[i - 1]]:
            first[groups] = at
            groups += 1
        rank[at] = groups - 1
    return groups


def _alone(task: Callable[[int, int], None], n: int) -> None:
    """All items at once."""
    task(0, n)


def ranks_by_place(
    columns: Sequence[NDArray[Any]],
    sizes: Sequence[int],
    share: Callable[[Callable[[int, int], None], int], None] = _alone,
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
    at: NDArray[np.int32],
    into: Sequence[tuple[Sequence[int], NDArray[np.int32]]],
    share: Callable[[Callable[[int, int], None], int], None] = _alone,
) -> None:
    """Read the columns of the packed keys that stand at these places, one row of codes for each, the last ones first.

    Arrays take them in turn, a column for each number of bits. `share` may share rows out to threads.
    """

    def read(begin: int, end: int) -> None:
        rest = keys[at[begin:end]]
        for bits, out in into:
            for j in range(len(bits) - 1, -1, -1):
                out[begin:end, j] = rest & np.uint64((1 << int(bits[j])) - 1)
                rest >>= np.uint64(bits[j])

    share(read, len(at))


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
            rank, first = dense_ranks(keys, radix_argsort(keys, width))
            keys, width, readable = rank.astype(np.uint64), bits_of([len(first)])[0], False
        pack(keys, codes, bits)
        width += bits
    return keys, width, readable
