"""Signs of texts that become others of their class: digits, small letters and capital ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Counts
from tarnkappe.kernels import helper, kernel

Words = NDArray[np.uint32]


@helper
def _first(sign: Any) -> Any:
    """The first sign of the class that a sign belongs to; 0 if it belongs to none."""
    if 48 <= sign <= 57:
        return 48
    if 65 <= sign <= 90:
        return 65
    return 97 if 97 <= sign <= 122 else 0


@helper
def _size(first: Any) -> Any:
    """How many signs a class has."""
    return 10 if first == 48 else 26


@helper
def _drawn(words: Words, i: int, at: int, size: Any) -> Any:
    """A number below `size` for place `at` of text `i`: one of four words of 64 bits, spread over all of its bits."""
    j = 2 * (at % 4)
    word = (np.uint64(words[i, j]) << np.uint64(32)) | np.uint64(words[i, j + 1])
    word += np.uint64(at) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((word ^ (word >> np.uint64(31))) % np.uint64(size))


@kernel
def messages(signs: Bytes, ends: Counts, number: int, out: Bytes) -> None:
    """What a round of the network hashes: the form of a text, the half of its signs that stay, and the round."""
    write = 0
    for i in range(ends.size):
        place = 0
        for p in range(ends[i - 1] if i else 0, ends[i]):
            first = _first(signs[p])
            changes = first != 0 and place % 2 == number % 2
            out[write] = np.uint8(first) if changes else signs[p]
            place += first != 0
            write += 1
        out[write] = np.uint8(1 + number)  # no sign of a text that is typed
        write += 1


@kernel
def add_words(signs: Bytes, ends: Counts, half: int, words: Words, sign: int) -> None:
    """Move the other half of the signs of every text along their classes, in place."""
    for i in range(ends.size):
        place = 0
        for p in range(ends[i - 1] if i else 0, ends[i]):
            first = _first(signs[p])
            if first == 0:
                continue
            if place % 2 == half:
                size = _size(first)
                moved = np.int64(signs[p]) - first + sign * _drawn(words, i, place, size)
                signs[p] = np.uint8(first + (moved + size) % size)
            place += 1


@kernel
def draw_words(signs: Bytes, ends: Counts, words: Words) -> None:
    """Draw the signs of every text anew within their classes, in place."""
    for i in range(ends.size):
        begin = ends[i - 1] if i else 0
        for p in range(begin, ends[i]):
            first = _first(signs[p])
            if first != 0:
                signs[p] = np.uint8(first + _drawn(words, i, p - begin, _size(first)))


@kernel
def write_tokens(words: Words, letters: Bytes, out: NDArray[np.uint8]) -> None:
    """Eight letters for every 64 bits of the words, five bits each from the lowest on; there are 32 letters."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1] // 8):
            word = (np.uint64(words[i, 2 * j]) << np.uint64(32)) | np.uint64(words[i, 2 * j + 1])
            for k in range(8):
                out[i, 8 * j + k] = letters[word & np.uint64(31)]
                word >>= np.uint64(5)
