"""Batches are a cut of the same records, whatever their size."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.datasets.blocks import BLOCK_ROWS, block_rows, rebatch, require_at_least
from tarnkappe.errors import JobError


@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 12))
def test_rebatch_keeps_every_record_in_order(lengths, batch_rows):
    whole = pl.DataFrame({"a": range(sum(lengths))}, schema={"a": pl.Int64})
    starts = [sum(lengths[:i]) for i in range(len(lengths))]
    frames = (whole.slice(start, length) for start, length in zip(starts, lengths, strict=True))
    batches = list(rebatch(frames, batch_rows))
    assert [row for batch in batches for row in batch["a"]] == whole["a"].to_list()
    assert all(batch.height == batch_rows for batch in batches[:-1])
    assert all(0 < batch.height <= batch_rows for batch in batches[-1:])


def test_rebatch_holds_no_more_than_it_needs():
    made = 0

    def frames():
        nonlocal made
        for _ in range(1_000):
            made += 1
            yield pl.DataFrame({"a": [0] * 10})

    batches = rebatch(frames(), 20)
    next(batches)
    assert made == 2
    next(batches)
    assert made == 4


@given(st.integers(0, 5 * BLOCK_ROWS))
def test_blocks_add_up(n):
    blocks = list(block_rows(n))
    assert sum(rows for _, rows in blocks) == n
    assert [index for index, _ in blocks] == list(range(len(blocks)))
    assert all(0 < rows <= BLOCK_ROWS for _, rows in blocks)


@pytest.mark.parametrize("value", [-1, 1.5, True, "3"])
def test_a_senseless_number_is_refused_with_a_fix(value):
    with pytest.raises(JobError, match="n must be a whole number of at least 0") as caught:
        require_at_least("n", value, 0)
    assert caught.value.code == "E110"
    assert "n=0" in caught.value.hint
