"""CSV files are read as the text they hold, or refused with the place of the problem."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import random
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe.errors import DataError, TarnkappeError
from tarnkappe.io import CsvDialect, TableWriter, csvfile, open_source
from tarnkappe.io import transcode as transcode_module


def write(folder: Path, content: bytes, name: str = "x.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def rows(path: Path, dialect: CsvDialect | None = None, missing: tuple[str, ...] = ("",)) -> list[tuple[object, ...]]:
    with open_source(path, dialect, missing) as source:
        frame = source.read(source.columns)
        assert frame.height == source.n_rows
        assert frame.schema == dict.fromkeys(source.columns, pl.String)
        return frame.rows()


READABLE = {
    "plain": (b"a,b\n1,2\n3,4\n", [("1", "2"), ("3", "4")]),
    "no newline at the end": (b"a,b\n1,2\n3,4", [("1", "2"), ("3", "4")]),
    "windows": (b"a,b\r\n1,2\r\n3,4\r\n", [("1", "2"), ("3", "4")]),
    "windows with quotes": (b'a,b\r\n1,"2"\r\n3,"4"\r\n', [("1", "2"), ("3", "4")]),
    "old mac": (b"a,b\r1,2\r3,4\r", [("1", "2"), ("3", "4")]),
    "old mac with quotes": (b'a,b\r1,"2\rx"\r3,4', [("1", "2\rx"), ("3", "4")]),
    "a final blank line": (b"a,b\n1,2\n\n", [("1", "2")]),
    "many final blank lines": (b"a,b\r\n1,2\r\n\r\n\r\n\n", [("1", "2")]),
    "blank lines before the header": (b"\r\n\n\na,b\n1,2\n", [("1", "2")]),
    "mark": (b"\xef\xbb\xbfa,b\n1,2\n", [("1", "2")]),
    "mark and quotes": (b'\xef\xbb\xbf"a","b"\n1,2\n', [("1", "2")]),
    "mark and blank lines": (b"\xef\xbb\xbf\n\na,b\n1,2\n", [("1", "2")]),
    "newline in a field": (b'a,b\n1,"2\n\nx"\n3,4\n', [("1", "2\n\nx"), ("3", "4")]),
    "very long name": (b"a," + b"x" * 200_000 + b"\n1,2\n", [("1", "2")]),
    "carriage return in the header": (b"a\rb,c\n1,2\n", [("1", "2")]),
    "newline in the header": (b'a,"b\nc"\n1,2\n', [("1", "2")]),
    "doubled quotes": (b'a,b\n1,"say ""hi"""\n', [("1", 'say "hi"')]),
    "quotes as text": (b'a,b\n5" pipe,2\n6" pipe,"\n'.replace(b',"', b',x"'), [('5" pipe', "2"), ('6" pipe', 'x"')]),
    "balanced quotes as text among quoted fields": (b'a,b\nJoe "X" Doe,"1,2"\n', [('Joe "X" Doe', "1,2")]),
    "leading zeros": (b"zip,n\n00123,007\n", [("00123", "007")]),
    "spaces stay": (b"a,b\n x , y\n", [(" x ", " y")]),
    "missing": (b'a,b\n,""\n"",x\n', [(None, None), (None, "x")]),
    "only delimiters": (b"a,b\n,\n,\n", [(None, None), (None, None)]),
    "one column": (b"a\n1\n2\n", [("1",), ("2",)]),
    "one column, missing values": (b'a\n1\n\n""\n2\n', [("1",), (None,), (None,), ("2",)]),
    "one column, missing first": (b"a\n\n2\n", [(None,), ("2",)]),
    "zero bytes": (b"a,b\n\0,x\0y\n", [("\0", "x\0y")]),
    "looks like a comment": (b"#a,b\n#1,2\n", [("#1", "2")]),
    "formulas are data": (b"a,b\n=1+1,@x\n", [("=1+1", "@x")]),
    "cp1252": ("a;b\nKöln;5 €\n".encode("cp1252"), [("Köln", "5 €")]),
    "latin-1": (b"a;b\nK\xf6ln\x81;2\n", [("Köln\x81", "2")]),
    "utf-16": ("a,b\nKöln,x\n".encode("utf-16"), [("Köln", "x")]),
    "utf-16 without mark": ("a,b\nBonn,x\n".encode("utf-16-be"), [("Bonn", "x")]),
    "utf-32": ("a,b\nKöln,x\n".encode("utf-32"), [("Köln", "x")]),
}


@pytest.mark.parametrize(("content", "expected"), READABLE.values(), ids=READABLE.keys())
def test_readable(tmp_path: Path, content: bytes, expected: list[tuple[str | None, ...]]):
    assert rows(write(tmp_path, content)) == expected


REFUSED = {
    "empty": (b"", "E402", "is empty"),
    "only a mark": (b"\xef\xbb\xbf", "E402", "is empty"),
    "only newlines": (b"\n\r\n\n", "E402", "is empty"),
    "header only": (b"a,b\n", "E402", "no rows"),
    "header without newline": (b"a,b", "E402", "no rows"),
    "header and blank lines": (b"a,b\n\n\n", "E402", "no rows"),
    "too few fields": (b'a,b,c\n1,"x\ny",3\n1,2\n4,5,6\n', "E403", "line 4 of 'x.csv' has 2 fields, the header has 3"),
    "too many fields": (b"a,b\n1,2\n1,2,3\n", "E403", "line 3 of 'x.csv' has 3 fields, the header has 2"),
    "one field": (b"a,b\n1,2\n1\n", "E403", "line 3 of 'x.csv' has 1 field, the header has 2"),
    "last row short, no newline": (b"a,b\n1,2\n1", "E403", "line 3"),
    "blank line inside": (b"a,b\n1,2\n\n3,4\n", "E403", "line 3 of 'x.csv' is blank"),
    "a note to Excel": (b"sep=;\r\na;b\r\n1;2\r\n", "E405", "the first line of 'x.csv' tells Excel the delimiter"),
    "a note to Excel about commas": (b"SEP=,\na,b\n1,2\n", "E405", "tells Excel the delimiter"),
    "after blank lines and mark": (b"\xef\xbb\xbf\n\na,b\n1\n", "E403", "line 4"),
    "open quote": (b'a,b\n1,2\n3,"x\n5,6\n', "E403", "line 3 of 'x.csv' opens a quote that is never closed"),
    "open quote in the header": (b'"a,b\n1,2\n', "E403", "line 1"),
    "text after a quote": (b'a,b\n1,"x"y\n', "E403", "line 2 of 'x.csv' has text after a closing quote"),
    "unbalanced quotes as text among quoted fields": (b'a,b\n5" pipe,"x\ny"\n1,2\n', "E403", "quote inside a field"),
    "column twice": (b"a,b,a\n1,2,3\n", "E405", "'a'"),
    "column without name": (b"a,b,\n1,2,3\n", "E405", "column 3"),
    "name that is a pattern": (b"a,*\n1,2\n", "E405", "pattern"),
    "name that is a regular expression": (b"a,^a$\n1,2\n", "E405", "pattern"),
    "mark before a name": ("\ufeff\ufeffa,b\n1,2\n".encode(), "E405", "column 1"),
    "blank name": (b"a, ,b\n1,2,3\n", "E405", "column 2"),
    "zip": (b"PK\x03\x04\x14\x00\x06\x00", "E408", "zip"),
    "parquet": (b"PAR1\x15\x04", "E408", "Parquet"),
    "gzip that is cut off": (b"\x1f\x8b\x08\x00", "E401", "cannot be unpacked"),
    "binary": (bytes(range(256)) * 10, "E408", "binary"),
}


@pytest.mark.parametrize(("content", "code", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(tmp_path: Path, content: bytes, code: str, words: str):
    with pytest.raises(DataError) as caught:
        rows(write(tmp_path, content))
    assert caught.value.code == code
    assert words in caught.value.message
    assert caught.value.where


def test_utf8_broken_far_down_is_placed(tmp_path: Path):
    content = b"a,b\n" + "ä,1\n".encode() * 400_000 + b"\xe9,2\n" + "ä,1\n".encode() * 100
    path = write(tmp_path, content)
    offset = content.index(b"\xe9,2")
    with pytest.raises(DataError, match=rf"byte {offset} \(line 400002\)") as caught:
        open_source(path)
    assert caught.value.code == "E404"
    assert "encoding: cp1252" in str(caught.value.hint)


def test_wrong_stated_encoding_is_placed(tmp_path: Path):
    path = write(tmp_path, "a,b\nx,1\nKöln,2\n".encode("cp1252"))
    with pytest.raises(DataError, match=r"byte 9 \(line 3\)") as caught:
        open_source(path, CsvDialect(encoding="utf-8"))
    assert caught.value.code == "E404"
    with pytest.raises(DataError, match=r"byte 9 \(line 3\)") as caught:
        open_source(path, CsvDialect(encoding="ascii"))
    assert caught.value.code == "E404"


def test_undecodable_bytes_behind_the_sample_are_placed(tmp_path: Path):
    content = b"a,b\n\xe9,1\n" + b"x,1\n" * 2_000_000 + b"\x81,2\n"
    with pytest.raises(DataError, match=rf"byte {len(content) - 4} \(line 2000003\)") as caught:
        open_source(write(tmp_path, content))
    assert caught.value.code == "E404"
    assert "latin-1" in str(caught.value.hint)


def test_file_problems(tmp_path: Path):
    write(tmp_path, b"a\n1\n", "people.csv")
    for path, code, words in [
        (tmp_path / "peple.csv", "E401", "did you mean 'people.csv'"),
        (tmp_path / "no" / "such.csv", "E401", "does not exist"),
        (tmp_path, "E401", "is a folder"),
        (Path(), "E401", "'.' is a folder"),
        (write(tmp_path, b"version: 1", "job.yaml"), "E408", "data are expected"),
        (write(tmp_path, b"x", "x.xlsx"), "E408", "not an Excel file"),
        (write(tmp_path, b"x", "noending"), "E408", "format"),
        (write(tmp_path, b"x", "x.csv.gz"), "E402", "has a header but no rows"),
        (Path(os.devnull), "E401", "not a regular file"),
    ]:
        with pytest.raises(DataError) as caught:
            open_source(str(path))
        assert (caught.value.code, words in caught.value.message) == (code, True)


def test_fixes_with_paths_can_be_pasted(tmp_path: Path):
    folder = tmp_path / "Klinik 2026"
    folder.mkdir()
    quoted = f"'{folder}"
    job = write(folder, b"version: 1", "job.yaml")
    told = [(folder / "no.csv", f"ls {quoted}'"), (folder, f"{quoted}/data.csv'"), (job, f"check {quoted}/job.yaml'")]
    for path, fix in told:
        with pytest.raises(DataError) as caught:
            open_source(path)
        assert fix in str(caught.value.hint)


def test_blanks_separate_fields_if_nothing_else_does_and_some_are_numbers(tmp_path: Path):
    """Otherwise the first record of such a file becomes the name of its only column."""
    numbers = open_source(write(tmp_path, b"59 2 32.1 87\n48 1 21.6 69\n72 2 30.5 85\n"))
    assert numbers.columns == ("1", "2", "3", "4")
    assert numbers.n_rows == 3
    named = open_source(write(tmp_path, b"age sex\n59 f\n48 m\n72 f\n"))
    assert named.columns == ("age", "sex")
    for whole in (b"name\nAnna Meyer\nJan Smit\n", b"full name\nAnna Meyer\nJan Smit\n", b"a b,c\n1 2,3\n4 5,6\n"):
        assert all(" " in name or name in ("name", "c") for name in open_source(write(tmp_path, whole)).columns)


def test_a_blank_line_is_to_be_removed_and_nothing_else(tmp_path: Path):
    with pytest.raises(DataError) as caught:
        rows(write(tmp_path, b"a,b\n1,2\n\n3,4\n"))
    assert caught.value.message == "line 3 of 'x.csv' is blank"
    assert caught.value.hint == "Remove the line."


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file(tmp_path: Path):
    path = write(tmp_path, b"a\n1\n")
    path.chmod(0)
    with pytest.raises(DataError, match="permission denied") as caught:
        open_source(path)
    assert caught.value.code == "E401"


def test_permission_error_is_translated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path, b"a\n1\n")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(DataError, match="permission denied") as caught:
        open_source(path)
    assert caught.value.code == "E401"


def test_markers(tmp_path: Path):
    path = write(tmp_path, b'a,b\nNA,\n"?",""\nx,y\n')
    assert rows(path, missing=("", "NA", "?")) == [(None, None), (None, None), ("x", "y")]
    assert rows(path, missing=("NA",)) == [(None, ""), ("?", ""), ("x", "y")]
    assert rows(path, missing=()) == [("NA", ""), ("?", ""), ("x", "y")]


def test_source_tells_about_itself(tmp_path: Path):
    content = b"a;b\n" + b"1,5;x\n" * 12_345
    source = open_source(str(write(tmp_path, content, "people.csv")))
    assert source.name == "people.csv"
    assert source.columns == ("a", "b")
    assert source.description == "people.csv · 12 345 rows · 2 columns · utf-8, semicolon, decimal comma"
    assert source.sha256 == hashlib.sha256(content).hexdigest()


def test_columns_are_chosen_in_the_asked_order(tmp_path: Path):
    source = open_source(write(tmp_path, b"a,b,c\n1,2,3\n"))
    assert source.read(["c", "a", "c"]).to_dicts() == [{"c": "3", "a": "1"}]
    assert source.scan(["b"]).collect().rows() == [("2",)]
    with pytest.raises(DataError, match="no column 'd'") as caught:
        source.read(["d"])
    assert caught.value.code == "E410"


def test_names_with_glob_signs_are_plain_names(tmp_path: Path):
    write(tmp_path, b"a\n1\n", "x1.csv")
    assert rows(write(tmp_path, b"a\n2\n", "x[1]*.csv")) == [("2",)]


def test_lines_of_rows(tmp_path: Path):
    source = open_source(write(tmp_path, b'\n\na,b\n1,"x\ny"\n2,z\n3,w\n'))
    assert [source.line_of(row) for row in (1, 2, 3)] == [4, 6, 7]


def test_numbers_name_row_and_line(tmp_path: Path):
    source = open_source(write(tmp_path, b'age,note\n31,"x\ny"\nabc,z\n"' + b"9" * 50 + b'x",w\n40,\nabc,\n'))
    with pytest.raises(DataError) as caught:
        source.numeric(source.read(["age"])["age"])
    error = caught.value
    assert error.code == "E406"
    assert "column 'age' has 3 values that are not a number, the first in row 2, line 4" in error.message
    assert error.where == "x.csv:4"
    assert error.details == ("For example: '9999999999999999999…', 'abc'",)


def test_a_very_long_field(tmp_path: Path):
    path = write(tmp_path, b'a,b\n1,"' + b"x\n" * 4_000_000 + b'"\n3,4\n')
    assert [len(str(value)) for value in open_source(path).read(["b"])["b"]] == [8_000_000, 1]


def test_file_that_changes_after_opening(tmp_path: Path):
    path = write(tmp_path, b"a,b\n1,2\n3,4\n")
    source = open_source(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(DataError, match="changed"):
        source.read(["a"])
    path.unlink()
    with pytest.raises(DataError, match="changed"):
        source.read(["a"])


class TestTemporaryCopy:
    @pytest.fixture(autouse=True)
    def own_folder(self, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = tmp_path_factory.mktemp("copies")
        monkeypatch.setattr(tempfile, "tempdir", str(self.folder))

    def left(self) -> list[Path]:
        return list(self.folder.iterdir())

    def test_is_private_and_goes_away(self, tmp_path: Path):
        path = write(tmp_path, "a,b\nKöln,1\n".encode("cp1252"))
        with open_source(path) as source:
            (copy,) = self.left()
            assert copy.stat().st_mode & 0o777 == 0o600
            assert source.read(["a"]).item() == "Köln"
        assert self.left() == []
        source = open_source(path)
        assert len(self.left()) == 1
        del source
        assert self.left() == []

    @pytest.mark.parametrize("rest", [b"1\n", b"1,2,3\n", b'"1,2\n'])
    def test_goes_away_on_error(self, tmp_path: Path, rest: bytes):
        with pytest.raises(DataError):
            open_source(write(tmp_path, "a,ö\n".encode("cp1252") + rest))
        assert self.left() == []

    def test_goes_away_when_decoding_fails(self, tmp_path: Path):
        with pytest.raises(DataError):
            open_source(write(tmp_path, b"a,b\n\x81,2\n"), CsvDialect(encoding="cp1252"))
        assert self.left() == []

    def test_of_a_killed_run_is_removed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(os, "getpid", lambda: 2**22 + 12345)  # beyond what Linux hands out by default
        name = f"tarnkappe{transcode_module.temporary_tag()}.csv"
        monkeypatch.undo()
        monkeypatch.setattr(tempfile, "tempdir", str(self.folder))
        write(self.folder, b"secret", name)
        write(self.folder, b"other", "tarnkappe-notes.csv")
        with open_source(write(tmp_path, "a,b\nKöln,1\n".encode("cp1252"))):
            pass
        assert [p.name for p in self.left()] == ["tarnkappe-notes.csv"]

    def test_characters_split_between_chunks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(transcode_module, "_CHUNK", 3)
        assert rows(write(tmp_path, "a,b\nK😀ln,1\n".encode("utf-16"))) == [("K😀ln", "1")]


names = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), min_size=1, max_size=8).filter(
        lambda s: s.strip() and s != "*" and not (s[0] == "^" and s[-1] == "$")
    ),
    min_size=1,
    max_size=4,
    unique=True,
)
values = st.one_of(
    st.text(st.sampled_from("ab,;\"'\n\r\t |#=é"), max_size=6), st.text(st.characters(codec="utf-8"), max_size=6)
)


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    header = draw(names)
    row = st.lists(values, min_size=len(header), max_size=len(header))
    return header, draw(st.lists(row, min_size=1, max_size=6))


slow_ok = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@slow_ok
@given(
    table=tables(),
    delimiter=st.sampled_from(",;\t|"),
    quote=st.sampled_from("\"'"),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
)
def test_any_table_written_by_the_csv_module_comes_back(
    tmp_path: Path,
    table: tuple[list[str], list[list[str]]],
    delimiter: str,
    quote: str,
    quoting: int,
    end: str,
    encoding: str,
):
    header, data = table
    if any("\r" in value for row in [header, *data] for value in row):
        quoting = csv.QUOTE_ALL  # before Python 3.13 the module writes a lone carriage return without quotes
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quotechar=quote, quoting=quoting, lineterminator=end)
    writer.writerows([header, *data])
    path = write(tmp_path, text.getvalue().encode(encoding))
    with open_source(path, CsvDialect(delimiter=delimiter, quote=quote, encoding=encoding), missing=()) as source:
        assert source.columns == tuple(header)
        assert source.n_rows == len(data)
        assert [list(row) for row in source.read(header).rows()] == data


@slow_ok
@given(table=tables(), delimiter=st.sampled_from(",;\t|"), quote=st.sampled_from("\"'"))
def test_any_table_written_by_us_comes_back(
    tmp_path: Path, table: tuple[list[str], list[list[str]]], delimiter: str, quote: str
):
    header, data = table
    frame = pl.DataFrame(data, schema=dict.fromkeys(header, pl.String), orient="row")
    path = tmp_path / "x.csv"
    with TableWriter(path, "csv", CsvDialect(delimiter=delimiter, quote=quote)) as writer:
        writer.write(frame.head(1))
        writer.write(frame.slice(1))
    with open_source(path, writer.dialect, missing=()) as source:
        assert source.columns == tuple(header)
        assert source.read(header).equals(frame)


@slow_ok
@given(
    content=st.lists(st.sampled_from([b"a", b",", b";", b'"', b"'", b"\n", b"\r", b"\0", b"\xe9", b"\xff\xfe"])).map(
        b"".join
    )
)
@example(content=b'a"\n"a"\n')
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes):
    try:
        with open_source(write(tmp_path, content)) as source:
            assert source.read(source.columns).height == source.n_rows
    except TarnkappeError as error:
        assert error.code.startswith("E4")  # noqa: PT017


def by_csv_module(content: bytes) -> list[list[str]]:
    """All records, a blank line as one empty field."""
    return [record or [""] for record in csv.reader(io.StringIO(content.decode(), newline=""))]


@slow_ok
@given(
    lines=st.lists(
        st.lists(
            st.sampled_from(["", "x", '"x"', '"a,b"', '"a\nb"', '"q""q"', 'st"ray', 'st"r"ay', '""']),
            min_size=2,
            max_size=3,
        ),
        min_size=2,
        max_size=8,
    )
)
@example(lines=[["x", "st"], ['st"ray', '"a\nb"'], ['st"ray', "x"]])
def test_what_is_accepted_is_what_the_csv_module_reads(tmp_path: Path, lines: list[list[str]]):
    content = "\n".join(["a,b", *(",".join(fields) for fields in lines)]).encode()
    expected = by_csv_module(content)
    try:
        with open_source(write(tmp_path, content), CsvDialect(delimiter=",", quote='"'), missing=()) as source:
            read = source.read(source.columns).rows()
    except DataError as error:
        assert any(len(record) != 2 for record in expected) or 'st"' in content.decode(), error  # noqa: PT017
        return
    assert [list(row) for row in read] == expected[1:]


def test_quotes_and_newlines_across_the_pieces_polars_reads_in_parallel(tmp_path: Path):
    rng = random.Random(1)
    fields = ["x", '"a,b"', '"two\nlines"', '"q""q"', '"\n\n,"', "longer plain text", '""', '"' + "y\n" * 500 + '"']
    text = "a,b,c\n" + "".join(",".join(rng.choices(fields, k=3)) + "\n" for _ in range(20_000))
    path = write(tmp_path, text.encode())
    source = open_source(path, missing=())
    assert [list(row) for row in source.read(source.columns).rows()] == by_csv_module(text.encode())[1:]


def test_adult_is_read(shared: Path):
    path = shared / "data" / "adult" / "adult.csv"
    source = open_source(path)
    assert source.n_rows == 30_162
    assert source.dialect.delimiter == ";"  # type: ignore[attr-defined]
    assert source.read(source.columns).null_count().sum_horizontal().item() == 0


@pytest.mark.parametrize("body", ["1,a\n2,\n3,NA\n", "1,a\n2,b", "\ufeff1,a\n2,b\n", "1,a\r\n2,b\r\n", "1,ä\n"])
@pytest.mark.parametrize("missing", [("",), ("NA",), ("", "NA")])
def test_the_first_rows_of_a_large_file_are_those_that_a_whole_reading_begins_with(
    body: str, missing: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(csvfile, "_LARGE", 0)
    (tmp_path / "a.csv").write_bytes(f"id,x\n{body}".encode())
    source = open_source(tmp_path / "a.csv", missing=missing)
    for n in (0, 1, 2, 9):
        for names in (["x"], ["x", "id"]):
            assert source.sample(names, n).equals(source.read(names).head(n))
