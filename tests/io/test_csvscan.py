"""The byte-scanning kernels agree with a plain reading of the rules, on any bytes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.kernels.io.csvscan import (
    FAULT_AFTER_QUOTE,
    FAULT_FIELDS,
    FAULT_NONE,
    FAULT_OPEN_QUOTE,
    count_records,
    examine,
)

COMMA, QUOTE, EOL = ord(","), ord('"'), ord("\n")


@dataclass
class Found:
    records: int = 0
    fields: int = 0
    end: int = 0
    lines: int = 0
    blank_tail: int = 0
    quoted: int = 0
    stray_line: int = 0
    fault: int = FAULT_NONE
    fault_line: int = 0
    fault_fields: int = 0


class FaultFoundError(Exception):
    pass


def twin(data: bytes, start: int, quote: bytes, limit: int = -1) -> Found:
    """The kernel's rules, field by field instead of byte by byte."""
    out = Found(end=start)
    at = start

    def line(offset: int) -> int:
        return data[start:offset].count(b"\n") + 1

    def field(at: int, n: int) -> int:
        """Skip one field; returns the offset of what ends it."""
        if not (quote and data[at : at + 1] == quote):
            end = at
            while end < len(data) and data[end : end + 1] not in (b",", b"\n"):
                end += 1
            if quote and quote in data[at:end] and not out.stray_line:
                out.stray_line = line(at)
            return end
        out.quoted += 1
        end = at + 1
        while True:
            close = data.find(quote, end)
            if close < 0:
                out.fault, out.fault_line, out.fault_fields = FAULT_OPEN_QUOTE, line(at), n
                raise FaultFoundError
            end = close + 1
            if data[end : end + 1] != quote:
                break
            end += 1
        rest = data[end:]
        if rest.startswith(b"\r") and rest[1:2] in (b"", b"\n"):
            end += 1
        elif rest and rest[:1] not in (b",", b"\n"):
            out.fault, out.fault_line, out.fault_fields = FAULT_AFTER_QUOTE, line(end), n
            raise FaultFoundError
        return end

    blanks: list[int] = []
    try:
        while at < len(data) and out.records != limit:
            begin, n = at, 1
            at = field(at, n)
            while data[at : at + 1] == b",":
                n += 1
                at = field(at + 1, n)
            content = data[begin:at]
            at = min(at + 1, len(data))
            if out.fields > 1 and content in (b"", b"\r"):
                blanks.append(line(begin))
                continue
            if out.records == 0:
                out.fields = n
            elif blanks or n != out.fields:
                out.fault = FAULT_FIELDS
                out.fault_line, out.fault_fields = (blanks[0], 0) if blanks else (line(begin), n)
                raise FaultFoundError
            out.records += 1
            out.end, out.lines = at, line(at) - 1
    except FaultFoundError:
        pass
    out.blank_tail = len(blanks)
    return out


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=np.uint8)


pieces = st.sampled_from([b",", b'"', b"\n", b"\r", b"\r\n", b'""', b"x", b"long text", b"\xc3\xa9", b"\0", b"\n\n"])
any_bytes = st.lists(pieces, min_size=1, max_size=40).map(b"".join)
well_formed = st.lists(
    st.lists(
        st.sampled_from([b"", b"a", b'"a,b"', b'"x""y"', b'"two\nlines"', b'""', b"12345678"]), min_size=3, max_size=3
    ),
    min_size=1,
    max_size=20,
).map(lambda rows: b"\n".join(b",".join(row) for row in rows) + b"\n")


@settings(max_examples=examples(600), deadline=None)
@given(data=st.one_of(any_bytes, well_formed), start=st.integers(0, 9), use_quotes=st.booleans())
@example(data=b'a,b\r\n"1","2"\r\n', start=0, use_quotes=True)
@example(data=b'a,"12345"\rx\n', start=0, use_quotes=True)
@example(data=b'aaaaa,"b"', start=0, use_quotes=True)
def test_kernels_agree_with_the_twin(data: bytes, start: int, use_quotes: bool):
    start = min(start, len(data) - 1)
    quote = QUOTE if use_quotes else -1
    plain = twin(data, start, b'"' if use_quotes else b"")
    found = examine(array(data), start, COMMA, quote, EOL, -1)
    assert Found(*found) == plain

    head = examine(array(data), start, COMMA, quote, EOL, 1)
    assert Found(*head) == twin(data, start, b'"' if use_quotes else b"", limit=1)
    if head.fault:
        return
    records, quoted = count_records(array(data), start, COMMA, quote, EOL, head.fields)
    as_it_should_be = plain.fault == FAULT_NONE and not plain.stray_line and not plain.blank_tail
    assert records == (plain.records if as_it_should_be else -1)
    if as_it_should_be:
        assert quoted == (plain.quoted > 0)


@pytest.mark.parametrize("row", [0, 1, 2, 3])
def test_limit_gives_the_line_on_which_a_record_begins(row: int):
    data = b'a,b\n1,"x\ny\nz"\n2,3\n4,5\n'
    lines_before = {0: 0, 1: 1, 2: 4, 3: 5}
    assert examine(array(data), 0, COMMA, QUOTE, EOL, row).lines == lines_before[row]


def test_other_signs():
    data = b"a;b\r'1;2';3\r4;5\r"
    assert examine(array(data), 0, ord(";"), ord("'"), ord("\r"), -1).records == 3
    assert count_records(array(data), 0, ord(";"), ord("'"), ord("\r"), 2) == (3, True)


def test_one_wrong_record_among_many_is_found():
    rows = [b"1,2,3"] * 100_000
    rows[77_776] = b"1,2"
    found = examine(array(b"\n".join(rows)), 0, COMMA, QUOTE, EOL, -1)
    assert (found.fault, found.fault_line, found.fault_fields) == (FAULT_FIELDS, 77_777, 2)
    assert count_records(array(b"\n".join(rows)), 0, COMMA, QUOTE, EOL, 3)[0] == -1
