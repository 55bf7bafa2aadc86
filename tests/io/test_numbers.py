"""Columns declared numeric become numbers, or an error that shows where they are not."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import DataError
from tarnkappe.io import as_numbers


@pytest.mark.parametrize(
    ("values", "decimal", "expected", "dtype"),
    [
        (["1", "-2", "+3", "007"], ".", [1, -2, 3, 7], pl.Int64),
        ([" 1", "2 ", None], ".", [1, 2, None], pl.Int64),
        (["1", "2.5", "1e3", ".5", "-0"], ".", [1, 2.5, 1000, 0.5, 0], pl.Float64),
        (["1,5", "-2", "3,25"], ",", [1.5, -2, 3.25], pl.Float64),
        (["1", "2"], ",", [1, 2], pl.Int64),
        ([None, None], ".", [None, None], pl.Int64),
        (["99999999999999999999"], ".", [1e20], pl.Float64),
    ],
)
def test_text(values: list[str | None], decimal: str, expected: list[float], dtype: pl.DataType):
    for series in (pl.Series("x", values, pl.String), pl.Series("x", values, pl.Categorical)):
        numbers = as_numbers(series, "x", decimal)
        assert numbers.to_list() == expected
        assert numbers.dtype == dtype


@pytest.mark.parametrize(
    ("series", "expected", "dtype"),
    [
        (pl.Series([1, None], dtype=pl.Int8), [1, None], pl.Int64),
        (pl.Series([2**64 - 1], dtype=pl.UInt64), [float(2**64 - 1)], pl.Float64),
        (pl.Series([1.5, float("nan"), None]), [1.5, None, None], pl.Float64),
        (pl.Series([1.5], dtype=pl.Float32), [1.5], pl.Float64),
        (pl.Series([Decimal("1.25")]), [1.25], pl.Float64),
        (pl.Series([True, False, None]), [1, 0, None], pl.Int64),
        (pl.Series([None, None]), [None, None], pl.Int64),
    ],
)
def test_numbers_stay_numbers(series: pl.Series, expected: list[float], dtype: pl.DataType):
    numbers = as_numbers(series, "x")
    assert numbers.to_list() == expected
    assert numbers.dtype == dtype


@pytest.mark.parametrize("bad", ["x", "", " ", "1_000", "0x10", "1.2.3", "nan", "inf", "-inf", "1e999", "1,5", "１"])
def test_what_is_not_a_number(bad: str):
    with pytest.raises(DataError, match="1 value that is not a number, the first in row 3") as caught:
        as_numbers(pl.Series(["1", None, bad, "4.5"]), "age", ".", "people.csv")
    assert caught.value.code == "E406"
    assert caught.value.where == "people.csv"
    assert repr(bad) in caught.value.details[0]


def test_infinite_floats_are_refused():
    with pytest.raises(DataError, match="row 2"):
        as_numbers(pl.Series([1.0, float("inf")]), "x")


def test_point_under_a_decimal_comma_is_not_guessed():
    with pytest.raises(DataError) as caught:
        as_numbers(pl.Series(["1,5", "1.234"]), "x", ",")
    assert caught.value.hint == "If these are numbers, state their decimal sign:  decimal: '.'"


def test_hint_for_the_other_decimal_sign():
    with pytest.raises(DataError) as caught:
        as_numbers(pl.Series(["1,5", "2,5"]), "x", ".")
    assert "decimal: ','" in str(caught.value.hint)


def test_at_most_three_short_examples():
    values = [f"{i} is a very long value that says too much" for i in range(10)]
    with pytest.raises(DataError, match="10 values that are not a number") as caught:
        as_numbers(pl.Series(values), "x")
    assert caught.value.details == (
        "For example: '0 is a very long va…', '1 is a very long va…', '2 is a very long va…'",
    )


def test_line_is_told_where_known():
    with pytest.raises(DataError, match="row 2, line 12") as caught:
        as_numbers(pl.Series(["1", "x"]), "x", ".", "f.csv", lambda row: row + 10)
    assert caught.value.where == "f.csv:12"


@pytest.mark.parametrize("series", [pl.Series([dt.date(2020, 1, 1)]), pl.Series([[1]]), pl.Series([b"1"])])
def test_other_types_are_refused(series: pl.Series):
    with pytest.raises(DataError, match="declared numeric") as caught:
        as_numbers(series, "x")
    assert caught.value.code == "E406"


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_whole_numbers_are_exact(values: list[int]):
    assert as_numbers(pl.Series([str(v) for v in values]), "x").to_list() == values


usable = st.floats(-1e140, 1e140).filter(lambda v: v == 0 or abs(v) >= 1e-140)


@given(st.lists(usable, min_size=1), st.sampled_from(".,"))
def test_floats_are_exact(values: list[float], decimal: str):
    text = [repr(v).replace(".", decimal) for v in values]
    assert as_numbers(pl.Series(text), "x", decimal).to_list() == values


@pytest.mark.parametrize("value", [1e155, -1.7e308, 5e-324, -1e-200])
@pytest.mark.parametrize("text", [True, False])
def test_numbers_that_cannot_be_squared_are_refused_without_naming_them(value: float, text: bool):
    series = pl.Series([str(value) if text else value, "1" if text else 1.0])
    with pytest.raises(DataError, match="beyond what can be computed with") as caught:
        as_numbers(series, "x")
    assert caught.value.code == "E406"
    assert str(value) not in str(caught.value)


def test_large_numbers_and_zero_are_fine():
    assert as_numbers(pl.Series([1e139, -1e-139, 0.0, None]), "x").to_list() == [1e139, -1e-139, 0.0, None]
