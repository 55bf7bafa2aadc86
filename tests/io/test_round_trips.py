"""What is written in a format is read back as it was: types, labels, gaps and letters of any alphabet."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.errors import DataError
from tarnkappe.io import TableWriter, open_source
from tarnkappe.io.formats import WRITTEN
from tarnkappe.io.labels import Labels
from tarnkappe.io.reading import Reading
from tarnkappe.job.places import OutputSettings
from tarnkappe.pipeline import run_job

ODD = ["=1+1", "http://example.org", "007", "Größe 漢字 😀", "a\nb", "<b>&amp;\"'</b>", " padded ", "NA", "\\N"]
TABLE = pl.DataFrame(
    {
        "whole": [1, -5, None, 2**52, 0, 7, 8, 9, 10],
        "part": [1.5, None, -2.25, 1e300, 0.1, 5e-5, 1 / 3, 2.0, 3.0],
        "text": ODD,
        "gaps": [None, "x", None, "y", "z", "x", "x", None, "y"],
        "day": [dt.date(1900, 3, 1) if i % 2 else dt.date(2024, 2, 29) for i in range(8)] + [None],
        "moment": [dt.datetime(2024, 5, i + 1, 13, 45, 59) for i in range(8)] + [None],
        "truth": [True, False, None] * 3,
    }
)

#: Formats without types of their own for a column, and what it comes back as.
_AS_TEXT = {"csv": set(TABLE.columns), "xml": set(TABLE.columns), "jsonl": {"day", "moment"}}
#: SPSS and Stata keep truth values as 1 and 0.
_AS_NUMBERS = {"sav", "dta"}


def written(frame: pl.DataFrame, path: Path, format_: str, dialect: Reading | None = None) -> Path:
    with TableWriter(path, format_, dialect) as writer:  # type: ignore[arg-type]
        writer.write(frame[: frame.height // 2])
        writer.write(frame[frame.height // 2 :])
    return path


def table_for(format_: str) -> pl.DataFrame:
    """The table without what a format cannot hold: SPSS pads texts with blanks, so those at the end are lost to it."""
    return TABLE.with_columns(pl.col("text").str.strip_chars_end(" ")) if format_ == "sav" else TABLE


@pytest.mark.parametrize("format_", WRITTEN)
def test_values_types_and_gaps_come_back(format_: str, tmp_path: Path):
    table = table_for(format_)
    path = written(table, tmp_path / f"t.{format_}", format_)
    with open_source(path) as source:
        assert source.columns == tuple(table.columns)
        back = source.read(source.columns)
    textual = _AS_TEXT.get(format_, set())
    for name, dtype in table.schema.items():
        column = back[name]
        if name in textual and dtype != pl.String:
            if dtype == pl.Boolean:
                column = column.replace_strict({"true": True, "false": False}, default=None, return_dtype=pl.Boolean)
            elif dtype == pl.Date:
                column = column.str.to_date()
            elif dtype == pl.Datetime:
                column = column.str.to_datetime(time_unit="us")
            else:
                column = column.cast(dtype)
        elif name == "truth" and format_ in _AS_NUMBERS:
            column = column.cast(pl.Boolean)
        else:
            assert column.dtype.base_type() == dtype.base_type(), name
        assert column.cast(dtype).equals(table[name], null_equal=True), (name, column.to_list())


@pytest.mark.parametrize("format_", WRITTEN)
def test_numbers_come_back_to_the_last_digit(format_: str, tmp_path: Path):
    numbers = [0.1 + 2**-55, 0.1 + 0.2, 123456789.12345679, 1e22, -1 / 3, 5e-324, 1.7e307, 2.0**-40, None, 7.0]
    numbers += np.random.default_rng(1).normal(size=500).tolist()
    path = written(pl.DataFrame({"x": numbers, "y": "z"}), tmp_path / f"t.{format_}", format_)
    with open_source(path) as source:
        assert source.read(["x"])["x"].cast(pl.Float64).to_list() == numbers


TIMES = [dt.time(13, 45, 59, 500_000), dt.time(13, 45, 59), dt.time(0, 0, 0, 1_000)] * 6


@pytest.mark.parametrize("format_", ["csv", "parquet", "arrow", "jsonl", "xml", "sav", "dta", "xlsx", "sqlite"])
def test_times_of_the_day_keep_what_is_less_than_a_second(format_: str, tmp_path: Path):
    table = pl.DataFrame({"born": TIMES, "seen": TIMES, "sex": "m"}, schema_overrides={"born": pl.Time})
    written = f"sqlite:///{tmp_path}/out.db#t" if format_ == "sqlite" else tmp_path / "out" / "public" / f"t.{format_}"
    output = {"database": written} if format_ == "sqlite" else {"format": format_}
    job = tk.Job(
        quasi={"born": tk.value_set(), "sex": tk.suppress()},
        keep=["seen"],
        because={"seen": "nobody's, these are times of a test"},
        criteria=[tk.KAnonymity(6)],
        output=OutputSettings(**output),
    )
    table.write_parquet(tmp_path / "t.parquet")
    run_job(job, tmp_path / "t.parquet", tmp_path / "out", seed=1)
    with open_source(written) as source:
        assert set(source.read(["born"])["born"]) == {"13:45:59.500", "13:45:59", "00:00:00.001"}


@pytest.mark.parametrize("format_", WRITTEN)
def test_the_same_rows_are_the_same_bytes(format_: str, tmp_path: Path):
    one, other = (written(table_for(format_), tmp_path / f"{name}.{format_}", format_).read_bytes() for name in "ab")
    assert one == other


@pytest.mark.parametrize("engine", ["memory", "streaming"])
@pytest.mark.parametrize("format_", WRITTEN)
def test_a_release_is_written_in_the_format_of_its_input(format_: str, engine: str, tmp_path: Path):
    rows = [(20 + i % 9, "mf"[i % 2], ["flu", "cold", "gout"][i % 3], None if i % 7 else i / 4) for i in range(72)]
    table = pl.DataFrame(rows, schema=["age", "sex", "illness", "score"], orient="row")
    path = written(table, tmp_path / f"in.{format_}", format_)
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["illness"],
        keep=["score"],
        because={"score": "an internal figure, reviewed"},
        criteria=[tk.KAnonymity(4)],
        missing_rule="own-value",
        engine=engine,
        seed=1,
    )
    release = run_job(job, path, tmp_path / "out")
    assert release.public_manifest["file"] == f"in.{format_}"
    with open_source(tmp_path / "out" / "public" / f"in.{format_}") as source:
        found = source.read(source.columns)
    assert found.group_by("age", "sex").len()["len"].min() >= 4  # type: ignore[operator]
    score = found["score"].cast(pl.Float64)
    assert sorted(score.drop_nulls()) == sorted(table["score"].drop_nulls())
    checked = CliRunner().invoke(app, ["verify", str(tmp_path / "out")])
    assert checked.exit_code == 0, checked.output


def test_labels_of_columns_and_values_stay(tmp_path: Path):
    known = Labels({"sex": "Geschlecht", "q1": "Zufriedenheit"}, {"sex": {1: "männlich", 2: "weiblich", 9: "k. A."}})
    table = pl.DataFrame({"sex": [1, 2, 2, None], "q1": [5.0, 4.5, None, 1.0], "town": ["Köln", "Ulm", None, "Ulm"]})
    for format_ in ("sav", "dta"):
        path = written(table, tmp_path / f"s.{format_}", format_, Reading(known_labels=known))
        with open_source(path) as source:
            assert source.read(["sex"])["sex"].to_list() == [1, 2, 2, None]
            found = source.dialect.known_labels  # type: ignore[attr-defined]
        assert found.columns == known.columns
        assert found.values == {"sex": {1: "männlich", 2: "weiblich"}}  # nobody has 9, so nobody reads of it
        with open_source(path, Reading(labels=True)) as source:
            assert source.read(["sex"])["sex"].to_list() == ["männlich", "weiblich", "weiblich", None]


@pytest.mark.parametrize("format_", ["sav", "dta"])
def test_labels_reach_the_release(format_: str, tmp_path: Path):
    import pyreadstat

    frame = pl.DataFrame({"age": [20 + i % 5 for i in range(40)], "ward": [1 + i % 3 for i in range(40)]})
    write = pyreadstat.write_sav if format_ == "sav" else pyreadstat.write_dta
    labels = {"ward": {1: "Nord", 2: "Süd", 3: "West", 4: "Ost"}}
    write(frame, tmp_path / f"in.{format_}", column_labels={"ward": "Station"}, variable_value_labels=labels)
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["ward"], criteria=[tk.KAnonymity(4)], seed=1)
    run_job(job, tmp_path / f"in.{format_}", tmp_path / "out")
    read = pyreadstat.read_sav if format_ == "sav" else pyreadstat.read_dta
    _, meta = read(tmp_path / "out" / "public" / f"in.{format_}", output_format="polars")
    assert meta.column_names_to_labels["ward"] == "Station"
    assert meta.variable_value_labels == {"ward": {1: "Nord", 2: "Süd", 3: "West"}}


def test_missing_values_that_spss_declares(tmp_path: Path):
    import pyreadstat

    frame = pl.DataFrame({"income": [10.0, 99.0, 20.0, None]})
    pyreadstat.write_sav(frame, tmp_path / "m.sav", missing_ranges={"income": [99]})
    with open_source(tmp_path / "m.sav") as source:
        assert source.read(["income"])["income"].to_list() == [10, None, 20, None]


def test_sas_transport_files_are_read(tmp_path: Path):
    import pyreadstat

    frame = pl.DataFrame({"age": [34.0, None], "sex": ["m", ""]})
    pyreadstat.write_xport(frame, tmp_path / "x.xpt")
    with open_source(tmp_path / "x.xpt") as source:
        assert source.read(source.columns).rows() == [(34, "m"), (None, None)]


@pytest.mark.parametrize(("version", "kept"), [(5, 0.6), (8, 0.6), (8, 0.5)])
def test_a_sas_transport_file_that_was_cut_off_is_named(version: int, kept: float, tmp_path: Path):
    """Its reader would take what is left for the whole table."""
    import pyreadstat

    path = tmp_path / "x.xpt"
    pyreadstat.write_xport(pl.DataFrame({"age": list(range(500))}), path, file_format_version=version)
    with open_source(path) as source:
        assert source.n_rows == 500
    content = path.read_bytes()
    end = int(len(content) * kept)
    path.write_bytes(content[: end - end % 80] if kept == 0.5 else content[: end - end % 80 + 8])
    with pytest.raises(DataError) as caught:
        open_source(path)
    assert caught.value.code == "E470"


def test_a_sheet_by_its_name(tmp_path: Path):
    import xlsxwriter

    with xlsxwriter.Workbook(tmp_path / "b.xlsx") as book:
        pl.DataFrame({"a": [1]}).write_excel(book, "first")
        pl.DataFrame({"b": [2, 3]}).write_excel(book, "Zweites Blatt")
    with open_source(tmp_path / "b.xlsx", Reading(sheet="Zweites Blatt")) as source:
        assert source.read(["b"])["b"].to_list() == [2, 3]
    with pytest.raises(DataError, match="did you mean") as caught:
        open_source(tmp_path / "b.xlsx", Reading(sheet="Zweites Blat"))
    assert caught.value.code == "E471"


def _broken() -> list[tuple[str, bytes]]:
    return [
        (suffix, content) for suffix in _SUFFIXES for content in (b"", b"no such thing\n", b"PK\x03\x04" + b"\0" * 50)
    ]


_SUFFIXES = [".arrow", ".feather", ".jsonl", ".xlsx", ".sav", ".dta", ".sas7bdat", ".xpt", ".xml", ".dat"]


@pytest.mark.parametrize(("suffix", "content"), _broken())
def test_a_file_that_is_something_else_is_named(suffix: str, content: bytes, tmp_path: Path):
    (tmp_path / f"x{suffix}").write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / f"x{suffix}")
    assert caught.value.code in ("E402", "E404", "E408", "E470", "E472")
    assert caught.value.hint
    assert "such thing" not in str(caught.value)


@pytest.mark.parametrize("format_", [f for f in WRITTEN if f != "csv"])
def test_a_file_that_was_cut_off_is_named(format_: str, tmp_path: Path):
    path = written(table_for(format_), tmp_path / f"t.{format_}", format_)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.6)])
    with pytest.raises(DataError) as caught, open_source(path) as source:
        source.read(source.columns)
    assert caught.value.code in ("E401", "E408", "E470")


@pytest.mark.parametrize(("format_", "extra"), [("xlsx", "excel"), ("sav", "statistics"), ("dta", "statistics")])
def test_what_is_not_installed_says_how_to_install_it(
    format_: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(TABLE.select("whole", "truth", "part"), tmp_path / f"t.{format_}", format_)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match="not installed") as reading:
        open_source(path)
    assert f"pip install 'tarnkappe[{extra}]'" in str(reading.value.hint)
    assert "what reads and writes those" in str(reading.value)  # whichever of them is missing
    with pytest.raises(DataError, match="not installed"), TableWriter(tmp_path / "o", format_) as writer:  # type: ignore[arg-type]
        writer.write(TABLE.select("whole"))


@pytest.mark.parametrize("format_", WRITTEN)
def test_an_empty_column_is_read_without_a_word(
    format_: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
):
    path = written(pl.DataFrame({"age": [1, 2, 3], "empty": [None, None, None]}), tmp_path / f"t.{format_}", format_)
    with open_source(path) as source:
        assert source.read(["empty"])["empty"].null_count() == 3
    assert (caplog.messages, *capfd.readouterr()) == ([], "", "")


def test_what_a_format_cannot_hold(tmp_path: Path):
    cases: list[tuple[str, pl.DataFrame]] = [
        ("xlsx", pl.DataFrame({"n": [2**60]})),
        ("sav", pl.DataFrame({"n": [2**60]})),
        ("sav", pl.DataFrame({"salary-class": ["x"]})),
        ("dta", pl.DataFrame({"x" * 40: ["x"]})),
        ("xlsx", pl.DataFrame({"t": ["x" * 40_000]})),
        ("xml", pl.DataFrame({"t": ["a\x01b"]})),
        ("jsonl", pl.DataFrame({"n": [2**64 - 1]}, schema={"n": pl.UInt64})),
        *((format_, pl.DataFrame({"x": [1.0, float("inf")]})) for format_ in ("xlsx", "dta", "jsonl")),
        *((format_, pl.DataFrame({"t": ["a\0b"]})) for format_ in ("sav", "dta", "xml")),
        ("sav", pl.DataFrame({"t": ["a "]})),
        ("dta", pl.DataFrame({"t": ["x" * 40_000, None, "y" * 3_000]})),
        ("xlsx", pl.DataFrame({"t": ["\ufffe"]})),
        ("xlsx", pl.DataFrame({"n": [Decimal("123456789012345678901234.10")]})),
        *((format_, pl.DataFrame({"m": [dt.datetime(2024, 5, 1, 12, 0, 0, 123_456)]})) for format_ in ("xlsx", "sav")),
        ("dta", pl.DataFrame({"m": [1]}).select(pl.col("m").cast(pl.Datetime("ns")))),
        ("xlsx", pl.DataFrame({"x": [1e300, 2.0]})),
        ("xlsx", pl.DataFrame({"t": ["a", None, "b"]})),
        ("xlsx", pl.DataFrame({"h": [dt.time(23, 59, 59, 999_999)]})),
    ]
    for format_, frame in cases:
        with pytest.raises(DataError) as caught, TableWriter(tmp_path / "x", format_) as writer:  # type: ignore[arg-type]
            writer.write(frame)
        assert caught.value.code == "E475"


def test_xml_of_other_people(tmp_path: Path):
    head = '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    text = head + '<data><row age="34" town="K\xf6ln"/><row><age>35</age>\n</row></data>'
    (tmp_path / "x.xml").write_bytes(text.encode("latin-1"))
    with open_source(tmp_path / "x.xml") as source:
        assert source.read(source.columns).to_dicts() == [{"age": "34", "town": "Köln"}, {"age": "35", "town": None}]


BOMB = '<!DOCTYPE d [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;">]><d><r><x>&b;</x></r></d>'
OUTSIDE = '<!DOCTYPE d [<!ENTITY a SYSTEM "file:///etc/passwd">]><d><r><x>&a;</x></r></d>'


@pytest.mark.parametrize(
    "text", [BOMB, OUTSIDE, "<d><r><x><y>1</y></x></r></d>", "<d><r>text</r></d>", "<d><r><x>1</x><x>2</x></r></d>"]
)
def test_xml_that_is_refused(text: str, tmp_path: Path):
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(DataError) as caught:
        open_source(tmp_path / "x.xml")
    assert caught.value.code == "E470"
    assert "line 1" in caught.value.message


def test_names_that_are_no_names_of_xml(tmp_path: Path):
    frame = pl.DataFrame({"salary-class": ["x"], "3rd": ["y"], 'a "b" <c>': ["z"], "xmlns": ["w"], "name": ["v"]})
    path = written(frame, tmp_path / "x.xml", "xml")
    with open_source(path) as source:
        assert source.read(source.columns).equals(frame)
