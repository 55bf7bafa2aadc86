"""Columns read as codes say what the columns say that are read as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tarnkappe.io import Cells, open_source
from tarnkappe.io.coded import read_coded

TABLE = pl.DataFrame(
    {
        "town": ["Ulm", None, "?", "Bonn", "Ulm", ""],
        "size": [3, None, 1, 3, 2, 1],
        "note": ["a", "b", "c", None, "e", "?"],
        "kind": pl.Series(["x", "y", "x", None, "?", "x"], dtype=pl.Categorical),
    }
)


@pytest.fixture(params=["csv", "parquet", "frame"])
def source(request, tmp_path: Path):
    path = tmp_path / f"table.{request.param}"
    if request.param == "frame":
        return open_source(TABLE, missing=("", "?"))
    TABLE.write_csv(path) if request.param == "csv" else TABLE.write_parquet(path)
    return open_source(path, missing=("", "?"))


def test_codes_stand_for_the_values_that_the_columns_have(source):
    read = source.read(["town", "size", "note", "kind"])
    coded, frame = read_coded(source, ["town", "size", "note", "kind"], {"town", "kind"})
    assert set(coded) == {"town", "kind"}
    assert set(frame.columns) == {"size", "note"}
    for name, column in coded.items():
        assert column.values[0] is None
        assert column.values[1:].is_sorted()
        code = column.each(np.arange(len(column.values)))
        assert column.values.gather(code).to_list() == read[name].cast(pl.String).to_list()
        assert column.texts().cast(pl.String).to_list() == read[name].cast(pl.String).to_list()
        assert column.counts.tolist() == np.bincount(code, minlength=len(column.values)).tolist()
        assert (column.counts[1:] > 0).all(), "values that no record has are not listed"
    for name in frame.columns:
        assert frame[name].to_list() == read[name].to_list()


def test_cells_of_rows_are_the_rows_and_list_what_is_used():
    rows = TABLE.select("town", "size")
    cells = Cells.of_rows(rows)
    for name in rows.columns:
        assert cells.column(name).cast(rows.schema[name]).to_list() == rows[name].to_list()
    some = cells.only(np.array([True, False, False, True, False, False]))
    values, code = some.used("town")
    assert values.to_list() == ["Ulm", "Bonn"]
    assert values.gather(code).to_list() == ["Ulm", "Bonn"]
