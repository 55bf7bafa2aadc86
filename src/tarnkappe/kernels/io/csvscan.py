"""Count the records of a CSV file and find the first one that has the wrong number of fields.

Two kernels share the work. `count_records` looks at eight bytes at a time and only says whether every record is as
it should be; `examine` walks byte by byte, and is run only where something is odd, to say what and on which line.

Both follow the same rules: a field is quoted if its first byte is the quote character; inside it delimiters and line
ends are text and a doubled quote is one quote; after the closing quote only a delimiter, a line end or the end of the
file may follow. A quote in the middle of an unquoted field is text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tarnkappe.arrays import Bytes
from tarnkappe.kernels import helper, kernel

#: What `examine` can find wrong.
FAULT_NONE, FAULT_FIELDS, FAULT_AFTER_QUOTE, FAULT_OPEN_QUOTE = 0, 1, 2, 3

_CR = 13

# Constants of the eight-bytes-at-a-time arithmetic. They are uint64 because numba turns a mix of uint64 and int64
# into float64.
_EACH_LOW_BIT = np.uint64(0x0101010101010101)
_EACH_TOP_BIT = np.uint64(0x8080808080808080)
_EACH_LOW_SEVEN = np.uint64(0x7F7F7F7F7F7F7F7F)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_S7, _S8, _S16, _S32, _S56, _S63 = (np.uint64(s) for s in (7, 8, 16, 32, 56, 63))
_TOP_OF_FIRST_BYTE = np.uint64(0x80)


class Scan(NamedTuple):
    """What `examine` saw."""

    records: int  #: complete records, the header included
    fields: int  #: fields of the first record
    end: int  #: offset just after the last record seen
    lines: int  #: line ends up to `end`
    blank_tail: int  #: blank lines after the last record (a table of one column has none: they are empty values)
    quoted: int  #: quoted fields
    stray_line: int  #: line of the first quote inside an unquoted field, 0 if there is none
    fault: int  #: one of the ``FAULT_`` numbers
    fault_line: int  #: line on which the faulty record (or the quote that is never closed) begins
    fault_fields: int  #: how many fields the faulty record has


@helper
def _where(word: np.uint64, pattern: np.uint64) -> np.uint64:
    """The top bit of every byte of `word` that equals the byte repeated in `pattern`; all other bits are zero."""
    x = word ^ pattern
    return ~(((x & _EACH_LOW_SEVEN) + _EACH_LOW_SEVEN) | x | _EACH_LOW_SEVEN)


@helper
def _how_many(tops: np.uint64) -> int:
    """The number of bytes whose top bit is set: a multiplication adds all eight bytes up in the highest one."""
    return int(np.int64(((tops >> _S7) * _EACH_LOW_BIT) >> _S56))


def count_records(data: Bytes, start: int, delimiter: int, quote: int, eol: int, fields: int) -> tuple[int, bool]:
    """Count the records from `start` on if each has exactly `fields` fields and no quote is out of place.

    Returns the number of records (-1 if any record is odd: ask `examine`) and whether there is any quoted field.
    `quote` is -1 if the file uses none. Needs a little-endian machine.
    """
    whole = data[start & ~7 : data.size & ~7].view(np.uint64)
    records, any_quoted = _count_records(data, whole, start, delimiter, quote, eol, fields)
    return int(records), bool(any_quoted)


@kernel
def _count_records(
    data: Bytes, words: NDArray[np.uint64], start: int, delimiter: int, quote: int, eol: int, fields: int
) -> tuple[int, bool]:
    """Do what `count_records` does; `words` are the data from just before `start` on, but for the last few bytes."""
    skipped = start & 7
    n_words = words.size
    n_rest = data.size & 7
    rest = _ZERO
    for i in range(n_rest):
        rest |= np.uint64(data[data.size - n_rest + i]) << np.uint64(8 * i)

    delimiters = np.uint64(delimiter) * _EACH_LOW_BIT
    eols = np.uint64(eol) * _EACH_LOW_BIT
    returns = np.uint64(_CR) * _EACH_LOW_BIT
    quotes = np.uint64(max(quote, 0)) * _EACH_LOW_BIT
    quote_bits = _ALL if quote >= 0 else _ZERO
    from_start = _ALL << np.uint64(8 * skipped)
    to_end = (_ONE << np.uint64(8 * n_rest)) - _ONE

    inside = _ZERO  # all top bits while the previous byte was inside a quoted field
    opener = _TOP_OF_FIRST_BYTE << np.uint64(8 * skipped)  # where a quoted field may begin in this word
    closed = _ZERO  # the first byte follows a closing quote
    returned = _ZERO  # the first byte follows a closing quote and a carriage return
    any_quoted = False
    records = 0
    so_far = 1
    for j in range(n_words + (1 if n_rest else 0)):
        word = words[j] if j < n_words else rest
        d = _where(word, delimiters)
        e = _where(word, eols)
        q = _where(word, quotes) & quote_bits
        if j == 0:
            d &= from_start
            e &= from_start
            q &= from_start
        special = d | e | q
        if q | inside | closed | returned:
            any_quoted = True
            # Running parity of the quotes up to and including each byte: odd means inside a quoted field.
            parity = q ^ (q << _S8)
            parity ^= parity << _S16
            parity ^= parity << _S32
            within = parity ^ inside
            opening = q & within
            closing = q & ~within
            # A quote opens after a delimiter or line end, or right after a closing one (then both are one escape).
            odd = opening & ~((special << _S8) | opener)
            cr = _where(word, returns) & ~e
            after = (closing << _S8) | closed
            odd |= after & ~(special | cr)
            after_cr = ((after & cr) << _S8) | returned
            odd |= after_cr & ~e
            if odd and (j < n_words or odd & to_end):
                return -1, any_quoted
            closed = closing >> _S56
            returned = (after & cr) >> _S56
            inside = (within >> _S63) * _EACH_TOP_BIT
            d &= ~within
            e &= ~within
        opener = special >> _S56
        while e:
            upto = e ^ (e - _ONE)
            if so_far + _how_many(d & upto) != fields:
                return -1, any_quoted
            records += 1
            so_far = 1
            d &= ~upto
            e &= e - _ONE
        so_far += _how_many(d)
    if inside:
        return -1, any_quoted
    if data.size > start and data[data.size - 1] != eol:
        if so_far != fields:
            return -1, any_quoted
        records += 1
    return records, any_quoted


@kernel
def examine(data: Bytes, start: int, delimiter: int, quote: int, eol: int, limit: int) -> Scan:
    """Walk over the records from `start` on, at most `limit` of them (all if negative), up to the first fault."""
    records = 0
    fields = 0
    end = start
    end_lines = 0
    lines = 0
    blanks = 0
    first_blank = 0
    quoted = 0
    stray_line = 0

    record_start = start
    record_line = 1
    quote_line = 0
    so_far = 1
    at_field_start = True
    in_quotes = False
    after_quote = False
    n = data.size
    for i in range(start, n + 1):
        if records == limit:
            break
        ends_here = False
        if i == n:
            if in_quotes:
                return Scan(
                    records, fields, end, end_lines, blanks, quoted, stray_line, FAULT_OPEN_QUOTE, quote_line, so_far
                )
            ends_here = record_start < n
        else:
            b = data[i]
            if b == eol:
                lines += 1
            if in_quotes:
                if b == quote:
                    in_quotes = False
                    after_quote = True
                continue
            if after_quote:
                if b == quote:
                    in_quotes = True
                    after_quote = False
                    continue
                if b == _CR and b != eol and (i + 1 == n or data[i + 1] == eol):
                    continue
                if b not in (delimiter, eol):
                    return Scan(
                        records,
                        fields,
                        end,
                        end_lines,
                        blanks,
                        quoted,
                        stray_line,
                        FAULT_AFTER_QUOTE,
                        lines + 1,
                        so_far,
                    )
            if b == delimiter:
                so_far += 1
                at_field_start = True
                after_quote = False
                continue
            if b == eol:
                ends_here = True
            elif b == quote:
                if at_field_start:
                    in_quotes = True
                    quoted += 1
                    quote_line = lines + 1
                elif stray_line == 0:
                    stray_line = lines + 1
            at_field_start = False
        if not ends_here:
            continue

        length = i - record_start
        blank = length == 0 or (length == 1 and data[record_start] == _CR)
        if blank and fields > 1:
            if blanks == 0:
                first_blank = record_line
            blanks += 1
        else:
            if records == 0:
                fields = so_far
            elif blanks > 0 or so_far != fields:
                at = first_blank if blanks > 0 else record_line
                found = 0 if blanks > 0 else so_far
                return Scan(records, fields, end, end_lines, blanks, quoted, stray_line, FAULT_FIELDS, at, found)
            records += 1
            end = min(i + 1, n)
            end_lines = lines
        record_start = i + 1
        record_line = lines + 1
        so_far = 1
        at_field_start = True
        after_quote = False
    return Scan(records, fields, end, end_lines, blanks, quoted, stray_line, FAULT_NONE, 0, 0)
