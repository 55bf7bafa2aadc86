"""Lines that are copied together from written fields are those that Polars writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.io import CsvDialect, TableWriter, csvlines

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=40)
ODD = st.sampled_from(["", "a,b", 'say "x"', "two\nlines", "a\rb", "Köln", "x" * 15, "x" * 16, "x" * 17, "x" * 70])


@st.composite
def tables(draw: st.DrawFn) -> pl.DataFrame:
    rows = draw(st.integers(0, 30))
    columns = {}
    for j in range(draw(st.integers(1, 5))):
        texts = draw(st.lists(st.one_of(ODD, TEXT), min_size=1, max_size=8, unique=True))
        values = draw(st.lists(st.one_of(st.none(), st.sampled_from(texts)), min_size=rows, max_size=rows))
        columns[f"c,{j}"] = pl.Series(values, dtype=pl.Enum(texts))
    return pl.DataFrame(columns)


def written(table: pl.DataFrame, path: Path, delimiter: str, missing: str) -> bytes:
    with TableWriter(path, "csv", CsvDialect(delimiter=delimiter), missing) as writer:
        writer.write(table)
        writer.write(table.reverse())
    return path.read_bytes()


@settings(max_examples=examples(60), deadline=None)
@given(table=tables(), delimiter=st.sampled_from(",;\t"), missing=st.sampled_from(["", "?", "N,A"]), room=st.booleans())
def test_as_polars_writes_them(
    tmp_path_factory: pytest.TempPathFactory, table: pl.DataFrame, delimiter: str, missing: str, room: bool
):
    path = tmp_path_factory.mktemp("lines") / "x.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvlines, "_MANY", 1 << 60)
        expected = written(table, path, delimiter, missing)
        patch.setattr(csvlines, "_MANY", 0)
        if room:  # for a few lines at a time
            patch.setattr(csvlines, "_ROOM", 1000)
        assert written(table, path, delimiter, missing) == expected


def test_what_is_left_to_polars(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(csvlines, "_MANY", 0)
    options = {"separator": ",", "null_value": ""}
    few = pl.DataFrame({"a": pl.Series(["x", "y"], dtype=pl.Enum(["x", "y"]))})
    made = csvlines.copied_lines(few, ",", options)
    assert made is not None
    assert b"".join(made) == b"x\ny\n"
    assert csvlines.copied_lines(few.with_columns(b=1), ",", options) is None
    assert csvlines.copied_lines(few.select(), ",", options) is None
    two_lines = pl.DataFrame({"a": pl.Series(["x\ny"], dtype=pl.Enum(["x\ny"]))})
    assert csvlines.copied_lines(two_lines, ",", options) is None
    monkeypatch.setattr(csvlines, "_LONGEST", 1)
    assert csvlines.copied_lines(few, ",", options) is None
