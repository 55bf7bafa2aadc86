"""Number the texts in some fields of CSV records, and count the distinct rows of those numbers.

The records have no quoted fields, so every delimiter and every line end is the end of a field. `Texts` gives each
different text a number from 1 on, whatever column it stands in. The numbers of a row are packed into a key, and
a table of keys counts how often each occurs. Both are hash tables with free slots: a kernel that finds one full says
how far it came, its caller makes room, and it goes on from there.

Texts are hashed and compared eight bytes at a time, which needs a little-endian machine. Helpers take no arrays:
numba would count references to them for every field, which takes longer than the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes, Codes, Counts
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.bytemasks import WIDTH, how_many, where_byte, zeros_below

Words = NDArray[np.uint64]

#: Bytes that must follow the last text in an array, because so many at a time are looked at.
PADDING = WIDTH

#: How much longer than the number of ends the array must be in which `field_ends` writes them down.
SPARE_ENDS = 64

#: A table of keys is made of so many regions, one for each first byte of a hash.
REGIONS = 256

_CR = 13

_RADIX_BITS = 11

# Everything is uint64, because numba turns a mix of uint64 and int64 into float64.
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO, _ONE, _SEVEN, _EIGHT = (np.uint64(i) for i in (0, 1, 7, 8))
_S3, _S8, _S32, _S56, _S63, _S64 = (np.uint64(s) for s in (3, 8, 32, 56, 63, 64))
_BYTE = np.uint64(255)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_STIR = np.uint64(0xD6E8FEB86659FD93)


class Texts(NamedTuple):
    """Different texts and the hash table that finds them; text ``i`` (from 1) is ``text[end[i - 1] : end[i]]``.

    There may be as many texts as `end` has room for; there must be more slots, a power of two.
    """

    slots: Words  #: per slot the first eight bytes, and number * 256 + min(length, 255), which is 0 if it is empty
    text: Bytes  #: the texts one after the other, and at least `PADDING` more
    words: Words  #: the same memory, eight bytes at a time
    end: Counts  #: where each text ends; the first entry is 0
    hashed: Words  #: the hash of each
    first: Counts  #: where in the file each stands first
    size: Counts  #: how many there are, as an array of one


@helper
def _joined(low: np.uint64, high: np.uint64, shift: np.uint64) -> np.uint64:
    """The eight bytes that begin `shift` bits after the beginning of one word and end in the next."""
    return (low >> shift) | ((high << _ONE) << (_S63 - shift))


@helper
def _only(length: np.uint64) -> np.uint64:
    """All bits of the first `length` bytes of eight."""
    return _ALL if length >= _EIGHT else (_ONE << (length << _S3)) - _ONE


@helper
def _stirred(hashed: np.uint64) -> np.uint64:
    return (hashed ^ (hashed >> _S32)) * _STIR


@kernel
def after_line_end(text: Bytes, begin: int, end: int, eol: int) -> int:
    """The offset just after the first line end from `begin` on; -1 if there is none before `end`."""
    for i in range(begin, end):
        if text[i] == eol:
            return i + 1
    return -1


@kernel
def field_ends(text: Bytes, begin: int, end: int, delimiter: int, eol: int, out: Codes) -> int:
    """Write down the offsets of all delimiters and line ends between `begin` and `end`; returns how many there are.

    At least `PADDING` bytes must follow the end.
    """
    address = np.int64(text.ctypes.data)
    n = 0
    for place in range(begin, end, WIDTH):
        bits: np.uint64 = where_byte(address + place, np.uint8(delimiter)) | where_byte(address + place, np.uint8(eol))
        if end - place < WIDTH:
            bits &= (_ONE << np.uint64(end - place)) - _ONE
        at = n
        n += np.int64(how_many(bits))
        while bits:
            # Eight at a time without asking whether there are so many: what is too much is overwritten.
            for i in range(8):
                out[at + i] = place + np.int64(zeros_below(bits))
                bits &= bits - _ONE
            at += 8
    return n


@kernel
def are_at_ends(text: Bytes, ends: Codes, fields: int, eol: int) -> bool:
    """Whether every record ends with a line end, if each has so many fields."""
    wrong = 0
    for k in range(fields - 1, ends.size, fields):
        wrong += text[ends[k]] != eol
    return wrong == 0


@kernel
def number_fields(
    text: Bytes,
    words: Words,
    begin: int,
    ends: Codes,
    fields: int,
    wanted: Counts,
    empty_is_missing: bool,
    offset: int,
    known: Texts,
    bits: int,
    keys: Words,
) -> int:
    """Pack the numbers of the texts in the wanted fields of each record into a key of one or more words.

    The first record begins at `begin`, which is byte ``offset + begin`` of the file; `ends` says where the fields of
    all records end. `words` is the memory of `text`. A number takes `bits` bits, 0 stands for a missing text, and
    a word holds as many numbers as fit. Returns how many records were done before there was no room for a new text.
    """
    slots, known_text, known_words, known_end, hashes, firsts, size = known
    per_word = 64 // bits
    shift = np.uint64(bits)
    last = np.uint64(slots.shape[0] - 1)
    n = size[0]
    records = ends.size // fields
    for r in range(records):
        before = r * fields - 1
        key = _ZERO
        word, room = 0, per_word
        for j in range(wanted.size):
            if room == 0:
                keys[r, word] = key
                key = _ZERO
                word, room = word + 1, per_word
            room -= 1
            key <<= shift
            k = before + wanted[j]
            start = np.int64(ends[k]) + 1 if k >= 0 else begin
            end = np.int64(ends[k + 1])
            if end > start and text[end - 1] == _CR:  # not only before a line end: Polars does so with every field
                end -= 1
            if start == end and empty_is_missing:
                continue

            length = np.uint64(end - start)
            n_words = (length + _SEVEN) >> _S3
            at, turn = np.uint64(start) >> _S3, (np.uint64(start) & _SEVEN) << _S3
            head = _joined(words[at], words[at + _ONE], turn) & _only(length)
            hashed = (head ^ length) * _MIX
            for i in range(_ONE, n_words):
                piece = _joined(words[at + i], words[at + i + _ONE], turn) & _only(length - (i << _S3))
                hashed = (_stirred(hashed) ^ piece) * _MIX
            hashed = _stirred(hashed)

            brief = min(length, _BYTE)
            slot = (hashed >> _S32) & last
            while True:
                entry = slots[slot, 1]
                if entry == _ZERO:
                    break
                if slots[slot, 0] == head and (entry & _BYTE) == brief:
                    if length <= _EIGHT:
                        break
                    number = entry >> _S8
                    there = np.uint64(known_end[number - _ONE])
                    if np.uint64(known_end[number]) - there == length:
                        other, other_turn = there >> _S3, (there & _SEVEN) << _S3
                        different = _ZERO
                        for i in range(_ONE, n_words):
                            piece = _joined(words[at + i], words[at + i + _ONE], turn)
                            piece ^= _joined(known_words[other + i], known_words[other + i + _ONE], other_turn)
                            different |= piece & _only(length - (i << _S3))
                        if different == _ZERO:
                            break
                slot = (slot + _ONE) & last

            if entry == _ZERO:
                place = known_end[n]
                if n + 1 >= known_end.size or place + (end - start) + PADDING > known_text.size:
                    size[0] = n
                    return r
                for i in range(end - start):
                    known_text[place + i] = text[start + i]
                n += 1
                known_end[n] = place + (end - start)
                hashes[n] = hashed
                firsts[n] = offset + start
                entry = (np.uint64(n) << _S8) | brief
                slots[slot, 0] = head
                slots[slot, 1] = entry
            key |= entry >> _S8
        keys[r, word] = key
    size[0] = n
    return records


@kernel
def move_texts(old: Words, hashed: Words, slots: Words) -> None:
    """Fill an empty hash table of texts with the entries of a smaller one."""
    last = np.uint64(slots.shape[0] - 1)
    for i in range(old.shape[0]):
        entry = old[i, 1]
        if entry == _ZERO:
            continue
        slot = (hashed[entry >> _S8] >> _S32) & last
        while slots[slot, 1] != _ZERO:
            slot = (slot + _ONE) & last
        slots[slot, 0] = old[i, 0]
        slots[slot, 1] = entry


@helper
def _key_hash(keys: Words, i: int, width: int) -> Any:
    hashed = _ZERO
    for w in range(width):
        hashed = (hashed ^ keys[i, w]) * _MIX
        hashed ^= hashed >> _S32
    return hashed * _STIR


def gather_keys(keys: Words, out: Words) -> None:
    """Put keys that belong in the same region of a table side by side."""
    _gather_keys(keys, out, np.zeros(REGIONS + 1, np.int64))


@kernel
def _gather_keys(keys: Words, out: Words, heads: Counts) -> None:
    """Do what `gather_keys` does; `heads` are 0."""
    n, width = keys.shape
    for i in range(n):
        heads[(_key_hash(keys, i, width) >> _S56) + _ONE] += 1
    for i in range(REGIONS):
        heads[i + 1] += heads[i]
    for i in range(n):
        region = _key_hash(keys, i, width) >> _S56
        at = heads[region]
        heads[region] = at + 1
        for w in range(width):
            out[at, w] = keys[i, w]


@kernel
def count_keys(keys: Words, counts: Words, begin: int, table: Words, sizes: Counts) -> int:
    """Count keys from `begin` on in a table whose columns are the words of a key and, last, how often it occurs.

    Key ``i`` counts ``counts[i]`` times, once if there are no counts. The table has at least ``8 * REGIONS`` slots,
    a power of two, and `sizes` is how many keys each of its regions holds. Returns the first key that was not
    counted, because its region has too little room; it would not be enough to look at the table as a whole, because
    keys may come region by region.
    """
    n, width = keys.shape
    slots = table.shape[0]
    last = np.uint64(slots - 1)
    shift = _S64
    while slots > 1:
        shift -= _ONE
        slots >>= 1
    limit = table.shape[0] // REGIONS // 8 * 5
    for i in range(begin, n):
        hashed = _key_hash(keys, i, width)
        slot = hashed >> shift
        while True:
            count = table[slot, width]
            same = True
            for w in range(width):
                same &= table[slot, w] == keys[i, w]
            if same or count == _ZERO:
                break
            slot = (slot + _ONE) & last
        if count == _ZERO:
            region = hashed >> _S56
            if sizes[region] >= limit:
                return int(i)
            sizes[region] += 1
            for w in range(width):
                table[slot, w] = keys[i, w]
        table[slot, width] = count + (counts[i] if counts.size else _ONE)
    return int(n)


def counted_keys(table: Words) -> tuple[Words, Words]:
    """The keys in a table of keys, and their counts."""
    held = table.take(np.flatnonzero(table[:, -1]), axis=0)
    return np.ascontiguousarray(held[:, :-1]), np.ascontiguousarray(held[:, -1])


@kernel
def merge_keys(keys: Words, counts: Words, bits: int, columns: int) -> tuple[Codes, Counts]:
    """The distinct rows of codes in the keys in lexicographic order, and the sums of their counts; keys get lost."""
    n, width = keys.shape
    per_word = 64 // bits
    other_keys, other_counts = np.empty_like(keys), np.empty_like(counts)
    digits = 1 << _RADIX_BITS
    mask = np.uint64(digits - 1)
    for w in range(width - 1, -1, -1):
        for shift in range(0, bits * min(per_word, columns - w * per_word), _RADIX_BITS):
            step = np.uint64(shift)
            heads = np.zeros(digits + 1, np.int64)
            for i in range(n):
                heads[((keys[i, w] >> step) & mask) + _ONE] += 1
            for d in range(digits):
                heads[d + 1] += heads[d]
            for i in range(n):
                digit = (keys[i, w] >> step) & mask
                at = heads[digit]
                heads[digit] = at + 1
                for v in range(width):
                    other_keys[at, v] = keys[i, v]
                other_counts[at] = counts[i]
            keys, other_keys = other_keys, keys
            counts, other_counts = other_counts, counts
    rows = 0
    for i in range(n):
        same = i > 0
        for w in range(width):
            same &= keys[i, w] == keys[i - 1, w]
        rows += not same
    codes, sums = np.empty((rows, columns), np.int32), np.zeros(rows, np.int64)
    low = (_ONE << np.uint64(bits)) - _ONE
    row = -1
    for i in range(n):
        same = i > 0
        for w in range(width):
            same &= keys[i, w] == keys[i - 1, w]
        if not same:
            row += 1
            key = _ZERO
            for j in range(columns - 1, -1, -1):
                if j == columns - 1 or (j + 1) % per_word == 0:
                    key = keys[i, j // per_word]
                codes[row, j] = key & low
                key >>= np.uint64(bits)
        sums[row] += np.int64(counts[i])
    return codes, sums
