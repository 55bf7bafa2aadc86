"""Files that are empty, cut off, of another kind, or changed in places: always a code and a fix, never a crash."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import polars as pl
import pytest

from tarnkappe.errors import TarnkappeError
from tarnkappe.io import TableWriter, excelfile, open_source

KINDS = ("csv", "parquet", "xlsx", "arrow", "jsonl", "xml", "sav", "dta")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same table as every kind of file."""
    folder = tmp_path_factory.mktemp("whole")
    table = pl.DataFrame({"age": [30, 41, None, 29] * 30, "town": ["Köln", "Łódź", 'a;b"c', ""] * 30})
    for kind in KINDS:
        with TableWriter(folder / f"table.{kind}", kind) as writer:
            writer.write(table)
    return folder


def refused(path: Path) -> str | None:
    """The code with which a file is refused, which comes with a fix; None if it can be read."""
    try:
        with open_source(path) as source:
            source.cells(source.columns)
            assert len(source.sha256) == 64
    except TarnkappeError as error:
        return error.code if error.hint else "no fix"
    return None


BEYOND = [pl.Series("day", [0, day], dtype=pl.Date) for day in (10**8, -(10**8), 2_932_897, -719_163)]
BEYOND += [pl.Series("day", [0, 10**18], dtype=pl.Datetime(unit)) for unit in ("ms", "us")]


@pytest.mark.parametrize("series", BEYOND)
@pytest.mark.parametrize("kind", ["parquet", "arrow", "folder", "frame"])
def test_dates_that_no_calendar_has_are_refused(kind: str, series: pl.Series, tmp_path: Path, capfd):
    table = series.to_frame().with_columns(age=pl.lit(30))
    (tmp_path / "folder").mkdir()
    path = tmp_path / "folder" / "part-0.parquet" if kind == "folder" else tmp_path / f"t.{kind}"
    getattr(table, "write_ipc" if kind == "arrow" else "write_parquet")(path)
    with open_source(table if kind == "frame" else path.parent if kind == "folder" else path) as source:
        assert source.read(["age"]).height == 2
        for look in (source.read, source.scan, source.cells, source.n_distinct):
            with pytest.raises(TarnkappeError, match=r"E406.*'day' has dates before the year 1"):
                look(["day"])
    assert capfd.readouterr().err == ""


def test_the_first_and_the_last_day_are_days():
    days = pl.Series("day", [-719_162, 2_932_896, None], dtype=pl.Date)
    with open_source(pl.DataFrame([days, days.cast(pl.Datetime("us")).alias("moment")])) as source:
        assert source.read(["day", "moment"])["moment"].to_list() == days.cast(pl.Datetime("us")).to_list()


@pytest.mark.parametrize("kind", KINDS)
def test_files_that_are_no_such_files_get_a_code_and_a_fix(whole: Path, tmp_path: Path, kind: str):
    path, content = tmp_path / f"table.{kind}", (whole / f"table.{kind}").read_bytes()
    path.write_bytes(b"")
    assert refused(path) not in (None, "no fix")
    for other in KINDS:
        if other not in (kind, "jsonl", "xml") or kind != "csv":  # any text may be a CSV file
            path.write_bytes((whole / f"table.{other}").read_bytes())
            assert (refused(path) is None) == (other == kind)
    path.write_bytes(content[: len(content) // 2 + 3])
    assert refused(path) or kind == "csv"
    chance = random.Random(5)
    for _ in range(12):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        path.write_bytes(changed)
        assert refused(path) != "no fix"  # what is not one of our errors is raised


def test_a_workbook_that_unpacks_to_far_too_much_is_refused_before_it_does(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(excelfile, "_UNPACKED", 1 << 20)
    bomb = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(whole / "table.xlsx") as book, zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as out:
        for name in book.namelist():
            more = b" " * (9 << 20) if name.endswith("sheet1.xml") else b""
            out.writestr(name, book.read(name).replace(b"<sheetData>", b"<sheetData>" + more))
    with pytest.raises(TarnkappeError, match="would unpack to"):
        open_source(bomb)
    with zipfile.ZipFile(bomb) as book:
        size = next(part.file_size for part in book.infolist() if part.filename.endswith("sheet1.xml"))
    lying = bomb.read_bytes().replace(size.to_bytes(4, "little"), (999).to_bytes(4, "little"))
    bomb.write_bytes(lying)  # it says that the part is small
    assert refused(bomb) == "E408"


@pytest.mark.parametrize("what", ['<!ENTITY a "aaaa">', '<!ENTITY x SYSTEM "file:///etc/passwd">'])
def test_entities_of_xml_are_refused(tmp_path: Path, what: str):
    path = tmp_path / "table.xml"
    path.write_text(f'<?xml version="1.0"?><!DOCTYPE t [{what}]><t><r><v>&{what[9]};</v></r><r><v>1</v></r></t>')
    assert refused(path) == "E470"


def test_a_key_of_several_kinds_is_not_only_called_damage(tmp_path: Path):
    path = tmp_path / "table.jsonl"
    path.write_text('{"n": 1}\n{"n": true}\n')
    with pytest.raises(TarnkappeError, match="a key has values of several kinds") as caught:
        open_source(path)
    assert caught.value.code == "E470"
