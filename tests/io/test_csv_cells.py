"""The swift count of a CSV file agrees with that of Polars, whatever the file looks like."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.errors import DataError
from tarnkappe.io import Cells, CsvDialect, RowCounter, Source, count_rows, csvcells, csvfile, csvparts, open_source
from tarnkappe.io.coded import read_coded
from tarnkappe.io.csvfile import CsvSource
from tarnkappe.kernels.io.csvscan import count_records


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch):
    """Everything is divided as if it were large."""
    monkeypatch.setattr(csvfile, "_LARGE", 0)
    for name, value in {"PART": 64, "_TOLD": 3, "_BEYOND": 4, "_TEXTS": 4}.items():
        monkeypatch.setattr(csvparts, name, value)
    for name, value in {"_WAITING": 8, "_SLOTS": 2048}.items():
        monkeypatch.setattr(csvcells, name, value)


def tallied(cells: Cells) -> Counter[tuple[str | None, ...]]:
    frame = cells.frame().cast(pl.String)
    assert frame.n_unique() == frame.height, "every row once"
    return Counter(dict(zip(frame.rows(), cells.count.tolist(), strict=True)))


def agree(source: Source, columns: list[str]) -> Cells:
    """Count both ways, and make sure that the swift way was taken."""
    assert source.counted(columns) is not None
    swift, slow = RowCounter(source, columns, swift=True), RowCounter(source, columns)
    assert tallied(swift.cells) == tallied(slow.cells)
    for name, values, expected in zip(swift.cells.names, swift.cells.values, slow.cells.values, strict=True):
        assert values.name == name
        assert values[0] is None
        assert set(values) == set(expected)
        assert len(values) == len(expected)
    return swift.cells


def codes_agree(source: Source, columns: list[str]) -> None:
    """Read columns as codes, and make sure that the swift way was taken and says what Polars reads."""
    assert source.numbered(columns) is not None
    coded, others = read_coded(source, columns, columns)
    read = source.read(columns)
    assert others.width == 0
    for name in columns:
        code = coded[name].each(np.arange(len(coded[name].values)))
        assert coded[name].values.gather(code).to_list() == read[name].to_list()
        assert coded[name].texts().cast(pl.String).to_list() == read[name].to_list()
        assert coded[name].values[1:].to_list() == sorted(read[name].drop_nulls().unique())
        assert coded[name].counts.tolist() == np.bincount(code, minlength=len(coded[name].values)).tolist()


TEXT = st.text(st.characters(codec="utf-8", exclude_characters=',;\t|"\r\n', exclude_categories=["Cs"]), max_size=20)
FEW = st.sampled_from(
    ["", "a", "b", "?", "ä", "\r", "a\r", "abcdefgh", "abcdefghi", "abcdefghj", "x" * 254, "x" * 255, "x" * 256]
)


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, int]:
    """The bytes of a file and its number of columns."""
    n_columns = draw(st.integers(1, 7))
    field = draw(st.sampled_from([FEW, TEXT, st.integers(0, 300).map(str)]))
    rows = draw(st.lists(st.lists(field, min_size=n_columns, max_size=n_columns), min_size=1, max_size=40))
    delimiter = draw(st.sampled_from(",;\t|"))
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [delimiter.join([f"c{j}" for j in range(n_columns)]), *(delimiter.join(row) for row in rows)]
    last = lines[-1] == "" or draw(st.booleans())  # without it, an empty last line would not be a record
    return (eol.join(lines) + (eol if last else "")).encode(), n_columns


@settings(max_examples=examples(150))
@given(files(), st.data())
def test_agrees_with_polars(tmp_path_factory: pytest.TempPathFactory, file: tuple[bytes, int], data: st.DataObject):
    content, n_columns = file
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_bytes(content)
    delimiter = next((chr(b) for b in content if chr(b) in ",;\t|"), ",")
    missing = data.draw(st.sampled_from([("",), ("", "?"), ("?", "a"), ()]))
    dialect = CsvDialect(delimiter=delimiter, quote="none", encoding="utf-8")
    columns = data.draw(st.lists(st.sampled_from([f"c{j}" for j in range(n_columns)]), min_size=1, unique=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvparts, "PART", data.draw(st.sampled_from([1, 7, 64, 1 << 20])))
        try:
            source = open_source(path, dialect=dialect, missing=missing)
        except DataError:
            return  # nothing to count, for either
        agree(source, columns)
        codes_agree(source, columns)


def written(path: Path, columns: dict[str, list[str]]) -> Source:
    pl.DataFrame(columns).write_csv(path, quote_style="never")
    return open_source(path)


def test_tables_grow_and_numbers_need_more_bits(tmp_path: Path):
    rng = np.random.default_rng(1)
    n = 20_000
    columns = {
        "person": [str(i) for i in rng.permutation(n)],
        "long": [f"a rather long text with number {i}" for i in rng.integers(0, 3000, n)],
        "short": rng.integers(0, 5, n).astype(str).tolist(),
    }
    path = tmp_path / "t.csv"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csvparts, "PART", 10_000)
        cells = agree(written(path, columns), ["person", "long", "short"])
        codes_agree(open_source(path), ["person", "long", "short"])
        agree(open_source(path), ["short", "long"])
    assert len(cells.count) == n


def test_many_columns_take_several_words(tmp_path: Path):
    rng = np.random.default_rng(2)
    agree(
        written(tmp_path / "t.csv", {f"c{j}": rng.integers(0, 9, 500).astype(str).tolist() for j in range(40)}), ["c0"]
    )
    source = open_source(tmp_path / "t.csv")
    assert len(agree(source, list(source.columns)).count) > 1
    codes_agree(source, list(source.columns))


def test_very_long_fields(tmp_path: Path):
    texts = ["x" * 1000, "x" * 999 + "y", "", "x" * 70_000, "x" * 69_999 + "z", "y"]
    agree(written(tmp_path / "t.csv", {"a": texts * 3, "b": (texts * 3)[::-1]}), ["b", "a"])


def test_values_in_the_order_of_their_appearance_and_rows_in_theirs(tmp_path: Path):
    rng = np.random.default_rng(3)
    columns = {"a": rng.integers(0, 200, 3000).astype(str).tolist(), "b": rng.choice(["x", "y"], 3000).tolist()}
    cells = count_rows(written(tmp_path / "t.csv", columns), ["a", "b"], swift=True)
    for values, given_ in zip(cells.values, columns.values(), strict=True):
        assert values.to_list() == [None, *dict.fromkeys(given_)]
    assert cells.codes.tolist() == sorted(cells.codes.tolist())


def test_stray_quotes_are_text(tmp_path: Path):
    (tmp_path / "t.csv").write_text('a,b\n5" pipe,1\n6" pipe,1\n5" pipe,1\n')
    cells = agree(open_source(tmp_path / "t.csv"), ["a"])
    assert tallied(cells) == {('5" pipe',): 2, ('6" pipe',): 1}


@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n"x",1\n"y",2\n',  # quoted fields
        b"a,b\nx,1\ny,2\n\n\n",  # blank lines at the end
        b"a,b\rx,1\ry,2\r",  # lines that end with a return alone
    ],
)
def test_what_is_not_plain_is_left_to_polars(tmp_path: Path, content: bytes):
    (tmp_path / "t.csv").write_bytes(content)
    source = open_source(tmp_path / "t.csv")
    assert source.counted(["a"]) is None
    assert source.numbered(["a"]) is None
    assert tallied(count_rows(source, ["a"], swift=True)) == {("x",): 1, ("y",): 1}


def test_small_files_are_left_to_polars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(csvfile, "_LARGE", 1000)
    assert written(tmp_path / "t.csv", {"a": ["1", "2"]}).counted(["a"]) is None


def test_other_encodings(tmp_path: Path):
    (tmp_path / "t.csv").write_bytes("ort;n\nKöln;1\nZürich;2\nKöln;3\n".encode("cp1252"))
    with open_source(tmp_path / "t.csv", dialect=CsvDialect(encoding="cp1252")) as source:
        assert tallied(agree(source, ["ort"])) == {("Köln",): 2, ("Zürich",): 1}


@pytest.mark.parametrize("further", [[], ["c"], ["a", "c"]])
@pytest.mark.parametrize("missing", [("",), ("", "?", "-"), ("x",)])
def test_rows_are_found_again(tmp_path: Path, further: list[str], missing: tuple[str, ...]):
    rng = np.random.default_rng(4)
    columns = {
        "a": rng.choice(["", "?", "-", "x", "y", "zebra crossing"], 400).tolist(),
        "b": rng.integers(0, 30, 400).astype(str).tolist(),
        "c": rng.integers(0, 1000, 400).astype(str).tolist(),
    }
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv", quote_style="never")
    source = open_source(tmp_path / "t.csv", missing=missing)
    assert source.counted(["b", "a"]) is not None
    counter = RowCounter(source, ["b", "a"], swift=True)
    expected = source.read(["b", "a", "c"])
    for _ in range(2):
        found = list(counter.again(further))
        rows = np.concatenate([row for row, _ in found])
        assert counter.cells.frame()[rows].cast(pl.String).rows() == expected.select("b", "a").rows()
        assert pl.concat([frame for _, frame in found]).rows() == expected.select(further).rows()


def test_progress(tmp_path: Path):
    source = written(tmp_path / "t.csv", {"a": [str(i % 7) for i in range(2000)]})
    told: list[tuple[int, int]] = []
    RowCounter(source, ["a"], lambda done, total: told.append((done, total)), swift=True)
    assert len(told) > 5
    assert told == sorted(told)
    assert told[-1] == (2000, 2000)
    assert {total for _, total in told} == {2000}


@pytest.mark.parametrize(
    "now",
    [
        b"a,b\n1,2\n3,4\n",  # shorter
        b"a,b\n1,2\n3,4\n5\n67,8\n",  # a record with too few fields
        b"a,b\n1,2,3,4\n5,6\n7\n\n",
        b"a,b\n1,2\n3,4\n\xff,6\n7,8\n",  # not UTF-8
    ],
)
def test_a_file_that_changed_is_not_counted(tmp_path: Path, now: bytes):
    source = written(tmp_path / "t.csv", {"a": ["1", "3", "5", "7"], "b": ["2", "4", "6", "8"]})
    (tmp_path / "t.csv").write_bytes(now)
    assert source.counted(["a", "b"]) is None
    assert source.numbered(["a", "b"]) is None


def test_a_file_that_is_gone_is_an_error(tmp_path: Path):
    source = written(tmp_path / "t.csv", {"a": ["1", "3"]})
    (tmp_path / "t.csv").unlink()
    with pytest.raises((DataError, FileNotFoundError)):
        count_rows(source, ["a"], swift=True)


def test_unknown_column(tmp_path: Path):
    with pytest.raises(DataError, match="has no column"):
        count_rows(written(tmp_path / "t.csv", {"a": ["1"]}), ["b"], swift=True)


FIELD = st.sampled_from(["", "a", "bc", '"x"', '"x,\n"', '"\n"', '"""\n"', 'a"', '"a"b', "\r"])
LINES = st.lists(st.lists(FIELD, min_size=1, max_size=3).map(",".join), max_size=12)


@settings(max_examples=examples(300))
@given(LINES, st.booleans(), st.sampled_from([-1, ord('"')]))
def test_two_threads_check_records_as_one_does(lines: list[str], last: bool, quote: int):
    data = np.frombuffer(("h,h\n" + "\n".join(lines) + "\n" * last).encode(), np.uint8)
    signs = (ord(","), quote, ord("\n"))
    found, expected = csvfile._count_records(data, 0, signs, 2), count_records(data, 0, *signs, 2)
    assert found[0] == expected[0]
    if expected[0] >= 0:
        assert found == expected


def test_the_same_whether_checked_in_halves_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "t.csv").write_text("a,b\n" + '"x\ny",1\n' * 100)
    halves = open_source(tmp_path / "t.csv")
    monkeypatch.setattr(csvfile, "_LARGE", 1 << 30)
    whole = open_source(tmp_path / "t.csv")
    assert isinstance(halves, CsvSource)
    assert halves.n_rows == whole.n_rows == 100
