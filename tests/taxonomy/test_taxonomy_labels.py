"""Labels of numbers are short and exact, and what a message shows is harmless."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy import labels


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_label_of_a_float_reads_back_as_the_same_number(number):
    text = labels.number_label(number)
    assert float(text) == number
    assert not text.endswith(".0")
    assert text != "-0"


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_labels_of_integers(numbers):
    assert labels.number_labels(np.array(numbers, np.int64)) == [str(n) for n in numbers]


def test_narrow_floats_keep_their_short_text():
    assert labels.number_labels(np.array([0.1, 20], np.float32)) == ["0.1", "20"]


def test_value_texts():
    assert labels.value_texts(np.array(["01", "b"])) == ["01", "b"]
    assert labels.value_texts(np.array([1, 2])) == ["1", "2"]
    assert labels.value_texts([1, 2.0, "x"]) == ["1", "2", "x"]
    assert labels.scalar_text(datetime.date(2020, 3, 5)) == "2020-03-05"
    with pytest.raises(TaxonomyError, match="truth value") as caught:
        labels.scalar_text(False)
    assert caught.value.code == "E203"


@given(st.text(max_size=80))
def test_shown_is_short_and_printable(text):
    seen = labels.shown(text)
    assert seen.isprintable()
    assert seen.startswith('"')
    assert seen.endswith('"')
    assert text[25:] == "" or "…" in seen


@given(st.lists(st.decimals(-1000, 1000, allow_nan=False, places=3), min_size=1))
def test_scaled_integers_lose_nothing(numbers):
    scaled, places = labels.scaled_integers(numbers)
    assert [Decimal(n).scaleb(-places) for n in scaled] == numbers
    assert [Decimal(labels.scaled_text(n, places)) for n in scaled] == numbers


@pytest.mark.parametrize("text", ["", "abc", "1_000", "nan", "Infinity", "1e999", "1e-999", "--1", "1,5"])
def test_what_is_no_number(text):
    assert labels.as_decimal(text) is None


def test_numbers_sort_as_numbers_and_texts_as_texts():
    texts = ["10", "9", "1e1", "-3.5"]
    assert [texts[i] for i in labels.natural_order(texts)] == ["-3.5", "9", "10", "1e1"]
    assert labels.natural_order(["b", "10", "9"]) == [1, 2, 0]


@pytest.mark.parametrize(
    "scale",
    [
        ["<5", "5", "9", "10", "89", "90+"],
        ["under 18", "18-24", "25-34", "100-109", ">109"],
        ["5", "10", "≥ 90", "unknown"],
        ["2 kg", "2.5 kg", "10 kg", "1,000 kg", "1,000,000 kg"],
        ["-10 °C", "-9 °C", "0 °C", "3 °C"],
        ["A", "A2", "A10", "B1"],
        ["2020-02-01", "2020-10-01", "2021-01-01"],
        ["high", "low", "middle"],
    ],
)
def test_a_scale_is_sorted_by_the_numbers_in_its_texts(scale: list[str]) -> None:
    mixed = sorted(scale, key=lambda text: text[::-1])
    assert [mixed[i] for i in labels.scale_order(mixed)] == scale
