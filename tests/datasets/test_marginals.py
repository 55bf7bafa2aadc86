"""Resampled tables have the shares and types of the original, and independent columns."""

from __future__ import annotations

from datetime import date

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from tarnkappe.datasets import resample, resample_batches
from tarnkappe.datasets.blocks import BLOCK_ROWS
from tarnkappe.errors import DataError, JobError

TABLE = pl.DataFrame(
    {
        "sex": ["f", "f", "f", "m", None],
        "age": [30, 30, 40, 50, 60],
        "height": [1.5, None, 1.75, 1.8, 1.9],
        "born": [date(2000, 1, 1), None, date(1990, 2, 3), date(1980, 5, 6), date(1970, 7, 8)],
        "grade": ["a", "b", "b", "b", "c"],
        "flag": [True, False, None, False, False],
    },
    schema_overrides={"grade": pl.Enum(["a", "b", "c"]), "age": pl.UInt8},
)


def test_shares_are_those_of_the_table_missing_values_included():
    drawn = resample(TABLE, 50_000, seed=1)
    for column in TABLE.columns:
        expected = dict(TABLE[column].value_counts(normalize=True).rows())
        seen = dict(drawn[column].value_counts(normalize=True).rows())
        assert seen.keys() == expected.keys()
        assert all(seen[value] == pytest.approx(expected[value], abs=0.01) for value in expected)


def test_types_are_kept():
    assert resample(TABLE, 10).schema == TABLE.schema
    assert resample(TABLE, 0).schema == TABLE.schema


def test_columns_become_independent():
    twins = pl.DataFrame({"a": range(100), "b": range(100)})
    drawn = resample(twins, 50_000)
    assert abs(np.corrcoef(drawn["a"], drawn["b"])[0, 1]) < 0.02


def test_seed_decides():
    assert_frame_equal(resample(TABLE, 1_000, seed=1), resample(TABLE, 1_000, seed=1))
    assert not resample(TABLE, 1_000, seed=1).equals(resample(TABLE, 1_000, seed=2))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, BLOCK_ROWS + 5_000), st.integers(9_000, 100_000))
def test_batches_add_up_to_the_table(n, batch_rows):
    batches = list(resample_batches(TABLE, n, seed=3, batch_rows=batch_rows))
    assert_frame_equal(pl.concat([TABLE.clear(), *batches]), resample(TABLE, n, seed=3))


def test_a_shorter_table_is_the_beginning_of_a_longer_one():
    assert_frame_equal(resample(TABLE, 100), resample(TABLE, BLOCK_ROWS + 50).head(100))


def test_batches_are_made_only_when_asked_for():
    assert next(resample_batches(TABLE, 10**15, batch_rows=10)).height == 10


def test_nothing_to_draw_from_is_refused():
    with pytest.raises(DataError, match="no records") as caught:
        resample(TABLE.clear(), 1)
    assert caught.value.code == "E402"
    assert resample(TABLE.clear(), 0).height == 0


@pytest.mark.parametrize(("n", "seed", "batch_rows"), [(-1, 0, 1), (1, -1, 1), (1, 0, 0)])
def test_senseless_numbers_are_refused(n, seed, batch_rows):
    with pytest.raises(JobError):
        resample_batches(TABLE, n, seed, batch_rows)
