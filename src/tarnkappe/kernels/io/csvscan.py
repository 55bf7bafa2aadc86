"""Count the records of a CSV file and find the first one that has the wrong number of fields.

Two kernels share the work. `count_records` looks at many bytes at a time and only says whether every record is as
it should be; `examine` walks byte by byte, and is run only where something is odd, to say what and on which line.

Both follow the same rules: a field is quoted if its first byte is the quote character; inside it delimiters and line
ends are text and a doubled quote is one quote; after the closing quote only a delimiter, a line end or the end of the
file may follow. A quote in the middle of an unquoted field is text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tarnkappe.arrays import Bytes
from tarnkappe.kernels import helper, kernel
from tarnkappe.kernels.io.bytemasks import WIDTH, how_many, where_byte

#: What `examine` can find wrong.
FAULT_NONE, FAULT_FIELDS, FAULT_AFTER_QUOTE, FAULT_OPEN_QUOTE = 0, 1, 2, 3

_CR = 13

# Everything is uint64, because numba turns a mix of uint64 and int64 into float64.
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ZERO, _ONE = np.uint64(0), np.uint64(1)
_TO_LAST = np.uint64(WIDTH - 1)


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


def count_records(data: Bytes, start: int, delimiter: int, quote: int, eol: int, fields: int) -> tuple[int, bool]:
    """Count the records from `start` on if each has exactly `fields` fields and no quote is out of place.

    Returns the number of records (-1 if any record is odd: ask `examine`) and whether there is any quoted field.
    `quote` is -1 if the file uses none. Needs a little-endian machine.
    """
    rest = (data.size - start) % WIDTH
    tail = np.zeros(WIDTH, np.uint8)
    tail[:rest] = data[data.size - rest :]
    records, any_quoted = _count_records(data, tail, rest, start, delimiter, quote, eol, fields)
    return int(records), bool(any_quoted)


@helper
def _parities(bits: np.uint64) -> np.uint64:
    """Bit i says whether the number of set bits up to and including the i-th one is odd."""
    for step in range(6):
        bits ^= bits << np.uint64(1 << step)
    return bits


@kernel
def _count_records(
    data: Bytes, tail: Bytes, rest: int, start: int, delimiter: int, quote: int, eol: int, fields: int
) -> tuple[int, bool]:
    """Do what `count_records` does; `tail` begins with the last `rest` bytes, too few to be looked at in place."""
    address = np.int64(data.ctypes.data)
    delimiter_byte, quote_byte, eol_byte = np.uint8(delimiter), np.uint8(max(quote, 0)), np.uint8(eol)
    quotes_count = _ALL if quote >= 0 else _ZERO
    expected = np.uint64(fields)

    inside = _ZERO  # all bits while the previous byte was inside a quoted field
    opener = _ONE  # the first byte may begin a quoted field
    closed = _ZERO  # the first byte follows a closing quote
    returned = _ZERO  # the first byte follows a closing quote and a carriage return
    any_quoted = False
    records = 0
    so_far = _ONE
    end = data.size - rest
    for place in range(start, data.size, WIDTH):
        at, valid = address + place, _ALL
        if place == end:
            at, valid = np.int64(tail.ctypes.data), (_ONE << np.uint64(rest)) - _ONE
        d = where_byte(at, delimiter_byte) & valid
        e = where_byte(at, eol_byte) & valid
        q = where_byte(at, quote_byte) & valid & quotes_count
        special = d | e | q
        if q | inside | closed | returned:
            any_quoted = True
            within = _parities(q) ^ inside
            opening = q & within
            closing = q & ~within
            # A quote opens after a delimiter or line end, or right after a closing one (then both are one escape).
            odd = opening & ~((special << _ONE) | opener)
            cr = where_byte(at, np.uint8(_CR)) & ~e
            after = (closing << _ONE) | closed
            odd |= after & ~(special | cr)
            after_cr = ((after & cr) << _ONE) | returned
            odd |= after_cr & ~e
            if odd & valid:
                return -1, any_quoted
            closed = closing >> _TO_LAST
            returned = (after & cr) >> _TO_LAST
            inside = _ALL if within >> _TO_LAST else _ZERO
            d &= ~within
            e &= ~within
        opener = special >> _TO_LAST
        while e:
            upto = e ^ (e - _ONE)
            if so_far + how_many(d & upto) != expected:
                return -1, any_quoted
            records += 1
            so_far = _ONE
            d &= ~upto
            e &= e - _ONE
        so_far += how_many(d)
    if inside:
        return -1, any_quoted
    if data.size > start and data[data.size - 1] != eol:
        if so_far != expected:
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
