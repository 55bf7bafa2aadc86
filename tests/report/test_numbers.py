import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe import wording
from tarnkappe.report.numbers import compact, count, counted, figure, percent


def test_counts():
    assert count(1_234_567) == "1\u00a0234\u00a0567"
    assert counted(1, "record") == "1 record"
    assert counted(0, "record") == "0 records"
    assert counted(2, "box", "boxes") == "2 boxes"


@given(st.floats(0, 1, exclude_min=True, exclude_max=True))
def test_some_is_neither_none_nor_all(share):
    assert percent(share).split() not in (["0", "%"], ["0.0", "%"], ["100", "%"], ["100.0", "%"])


@given(st.integers(0, 10**9), st.floats(0, 1))
def test_numbers_are_written_as_on_the_screen(n, share):
    assert count(n).replace("\u00a0", " ") == wording.count(n)
    assert percent(share).replace("\u00a0", " ") == wording.percent(share)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (5.0, "5"),
        (0.28713, "0.287"),
        (0.0004, "<0.001"),
        (1.5021, "1.50"),
        (123.456, "123.5"),
        (241_882.4, "241\u00a0882"),
        (math.nan, "not applicable"),
        (math.inf, "∞"),
    ],
)
def test_figures(value, shown):
    assert figure(value) == shown


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (999, "999"), (1500, "1.5k"), (2e6, "2M"), (3e9, "3G")])
def test_axis_numbers(value, shown):
    assert compact(value) == shown
