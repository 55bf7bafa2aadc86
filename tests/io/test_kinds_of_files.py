"""Packed files, files without a header and spreadsheets are tables like any other."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest

import tarnkappe as tk
from tarnkappe.errors import DataError
from tarnkappe.io import CsvDialect, TableWriter, open_source
from tarnkappe.io.reading import Reading
from tarnkappe.job.model import replace_job
from tarnkappe.job.places import DataSettings
from tarnkappe.pipeline import run_job

ROWS = [(str(20 + i % 9), "mf"[i % 2], ["flu", "cold", "gout"][i % 3]) for i in range(36)]
BODY = "".join(",".join(row) + "\n" for row in ROWS)
TEXT = "age,sex,illness\n" + BODY

JOB = tk.Job(
    quasi={"age": tk.numeric(), "sex": tk.suppress()}, sensitive=["illness"], criteria=[tk.KAnonymity(3)], seed=1
)


def packed(path: Path, text: str, packing: str) -> Path:
    with pa.output_stream(str(path), compression=packing) as file:
        file.write(text.encode())
    return path


@pytest.mark.parametrize(("name", "packing"), [("c.csv.gz", "gzip"), ("c.csv.zst", "zstd"), ("c.csv", "gzip")])
@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_packed_csv_gives_the_release_of_what_is_in_it(name: str, packing: str, engine: str, tmp_path: Path):
    (tmp_path / "plain.csv").write_text(TEXT)
    wanted = run_job(JOB, tmp_path / "plain.csv", tmp_path / "plain")
    job = tk.Job(columns=JOB.columns, criteria=JOB.goal.criteria, seed=1, engine=engine)
    release = run_job(job, packed(tmp_path / name, TEXT, packing), tmp_path / "out")
    assert release.public_manifest["file"] == "c.csv"
    written = [pl.read_csv(tmp_path / out / "public" / f) for out, f in (("plain", "plain.csv"), ("out", "c.csv"))]
    assert written[0].sort(pl.all()).equals(written[1].sort(pl.all()))
    assert release.n_groups == wanted.n_groups


def test_packed_tabs_and_concatenated_parts(tmp_path: Path):
    (tmp_path / "t.tsv.gz").write_bytes(gzip.compress(b"age\tsex\n") + gzip.compress(b"34\tm\n35\tf\n"))
    with open_source(tmp_path / "t.tsv.gz") as source:
        assert source.description == "t.tsv.gz · 2 rows · 2 columns · utf-8, tab"


@pytest.mark.parametrize("packing", ["gzip", "zstd"])
def test_a_packed_file_that_was_cut_off_is_named(packing: str, tmp_path: Path):
    path = packed(tmp_path / "c.csv.gz", TEXT * 50, packing)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DataError, match="cannot be unpacked") as caught:
        open_source(path)
    assert caught.value.code == "E401"


def test_columns_of_a_file_without_header_are_called_by_number(tmp_path: Path):
    (tmp_path / "c.csv").write_text(BODY)
    for dialect in (None, CsvDialect(header=False)):
        with open_source(tmp_path / "c.csv", dialect) as source:
            assert source.columns == ("1", "2", "3")
            assert source.n_rows == 36
            assert source.read(source.columns).rows() == ROWS
            assert source.line_of(1) == 1
            assert source.line_of(36) == 36
            assert "no header" in source.description
    with open_source(tmp_path / "c.csv", CsvDialect(header=True)) as source:
        assert source.n_rows == 35
    job = tk.Job(quasi={"1": tk.numeric(), "2": tk.suppress()}, sensitive=["3"], criteria=[tk.KAnonymity(3)])
    release = run_job(job, tmp_path / "c.csv", tmp_path / "out")
    assert release.n_published == 36
    assert (tmp_path / "out" / "public" / "c.csv").read_text().startswith("1,2,3\n")


def test_a_job_file_names_columns_by_number_without_quotes(tmp_path: Path):
    (tmp_path / "c.csv").write_text(BODY)
    (tmp_path / "c.yaml").write_text(
        "data: {path: c.csv, header: false}\n"
        "columns: {1: {role: quasi, type: numeric}, 2: {role: quasi, taxonomy: suppress}, 3: sensitive}\n"
        "criteria: [l-diversity: {column: 3, l: 2}]\n"
    )
    job = tk.Job.from_yaml(tmp_path / "c.yaml")
    assert job.anonymize(tmp_path / "c.csv").verdicts[0].column == "3"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "country,2019,2020\nKenya,1.5,2\nPeru,3,4\n",
        "name,id\nm,m\nm,f\n",
        "a\n1\n2\n",
        "0,1,2\n5,6,7\n8,9,1\n",
        "x,y\nx,1\nz,2\n",
    ],
)
def test_a_header_is_not_taken_for_a_record(text: str, tmp_path: Path):
    (tmp_path / "c.csv").write_text(text)
    with open_source(tmp_path / "c.csv") as source:
        assert list(source.columns) == text.splitlines()[0].split(",")


def test_a_row_of_another_length_is_told_apart_from_the_first_line(tmp_path: Path):
    (tmp_path / "c.csv").write_text(BODY + "34,m\n")
    with pytest.raises(DataError, match=r"line 37 of 'c.csv' has 2 fields, the first line has 3"):
        open_source(tmp_path / "c.csv", CsvDialect(header=False))


def test_a_sheet_is_a_table(tmp_path: Path):
    frame = pl.read_csv(TEXT.encode())
    frame.write_excel(tmp_path / "c.xlsx")
    with open_source(tmp_path / "c.xlsx") as source:
        assert source.description == "c.xlsx · 36 rows · 3 columns · excel"
        assert source.read(source.columns).equals(frame)
    release = run_job(JOB, tmp_path / "c.xlsx", tmp_path / "out")
    assert release.public_manifest["file"] == "c.xlsx"
    assert release.n_published == 36


@pytest.mark.parametrize("filter_", [None, "age >= 0"])
def test_the_sheet_of_a_release_is_called_like_that_of_the_data(filter_: str | None, tmp_path: Path):
    import fastexcel

    pl.read_csv(TEXT.encode()).write_excel(tmp_path / "c.xlsx", worksheet="Patienten 2024")
    job = replace_job(JOB, data=DataSettings(dialect=Reading(filter=filter_)))
    run_job(job, tmp_path / "c.xlsx", tmp_path / "out")
    assert fastexcel.read_excel(tmp_path / "out/public/c.xlsx").sheet_names == ["Patienten 2024"]


@pytest.mark.parametrize("name", [None, "a/b", "x" * 32, "History", "'a", "", "a:b"])
def test_a_sheet_whose_name_excel_does_not_take_is_called_data(name: str | None, tmp_path: Path):
    """Sheets of other programs may have such names."""
    import fastexcel

    with TableWriter(tmp_path / "c.xlsx", "xlsx", Reading(known_sheet=name)) as writer:
        writer.write(pl.DataFrame({"a": [1]}))
    assert fastexcel.read_excel(tmp_path / "c.xlsx").sheet_names == ["data"]


def test_a_workbook_of_several_sheets_or_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "two.xlsx") as book:
        pl.DataFrame({"a": [1]}).write_excel(book, "one")
        pl.DataFrame({"a": [1]}).write_excel(book, "two")
    with pytest.raises(DataError, match="has 2 sheets"):
        open_source(tmp_path / "two.xlsx")
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(DataError, match="not an Excel file"):
        open_source(tmp_path / "bad.xlsx")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match="not installed") as caught:
        open_source(tmp_path / "two.xlsx")
    assert "tarnkappe[excel]" in str(caught.value.hint)
