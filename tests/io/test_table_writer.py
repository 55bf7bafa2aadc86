"""Tables are written batch by batch, read back equal, and hold nothing but their rows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tarnkappe.errors import DataError, JobError, LimitError, RefusedError
from tarnkappe.io import CsvDialect, Format, Staging, TableWriter, open_source
from tarnkappe.io import parquetfile as parquet_module
from tarnkappe.io.folders import MANIFEST, PUBLIC

FRAME = pl.DataFrame(
    {
        "text": ["a,b", 'say "x"', None, "", "two\nlines", "=1+1"],
        "n": [1, 2, None, 4, 5, 6],
        "x": [1.5, None, 3.0, 0.1, -2.0, 1e-7],
        "cat": pl.Series(["u", "v", None, "u", "v", "u"], dtype=pl.Categorical),
        "enum": pl.Series(["u", "v", None, "u", "v", "u"], dtype=pl.Enum(["w", "v", "u"])),
    }
)


def test_csv_bytes(tmp_path: Path):
    path = tmp_path / "x.csv"
    with TableWriter(path, "csv", CsvDialect(delimiter=";", decimal=",", encoding="cp1252"), missing="NA") as writer:
        writer.write(FRAME.head(2))
        writer.write(FRAME.slice(2, 2))
        writer.write(pl.DataFrame({"text": ["Köln"], "n": [1], "x": [2.5], "cat": ["x"], "enum": ["y"]}))
    assert path.read_bytes().decode() == (
        'text;n;x;cat;enum\na,b;1;1,5;u;u\n"say ""x""";2;NA;v;v\nNA;NA;3,0;NA;NA\n"";4;0,1;u;u\nKöln;1;2,5;x;y\n'
    )
    assert writer.dialect.describe() == "utf-8, semicolon, decimal comma"


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.uint64()])
def test_categories_of_any_width(tmp_path: Path, kind: pa.DataType):
    codes = pa.array([2, 0, None, 2], kind)
    table = pa.table({"cat": pa.DictionaryArray.from_arrays(codes, ["a", "unused", "c"])})
    with TableWriter(tmp_path / "x.parquet", "parquet") as writer:
        writer.write(table)
    assert pl.read_parquet(tmp_path / "x.parquet")["cat"].to_list() == ["c", "a", None, "c"]
    assert b"unused" not in (tmp_path / "x.parquet").read_bytes()


@pytest.mark.parametrize("as_arrow", [False, True])
def test_csv_comes_back(tmp_path: Path, as_arrow: bool):
    path = tmp_path / "x.csv"
    with TableWriter(path, "csv", missing="?") as writer:
        for part in (FRAME.head(2), FRAME.slice(2)):
            writer.write(part.to_arrow() if as_arrow else part)
    source = open_source(path, writer.dialect, missing=("?",))
    read = source.read(source.columns)
    for column in ("text", "cat", "enum"):
        assert read[column].to_list() == FRAME[column].cast(pl.String).to_list()
    for column in ("n", "x"):
        assert source.numeric(read[column]).to_list() == FRAME[column].to_list()


@pytest.mark.parametrize("as_arrow", [False, True])
@pytest.mark.parametrize("row_group", [1, 3, 1000])
def test_parquet_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_arrow: bool, row_group: int):
    monkeypatch.setattr(parquet_module, "ROW_GROUP", row_group)
    path = tmp_path / "x.parquet"
    with TableWriter(path, "parquet") as writer:
        for part in (FRAME.head(2), FRAME.slice(2, 0), FRAME.slice(2, 3), FRAME.tail(1)):
            writer.write(part.to_arrow() if as_arrow else part)
    read = pl.read_parquet(path)
    assert read.equals(FRAME.with_columns(pl.col("cat", "enum").cast(pl.String)))
    assert read.schema == {"text": pl.String, "n": pl.Int64, "x": pl.Float64, "cat": pl.String, "enum": pl.String}


def test_parquet_is_compressed_and_dictionary_encoded(tmp_path: Path):
    path = tmp_path / "x.parquet"
    with TableWriter(path, "parquet") as writer:
        writer.write(FRAME)
    group = pq.ParquetFile(path).metadata.row_group(0)
    for i, column in enumerate(FRAME.columns):
        assert group.column(i).compression == "ZSTD"
        if column in ("text", "cat", "enum"):
            assert group.column(i).has_dictionary_page


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_no_value_without_a_row_reaches_the_file(tmp_path: Path, kind: Format):
    hidden = pl.Enum(["hidden-person", "[20 29]", "[30 39]"])
    polars = pl.DataFrame({"age": pl.Series(["[20 29]", None, "[30 39]"], dtype=hidden)})
    arrow = pa.table(
        {"age": pa.DictionaryArray.from_arrays(pa.array([1, None, 2]), ["hidden-person", "[20 29]", "[30 39]"])}
    ).replace_schema_metadata({"note": "hidden-person"})
    sliced = pl.DataFrame({"age": pl.Series(["hidden-person", "[20 29]"], dtype=pl.Categorical)}).tail(1)
    path = tmp_path / "out"
    for batch in (polars, arrow, sliced):
        with TableWriter(path, kind) as writer:
            writer.write(batch)
        assert b"hidden-person" not in path.read_bytes()
        assert b"[20 29]" in path.read_bytes()


def test_batches_with_different_categories(tmp_path: Path):
    path = tmp_path / "x.parquet"
    with TableWriter(path, "parquet") as writer:
        for values in (["a", "b"], ["c"], [None], ["b", "a", "d"]):
            array = pa.array(values, pa.string()).dictionary_encode()
            writer.write(pa.table({"x": array.cast(pa.dictionary(pa.int8(), pa.string()))}))
    assert pl.read_parquet(path)["x"].to_list() == ["a", "b", "c", None, "b", "a", "d"]


def test_categories_of_numbers(tmp_path: Path):
    path = tmp_path / "x.parquet"
    with TableWriter(path, "parquet") as writer:
        writer.write(pa.table({"x": pa.array([1.5, None, 1.5]).dictionary_encode()}))
    assert pl.read_parquet(path)["x"].to_list() == [1.5, None, 1.5]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_table_without_rows_has_its_columns(tmp_path: Path, kind: Format):
    path = tmp_path / "out"
    with TableWriter(path, kind) as writer:
        writer.write(FRAME.head(0))
    read = pl.read_csv(path) if kind == "csv" else pl.read_parquet(path)
    assert (read.columns, read.height) == (FRAME.columns, 0)


def test_other_columns_in_a_later_batch_are_refused(tmp_path: Path):
    with TableWriter(tmp_path / "x", "csv") as writer:
        writer.write(pl.DataFrame({"a": [1]}))
        with pytest.raises(ValueError, match="columns"):
            writer.write(pl.DataFrame({"b": [1]}))


@pytest.mark.parametrize("values", [[[1]], [{"x": 1}], [b"1"]])
def test_what_csv_cannot_hold(tmp_path: Path, values: list[object]):
    with pytest.raises(DataError) as caught, TableWriter(tmp_path / "x", "csv") as writer:
        writer.write(pl.DataFrame({"a": values}))
    assert caught.value.code == "E408"


def test_unknown_format(tmp_path: Path):
    with pytest.raises(JobError):
        TableWriter(tmp_path / "x", "docx")  # type: ignore[arg-type]
    assert not (tmp_path / "x").exists()


def test_folder_that_is_missing(tmp_path: Path):
    with pytest.raises(RefusedError) as caught:
        TableWriter(tmp_path / "no" / "x.csv", "csv")
    assert caught.value.code == "E603"


def test_close_twice(tmp_path: Path):
    writer = TableWriter(tmp_path / "x.csv", "csv")
    writer.write(FRAME)
    writer.close()
    writer.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_full_disk_leaves_nothing(small_disk: Path, kind: Format):
    numbers = np.random.default_rng(0).integers(0, 10**15, 400_000)
    frame = pl.DataFrame({"a": [str(n) for n in numbers]})
    with Staging(small_disk / "out") as stage:
        stage.path(f"{PUBLIC}/{MANIFEST}").write_text('{"tarnkappe": "old"}')
    with (
        pytest.raises(LimitError) as caught,
        Staging(small_disk / "out", overwrite=True) as stage,
        TableWriter(stage.path("x"), kind) as writer,
    ):
        writer.write(frame)
    assert caught.value.code == "E701"
    assert [p.name for p in small_disk.iterdir()] == ["out"]
    assert [p for p in (small_disk / "out").rglob("*") if p.is_file()] == [small_disk / "out" / PUBLIC / MANIFEST]


def test_full_disk_met_by_polars_itself(small_disk: Path):
    frame = pl.DataFrame({"a": [str(n) for n in np.random.default_rng(0).integers(0, 10**15, 400_000)]})
    with pytest.raises(LimitError) as caught, Staging(small_disk / "out") as stage:
        frame.write_parquet(stage.path("x.parquet"))
    assert caught.value.code == "E701"
    assert list(small_disk.iterdir()) == []


def test_full_disk_while_copying_to_utf8(small_disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    path = tmp_path / "x.csv"
    path.write_bytes("a,b\nKöln,1\n".encode("cp1252") * 300_000)
    with pytest.raises(LimitError) as caught:
        open_source(path)
    assert caught.value.code == "E701"
    assert list(small_disk.iterdir()) == []


def test_numbers_that_go_up_are_stored_by_their_steps(tmp_path: Path):
    """Whoever reads the file finds the same numbers, also where later ones go down."""
    group = np.repeat(np.arange(1, 201, dtype=np.int32), 5)
    other = np.arange(1000)[::-1].copy()
    batch = pl.DataFrame({"group": group, "other": other, "same": np.zeros(1000, np.int64)})
    with TableWriter(tmp_path / "t.parquet", "parquet") as writer:
        writer.write(batch)
        writer.write(batch)
    kinds = pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0)
    encodings = {kinds.column(j).path_in_schema: kinds.column(j).encodings for j in range(3)}
    assert "DELTA_BINARY_PACKED" in encodings["group"]
    assert all("RLE_DICTIONARY" in encodings[name] for name in ("other", "same"))
    assert pl.read_parquet(tmp_path / "t.parquet").equals(pl.concat([batch, batch]))
    assert pq.read_table(tmp_path / "t.parquet")["group"].to_pylist() == [*group, *group]
