"""Frames of every kind are read alike and given back as the kind they were."""

from __future__ import annotations

import datetime as dt
import hashlib
import sys
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.errors import DataError
from tarnkappe.io import frame_kind, like, open_source
from tarnkappe.looks.facts import column_facts

ROWS = {"zip": ["01234", "", None], "age": [34, 35, 36]}


def given(kind: str, folder: Path) -> object:
    frame = pl.DataFrame(ROWS)
    if kind == "parquet":
        frame.write_parquet(folder / "x.parquet")
        return folder / "x.parquet"
    return {
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": pd.DataFrame(ROWS),
        "pyarrow": pa.table(ROWS),
    }[kind]


KINDS = ["polars", "lazy", "pandas", "pyarrow", "parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_all_kinds_are_read_alike(tmp_path: Path, kind: str):
    source = open_source(given(kind, tmp_path))
    assert source.columns == ("zip", "age")
    assert source.n_rows == 3
    frame = source.read(["age", "zip"])
    assert frame.columns == ["age", "zip"]
    assert frame.schema == {"age": pl.Int64, "zip": pl.String}
    assert frame["zip"].to_list() == ["01234", None, None]
    assert source.scan(["zip"]).collect()["zip"].to_list() == ["01234", None, None]
    assert source.line_of(1) is None


@pytest.mark.parametrize("kind", KINDS)
def test_no_marker_means_that_empty_text_stays(tmp_path: Path, kind: str):
    assert open_source(given(kind, tmp_path), missing=()).read(["zip"])["zip"].to_list() == ["01234", "", None]


def test_names_and_descriptions(tmp_path: Path):
    assert open_source(given("pandas", tmp_path)).description == "data frame · 3 rows · 2 columns · pandas"
    source = open_source(given("parquet", tmp_path))
    assert source.description == "x.parquet · 3 rows · 2 columns · parquet"
    assert source.sha256 == hashlib.sha256((tmp_path / "x.parquet").read_bytes()).hexdigest()


def test_hash_of_a_frame_follows_its_rows():
    frame = pl.DataFrame({"a": ["x", "y", "a text that is too long to be kept inline"], "b": [1, 2, 3]})
    same = pl.concat([frame, frame]).tail(3)
    assert open_source(frame).sha256 == open_source(same).sha256
    assert open_source(frame).sha256 != open_source(frame.reverse()).sha256
    assert open_source(frame).sha256 != open_source(frame.rename({"a": "c"})).sha256
    assert open_source(frame).sha256 != open_source(frame.with_columns(b=pl.lit(1))).sha256


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["", "u", "v", "unused"])])
def test_categories_stay_unless_one_is_a_marker(dtype: pl.DataType):
    frame = pl.DataFrame({"full": ["u", "v", "u"], "holes": ["u", "", None]}, schema={"full": dtype, "holes": dtype})
    source = open_source(frame)
    read = source.read(["full", "holes"])
    assert read["full"].dtype == dtype
    assert read["holes"].cast(pl.String).to_list() == ["u", None, None]
    assert source.scan(["holes"]).collect()["holes"].to_list() == ["u", None, None]


def test_dictionaries_of_arrow_and_pandas():
    table = pa.table({"d": pa.array(["u", "", None]).dictionary_encode()})
    assert open_source(table).read(["d"])["d"].cast(pl.String).to_list() == ["u", None, None]
    frame = pd.DataFrame({"d": pd.Categorical(["u", "v", None])})
    assert open_source(frame).read(["d"])["d"].cast(pl.String).to_list() == ["u", "v", None]


def test_other_types_are_kept():
    day = dt.date(2020, 2, 29)
    assert open_source(pl.DataFrame({"d": [day], "x": [1.5], "b": [True]})).read(["b", "d", "x"]).row(0) == (
        True,
        day,
        1.5,
    )


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"a": [1]}, "E409"),
        ([1, 2], "E409"),
        (None, "E409"),
        (pl.Series([1]), "E409"),
        (pd.DataFrame({"a": [1, "x"]}), "E409"),
        (pd.DataFrame({"a": [object()]}), "E409"),
        (pl.DataFrame(), "E402"),
        (pl.DataFrame({"a": []}), "E402"),
        (pd.DataFrame({"a": []}), "E402"),
        (pa.table({}), "E402"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "E405"),
        (pa.table([[1], [2]], names=["a", "a"]), "E405"),
        (pl.DataFrame({"": [1]}), "E405"),
    ],
)
def test_refused(data: object, code: str):
    with pytest.raises(DataError) as caught:
        open_source(data)
    assert caught.value.code == code


def test_refusal_names_the_column_and_no_value():
    with pytest.raises(DataError, match="column 'b'") as caught:
        open_source(pd.DataFrame({"a": [1, 2], "b": [1, "secret"]}))
    assert caught.value.__cause__ is None
    assert "secret" not in f"{caught.value} {caught.value.hint} {caught.value.details}"


LONG = pa.array([Decimal(1), Decimal(2)], pa.decimal256(50, 2))


def test_a_kind_of_arrow_that_polars_has_no_place_for_is_an_error_of_ours():
    with pytest.raises(DataError, match="column 'b'") as caught:
        open_source(pa.table({"a": [1, 2], "b": LONG}))
    assert (caught.value.code, caught.value.hint) == ("E409", 'table = table.drop_columns("b")')
    open_source(pa.table({"a": [1, 2], "b": LONG}).drop_columns("b"))


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (pa.array([[("x", 1)], []], pa.map_(pa.string(), pa.int32())), "maps|lists"),
        (LONG, "decimal numbers of more than 38 digits"),
    ],
)
def test_columns_of_parquet_that_cannot_be_read_are_named_and_may_be_dropped(
    tmp_path: Path, values: pa.Array, what: str
):
    pq.write_table(pa.table({"a": [1, 2], "b": values}), tmp_path / "x.parquet")
    source = open_source(tmp_path / "x.parquet")
    with pytest.raises(DataError, match=f"column 'b' of 'x.parquet' holds ({what})") as caught:
        source.read(["a", "b"])
    assert caught.value.code == "E408"
    assert [fact.odd is not None for fact in column_facts(source)] == [False, True]


def test_damaged_parquet(tmp_path: Path):
    path = tmp_path / "x.parquet"
    for content in (b"", b"PAR1", b"not parquet at all", b"PAR1" + b"x" * 100 + b"PAR1"):
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            open_source(path)
        assert caught.value.code == "E408"


def test_parquet_damaged_inside(tmp_path: Path):
    path = tmp_path / "x.pq"
    pl.DataFrame({"a": list(range(10_000))}).write_parquet(path, compression="zstd")
    source = open_source(path)
    content = bytearray(path.read_bytes())
    content[4:2000] = b"\xff" * 1996
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        source.read(["a"])
    assert caught.value.code == "E401"


def test_parquet_without_rows_or_with_a_name_twice(tmp_path: Path):
    path = tmp_path / "x.parquet"
    pl.DataFrame({"a": []}).write_parquet(path)
    with pytest.raises(DataError, match="no rows"):
        open_source(path)
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(DataError) as caught:
        open_source(path)
    assert caught.value.code == "E405"


def test_path_with_equals_sign_adds_no_column(tmp_path: Path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    pl.DataFrame({"a": [1]}).write_parquet(folder / "x.parquet")
    assert open_source(folder / "x.parquet").columns == ("a",)


def test_like_gives_back_the_kind_that_was_given(tmp_path: Path):
    result = pl.DataFrame({"a": ["x", None]})
    types = {
        "polars": pl.DataFrame,
        "lazy": pl.DataFrame,
        "pandas": pd.DataFrame,
        "pyarrow": pa.Table,
        "parquet": pl.DataFrame,
    }
    for kind, wanted in types.items():
        back = like(given(kind, tmp_path), result)
        assert type(back) is wanted
        assert pl.DataFrame(back)["a"].to_list() == ["x", None]


@pytest.mark.parametrize("kind", ["polars", "pandas", "pyarrow"])
def test_like_forgets_categories_without_rows(tmp_path: Path, kind: str):
    result = pl.DataFrame({"a": pl.Series(["x"], dtype=pl.Enum(["x", "secret"]))})
    back = like(given(kind, tmp_path), result)
    assert pl.DataFrame(back).schema == {"a": pl.String}


def test_frames_are_recognised_without_importing_their_library():
    class DataFrame:
        pass

    assert frame_kind(DataFrame()) is None
    DataFrame.__module__ = "pandas.core.frame"
    assert frame_kind(DataFrame()) == "pandas"
    assert frame_kind("x.csv") is None
    assert "pandas" in sys.modules  # only because this test file uses it


def test_repeats_are_how_often_values_occur():
    values = np.random.default_rng(5).integers(0, 40, 200).tolist() + [None] * 7 + list(range(1000, 1010))
    times = Counter(Counter(values).values())
    assert open_source(pl.DataFrame({"x": values})).repeats(["x"]) == dict(sorted(times.items()))
