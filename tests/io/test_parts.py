"""Folders of parts are tables."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

from tarnkappe.errors import DataError
from tarnkappe.io import CsvDialect, open_source


def write(folder: Path, *parts: str) -> Path:
    folder.mkdir()
    for i, text in enumerate(parts):
        (folder / f"part-0000{i}.csv").write_text(text)
    (folder / "_SUCCESS").write_text("")
    return folder


def test_the_rows_of_all_parts(tmp_path: Path):
    folder = write(tmp_path / "people.csv", "age;city\n3,5;a\n", "age;city\n;b\n7;\n")
    with open_source(folder, CsvDialect(delimiter=";", decimal=",")) as source:
        assert source.description == "people.csv · 3 rows · 2 columns · utf-8, semicolon, decimal comma, 2 parts"
        assert source.read(["city", "age"]).rows() == [("a", "3,5"), ("b", None), (None, "7")]
        assert source.numeric(source.read(["age"])["age"]).to_list() == [3.5, None, 7.0]
        cells = source.cells(["city"])
        assert sorted(
            zip(cells.column("city").cast(pl.String).to_list(), cells.count.tolist(), strict=True), key=str
        ) == [
            ("a", 1),
            ("b", 1),
            (None, 1),
        ]
        names = sorted(p for p in folder.iterdir() if p.name.startswith("part"))
        lines = "".join(f"{hashlib.sha256(p.read_bytes()).hexdigest()}  {p.name}\n" for p in names)
        assert source.sha256 == hashlib.sha256(lines.encode()).hexdigest()


def test_parquet_parts_and_the_digest_of_a_single_part(tmp_path: Path):
    folder = tmp_path / "x.parquet"
    folder.mkdir()
    pl.DataFrame({"a": [1, 2]}).write_parquet(folder / "part-0.parquet")
    with open_source(folder) as source:
        assert source.read(["a"])["a"].to_list() == [1, 2]
        assert source.sha256 == hashlib.sha256((folder / "part-0.parquet").read_bytes()).hexdigest()


def test_parts_must_have_the_same_columns(tmp_path: Path):
    with pytest.raises(DataError, match="other columns"):
        open_source(write(tmp_path / "people.csv", "a,b\n1,2\n", "a,c\n1,2\n"))


def test_other_folders_are_no_tables(tmp_path: Path):
    (tmp_path / "data.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match="is a folder"):
        open_source(tmp_path)
