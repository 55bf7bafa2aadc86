"""What runs on the workers of a cluster, tried without one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tarnkappe.engines.spark import tasks
from tarnkappe.engines.spark.files import local_path, location

KEYS = (11, 12, 13, 14, 15, 16, 17, 18)


@given(st.integers(1, 3000), st.integers(0, 2**63 - 1))
def test_a_lot_draws_every_number_once(n: int, key: int):
    drawn = tasks.Lot(n, (key, *KEYS)).at(np.arange(n))
    assert np.array_equal(np.sort(drawn), np.arange(n))


def test_a_lot_can_be_drawn_in_parts_and_depends_on_its_keys():
    lot = tasks.Lot(1000, KEYS)
    parts = np.concatenate([lot.at(np.arange(0, 300)), lot.at(np.arange(300, 1000))])
    assert np.array_equal(parts, lot.at(np.arange(1000)))
    assert not np.array_equal(parts, tasks.Lot(1000, KEYS[::-1]).at(np.arange(1000)))


def test_a_lot_leaves_no_trace_of_the_old_order():
    n = 100_000
    drawn = tasks.Lot(n, KEYS).at(np.arange(n))
    assert abs(np.corrcoef(np.arange(n), drawn)[0, 1]) < 0.02
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.02
    counts = np.histogram2d(np.arange(n), drawn, bins=10)[0]
    assert abs(counts - n / 100).max() < 6 * np.sqrt(n / 100)


def test_sort_keys_of_different_records_differ():
    lot = tasks.Lot(1 << tasks.KEY_BITS, KEYS)
    keys = np.concatenate([lot.at(np.arange(p << 40, (p << 40) + 1000)) for p in (0, 1, 77)])
    assert len(np.unique(keys)) == 3000
    assert keys.min() >= 0


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", None]), st.sampled_from([0.0, 1.5, None])),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 40),
)
def test_cells_of_records_are_found_however_wide_the_keys_are(rows: list[tuple[int, str, float]], spare: int):
    frame = pl.DataFrame(rows, schema={"x": pl.Int32, "y": pl.String, "z": pl.Float64}, orient="row")
    distinct = frame.unique(maintain_order=True)
    values = [[None, *distinct[name].drop_nulls().unique().to_list()] for name in frame.columns]
    codes = [np.array([v.index(x) for x in distinct[name]]) for name, v in zip(frame.columns, values, strict=True)]
    bits = tuple(spare for _ in codes) if spare > 2 else (2, 2, 2)
    keys, ranks = tasks.rank_keys(codes, bits)
    cell = np.empty(distinct.height, np.int32)
    cell[np.searchsorted(ranks[-1], keys)] = np.arange(distinct.height)
    arrow = [pa.array(v, t) for v, t in zip(values, (pa.int32(), pa.string(), pa.float64()), strict=True)]
    columns = [frame[name].to_arrow().cast(known.type) for name, known in zip(frame.columns, arrow, strict=True)]
    found = tasks.Cells(tuple(arrow), bits, ranks, cell).of(columns)
    assert [distinct.row(int(i)) for i in found] == frame.rows()


def test_an_unknown_record_is_an_error_and_minus_zero_is_zero():
    cells = tasks.Cells((pa.array([None, 0.0, 2.0]),), (2,), (np.array([1, 2]),), np.array([0, 1], np.int32))
    assert cells.of([pa.array([-0.0, 2.0])]).tolist() == [0, 1]
    for column in (pa.array([3.0]), pa.array([None], pa.float64())):
        with pytest.raises(ValueError, match="changed"):
            cells.of([column])


def test_a_release_survives_the_journey_to_a_worker():
    labels = {"c0": tasks.Texts(pa.array(["x", "y"]), np.array([0, -1, 1], np.int32))}
    pieces = tasks.Pieces(np.array([2, 3, 7]), np.array([0, 1, 2], np.int32))
    release = tasks.Release(pieces, np.zeros(3, np.int32), ("c0",), labels, {}, tasks.Lot(7, KEYS))
    again = tasks.built(tasks.plain(release))
    rows = [x for batch in again.rows(0, 7) for x in batch.column(0).to_pylist()]
    assert sorted(rows, key=str) == [None, "x", "x", "y", "y", "y", "y"]
    parts = [batch for start, end in ((0, 3), (3, 7)) for batch in again.rows(start, end)]
    assert [x for batch in parts for x in batch.column(0).to_pylist()] == rows


def test_addresses():
    assert location("hdfs://host/a b.csv") == "hdfs://host/a b.csv"
    assert local_path("s3a://bucket/x.csv") is None
    assert location("x y.csv").endswith("/x y.csv")
