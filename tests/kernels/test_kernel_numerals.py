"""Numbers are read and written by kernels as Python and Polars do it, bit by bit and sign by sign."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.kernels.io.numerals import ODD, ROOM, read_floats, write_floats
from tarnkappe.kernels.io.records import BEYOND

usual = st.floats(-1e140, 1e140, allow_subnormal=False).filter(lambda x: x == 0 or abs(x) >= 1e-140)
digits = st.text("0123456789", min_size=1, max_size=12)


def read(texts: list[str]) -> tuple[int, np.ndarray]:
    text = np.frombuffer("".join(f"{t}\n" for t in texts).encode() + bytes(BEYOND), np.uint8)
    out = np.empty(len(texts))
    ends = np.cumsum([len(t.encode()) + 1 for t in texts]).astype(np.int32) - 1
    return read_floats(text, 0, ends, 1, 0, out), out


def written(values: np.ndarray) -> list[str]:
    room, sizes = np.empty(ROOM * len(values) + BEYOND, np.uint8), np.empty(len(values), np.uint32)
    assert write_floats(values, room, sizes)
    return [room[ROOM * i : ROOM * i + int(n)].tobytes().decode() for i, n in enumerate(sizes)]


def by_polars(values: np.ndarray) -> list[str]:
    return pl.DataFrame({"x": values}).write_csv(include_header=False).split("\n")[:-1]


@given(st.lists(usual, min_size=1, max_size=30))
def test_floats_are_written_as_by_polars_and_read_back(values):
    numbers = np.array(values)
    texts = written(numbers)
    assert texts == by_polars(numbers)
    whole, found = read(texts)
    assert whole == 0
    assert (found.view(np.int64) == numbers.view(np.int64)).all()


def test_all_sizes_of_numbers():
    rng = np.random.default_rng(1)
    many = np.exp(rng.uniform(np.log(1e-140), np.log(1e140), 100_000)) * rng.choice([-1, 1], 100_000)
    cents = np.round(rng.lognormal(8, 2, 50_000), 2)
    powers = np.concatenate([2.0 ** np.arange(-460, 460), 10.0 ** np.arange(-139, 140), np.arange(20000) / 8])
    for numbers in (many, cents, powers):
        texts = written(numbers)
        assert texts == by_polars(numbers)
        assert (read(texts)[1] == numbers).all()


@given(st.lists(st.tuples(st.sampled_from(["", "-"]), digits, digits), min_size=1, max_size=30))
def test_decimal_texts_are_the_nearest_numbers(parts):
    texts = [f"{sign}{a}.{b}" for sign, a, b in parts]
    whole, found = read(texts)
    if whole == ODD:
        assert any(len(f"{a}{b}".lstrip("0")) > 19 for _, a, b in parts)
    else:
        assert found.tolist() == [float(t) for t in texts]


def test_texts_halfway_between_numbers():
    rng = np.random.default_rng(2)
    texts = []
    for power in range(1, 5):
        for x in rng.integers(1 << 52, 1 << 53, 2000).tolist():
            text = str((2 * x + 1) * 5**power)
            if len(text) <= 19:
                texts.append(f"{text[:-power]}.{text[-power:]}")
    assert len(texts) > 1000
    assert (read(texts)[1] == [float(t) for t in texts]).all()


def test_whole_numbers_and_gaps():
    whole, found = read(["007", "-12", "", "9007199254740992"])
    assert whole == 1
    assert np.array_equal(found, [7, -12, np.nan, 2.0**53], equal_nan=True)


@pytest.mark.parametrize(
    "odd",
    [
        *[
            "x",
            " 1",
            "1 ",
            "+1",
            ".5",
            "5.",
            "-",
            ".",
            "1.2.3",
            "1e",
            "1e5x",
            "1e-200",
            "1e300",
            "nan",
            "inf",
            "1,5",
            "1_0",
            "0x1",
            "1e1000",
            "--1",
            "1-",
        ],
        str(2**53 + 1),
    ],
)
def test_what_is_left_to_others(odd: str):
    assert read(["1.5", odd])[0] == ODD


def test_no_number_has_no_text_and_extreme_ones_are_left_to_others():
    assert written(np.array([np.nan, 1.5])) == ["", "1.5"]
    for extreme in (1e141, np.inf, 1e-141):
        assert not write_floats(np.array([extreme]), np.empty(200, np.uint8), np.empty(1, np.uint32))
