"""Intervals between cuts of one's own choice."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.errors import TaxonomyError
from tarnkappe.taxonomy import cuts
from tarnkappe.taxonomy.labels import as_decimal


def test_every_level_keeps_every_second_cut():
    tree = cuts(18, 30, 45, 67, 80).build([3, 18, 44, 79, 93], "age")
    assert tree.paths() == [
        ("3", "<18", "<30", "<67", "*"),
        ("18", "18-29", "<30", "<67", "*"),
        ("44", "30-44", "30-66", "<67", "*"),
        ("79", "67-79", "≥67", "≥67", "*"),
        ("93", "≥80", "≥67", "≥67", "*"),
    ]
    assert cuts(18, 30, 45, 67, 80).n_levels == 4


@pytest.mark.parametrize("wrong", [(), (30, 18), (18, 18)])
def test_cuts_that_are_none_are_refused(wrong):
    with pytest.raises(TaxonomyError, match="ascending order"):
        cuts(*wrong)


def test_whole_numbers_have_whole_cuts():
    with pytest.raises(TaxonomyError, match="whole numbers"):
        cuts(17.5, whole=True)
    with pytest.raises(TaxonomyError, match="not a whole number"):
        cuts(18, whole=True).build([17.5], "age")


@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=9, unique=True).map(sorted),
    st.lists(st.integers(-60, 60), min_size=1, max_size=40),
)
def test_every_number_lies_between_its_cuts(at, numbers):
    for number, first, *_ in cuts(*at).build(np.unique(numbers), "x").paths():
        low = max((cut for cut in at if cut <= int(number)), default=None)
        high = min((cut for cut in at if cut > int(number)), default=None)
        said = first.split(" to ") if " to " in first else first.split("-") if "-" in first[1:] else [first]
        if low is None or high is None:
            assert first == (f"<{high}" if low is None else f"≥{low}")
        else:
            assert (as_decimal(said[0]), as_decimal(said[-1])) == (low, high - 1)


def test_a_release_says_nothing_but_the_cuts(tmp_path):
    table = pl.DataFrame({"age": [*range(10, 90)] * 3, "illness": ["flu", "cold"] * 120})
    job = tk.Job(
        quasi={"age": cuts(18, 30, 67)}, sensitive=["illness"], criteria=[tk.KAnonymity(10)], algorithm="flash"
    )
    tk.run_job(job, table, tmp_path / "release")
    [file] = (tmp_path / "release/public").glob("*.parquet")
    assert set(pl.read_parquet(file)["age"].unique()) <= {"<18", "18-29", "30-66", "≥67", "<30", "≥30", "*"}
