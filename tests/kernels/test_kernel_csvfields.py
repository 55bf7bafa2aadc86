"""The kernels that number texts and count keys agree with dictionaries."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from grids import examples
from tarnkappe.io.csvcells import mark_numbers, recode_keys
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

COMMA, EOL = ord(","), ord("\n")


def padded(data: bytes) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    """The bytes with what the kernels may look at behind them: something that must not matter."""
    words = np.full((len(data) + PADDING) // 8 + 1, 0x2C2C2C0A2C2C2C2C, np.uint64)
    text = words.view(np.uint8)
    text[: len(data)] = np.frombuffer(data, np.uint8)
    return text, words


def no_texts(n: int, n_bytes: int) -> Texts:
    slots = 1 << (2 * n).bit_length()
    words = np.zeros((n_bytes + PADDING) // 8 + 1, np.uint64)
    longs = [np.zeros(n + 1, t) for t in (np.int64, np.uint64, np.int64)]
    return Texts(np.zeros((slots, 2), np.uint64), words.view(np.uint8), words, *longs, np.zeros(1, np.int64))


def listed(known: Texts) -> list[bytes]:
    text = known.text.tobytes()
    return [text[known.end[i] : known.end[i + 1]] for i in range(known.size[0])]


def ends_of(text: NDArray[np.uint8], begin: int, end: int) -> NDArray[np.int32]:
    out = np.full(end - begin + SPARE_ENDS, -1, np.int32)
    return out[: field_ends(text, begin, end, COMMA, EOL, out)]


@given(st.binary(max_size=300) | st.text(",\nab", max_size=300).map(str.encode), st.integers(0, 20), st.integers(0, 20))
@example(b"," * 20_000, 3, 5)
@example(b"abc,de\n" * 3000, 1, 0)
def test_field_ends(data: bytes, begin: int, rest: int):
    text, _ = padded(data)
    begin, end = min(begin, len(data)), max(len(data) - rest, min(begin, len(data)))
    assert ends_of(text, begin, end).tolist() == [i for i in range(begin, end) if data[i] in b",\n"]


@given(st.text("a\n", max_size=20).map(str.encode), st.integers(0, 20))
def test_after_line_end(data: bytes, begin: int):
    found = after_line_end(padded(data)[0], begin, len(data), EOL)
    assert found == (data.find(b"\n", begin) + 1 if b"\n" in data[begin:] else -1)


def shift_of(bits: int, n_columns: int, j: int) -> tuple[int, int]:
    """In which word column `j` of a key is, and how far from its end."""
    per_word = 64 // bits
    word = j // per_word
    return word, bits * (min(per_word, n_columns - word * per_word) - 1 - j % per_word)


def unpacked(keys: NDArray[np.uint64], bits: int, n_columns: int) -> list[tuple[int, ...]]:
    places = [shift_of(bits, n_columns, j) for j in range(n_columns)]
    return [tuple((int(key[w]) >> s) & ((1 << bits) - 1) for w, s in places) for key in keys]


def packed(rows: list[tuple[int, ...]], bits: int, n_columns: int) -> NDArray[np.uint64]:
    keys = np.zeros((len(rows), -(-n_columns // (64 // bits))), np.uint64)
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            word, shift = shift_of(bits, n_columns, j)
            keys[i, word] |= np.uint64(number << shift)
    return keys


FIELD = (
    st.text("ab", max_size=20)
    | st.sampled_from(["", "\r", "a\r", "\0", "\0\0", "x" * 8, "x" * 9, "x" * 16, "x" * 17, "x" * 255, "x" * 300])
    | st.sampled_from(["x" * 299 + "y", "x" * 254 + "y", "xxxxxxxxy", "xxxxxxxxz", "ü", "€uro"])
)


@settings(max_examples=examples(200))
@given(st.data(), st.integers(1, 4), st.booleans(), st.integers(5, 40), st.integers(0, 9))
def test_number_fields(data: st.DataObject, fields: int, empty_is_missing: bool, bits: int, begin: int):
    record = st.lists(FIELD, min_size=fields, max_size=fields)
    records = data.draw(st.lists(record, min_size=1, max_size=7))
    wanted = data.draw(st.lists(st.integers(0, fields - 1), min_size=1, unique=True))
    room, bytes_for = data.draw(st.integers(0, 12)), data.draw(st.sampled_from([20, 400, 9000]))
    content = b"#" * begin + "".join(",".join(r) + "\n" for r in records).encode()
    text, words = padded(content)
    ends = ends_of(text, begin, len(content))
    known, keys = no_texts(room, bytes_for), np.zeros((len(records), -(-len(wanted) // (64 // bits))), np.uint64)
    arguments = (text, words, begin, ends, fields, np.array(wanted), empty_is_missing, 1000)
    done = number_fields(*arguments, known, bits, keys)

    numbers: dict[bytes, int] = {}
    firsts = []
    expected = []
    full = False
    at = begin
    for r in records:
        starts = at + np.cumsum([0, *(len(f.encode()) + 1 for f in r)])
        row = []
        for j in wanted:
            field = r[j].encode().removesuffix(b"\r")
            if field == b"" and empty_is_missing:
                row.append(0)
                continue
            if field not in numbers:
                full = len(numbers) == room or sum(map(len, numbers)) + len(field) + PADDING > known.text.size
                if full:
                    break
                numbers[field] = len(numbers) + 1
                firsts.append(1000 + int(starts[j]))
            row.append(numbers[field])
        if full:
            break
        expected.append(tuple(row))
        at = int(starts[-1])
    assert done == len(expected)
    assert unpacked(keys[:done], bits, len(wanted)) == expected
    assert listed(known) == list(numbers)
    assert known.first[1 : len(firsts) + 1].tolist() == firsts


def test_texts_are_found_again_in_a_larger_table():
    text, words = padded(b"".join(b"%d,%d and more\n" % (i, i % 50) for i in range(400)))
    ends = ends_of(text, 0, text.tobytes().rfind(b"more\n") + 5)
    known = no_texts(500, 10_000)
    keys, again = np.empty((400, 1), np.uint64), np.empty((400, 1), np.uint64)
    arguments = (text, words, 0, ends, 2, np.array([0, 1]), True, 0)
    assert number_fields(*arguments, known, 20, keys) == 400
    assert known.size[0] == 450
    larger = known._replace(slots=np.zeros((8192, 2), np.uint64))
    move_texts(known.slots, known.hashed, larger.slots)
    assert number_fields(*arguments, larger, 20, again) == 400
    assert known.size[0] == 450
    assert (keys == again).all()


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("gathered", [False, True])
def test_count_keys(width: int, counted: bool, gathered: bool):
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 12, (6000, width)).astype(np.uint64) << np.uint64(40)
    keys[:3000] += rng.integers(0, 5000, (3000, width)).astype(np.uint64)
    keys[-1] = 0  # a key like any other
    if gathered:
        ordered = np.empty_like(keys)
        gather_keys(keys, ordered)
        assert sorted(ordered.tolist()) == sorted(keys.tolist())
        keys = ordered
    counts = rng.integers(1, 10, len(keys) if counted else 0).astype(np.uint64)
    slots, done, tries = 8 * REGIONS, 0, 0
    while done < len(keys):  # a table that is large enough holds them all
        table, sizes = np.zeros((slots, width + 1), np.uint64), np.zeros(REGIONS, np.int64)
        done = count_keys(keys, counts, 0, table, sizes)
        assert (sizes <= slots // REGIONS // 8 * 5).all()
        slots *= 2
        tries += 1
    assert tries > 1
    expected: Counter[tuple[int, ...]] = Counter()
    for i, key in enumerate(keys.tolist()):
        expected[tuple(key)] += int(counts[i]) if counted else 1
    found, sums = counted_keys(table)
    assert len(found) == sizes.sum()
    assert dict(zip(map(tuple, found.tolist()), sums.tolist(), strict=True)) == expected


@given(st.data(), st.integers(1, 9), st.integers(3, 30), st.integers(3, 30))
def test_keys_of_numbers(data: st.DataObject, n_columns: int, bits: int, new_bits: int):
    row = st.tuples(*[st.integers(0, 7)] * n_columns)
    rows = data.draw(st.lists(row, min_size=1, max_size=20))
    counts = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(rows), max_size=len(rows))), np.uint64)
    keys = packed(rows, bits, n_columns)

    used = np.zeros((n_columns, 8), np.bool_)
    mark_numbers(keys, bits, used)
    assert used.tolist() == [[number in column for number in range(8)] for column in zip(*rows, strict=True)]

    codes = np.array([np.roll(np.arange(8), j) for j in range(n_columns)], np.int32)
    out = recode_keys(keys, bits, codes, new_bits)
    recoded = [tuple(int(codes[j, number]) for j, number in enumerate(r)) for r in rows]
    assert unpacked(out, new_bits, n_columns) == recoded

    expected: Counter[tuple[int, ...]] = Counter()
    for r, count in zip(recoded, counts.tolist(), strict=True):
        expected[r] += count
    merged, sums = merge_keys(out, counts, new_bits, n_columns)
    assert list(zip(map(tuple, merged.tolist()), sums.tolist(), strict=True)) == sorted(expected.items())
