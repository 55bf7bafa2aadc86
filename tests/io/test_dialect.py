"""Dialects are detected from the beginning of a file, and whatever is stated wins."""

from __future__ import annotations

from pathlib import Path

import pytest

from tarnkappe.errors import JobError
from tarnkappe.io import CsvDialect, detect_dialect

CASES = {
    "comma": (b"a,b\n1,2\n", "utf-8, comma"),
    "semicolon": (b"a;b\n1;2\n", "utf-8, semicolon"),
    "tab": (b"a\tb\n1\t2\n", "utf-8, tab"),
    "pipe": (b"a|b\n1|2\n", "utf-8, pipe"),
    "decimal comma": (b"a;b\n1,5;2,25\n3;4,5\n", "utf-8, semicolon, decimal comma"),
    "points dominate": (b"a;b\n1.5;2.25\n3,5;4.5\n", "utf-8, semicolon"),
    "commas in text": (b"name;city\nDoe, Jane;Bonn\nRoe, Joe;Ulm\n", "utf-8, semicolon"),
    "delimiter in quotes": (b'a;b\n"x,y,z";"1,2,3"\n"p,q,r";"4,5,6"\n', "utf-8, semicolon"),
    "newline in quotes": (b'a,b\n"x\ny;z",2\n', "utf-8, comma"),
    "single quotes": (b"'a','b'\n'x,y','2'\n", "utf-8, comma, single quotes"),
    "apostrophes are text": (b"a,b\n'tis,2\n'twas,3\n", "utf-8, comma"),
    "one quoted word is text": (b"a,b\n'so',2\nx,3\ny,4\nz,5\n", "utf-8, comma"),
    "mark": (b"\xef\xbb\xbfa;b\n1;2\n", "utf-8, semicolon"),
    "utf-8 text": ("stadt;x\nKöln;1\n".encode(), "utf-8, semicolon"),
    "cp1252": ("stadt;x\nKöln;1 €\n".encode("cp1252"), "cp1252, semicolon"),
    "latin-1": (b"a;b\n\x81\xe9;2\n", "latin-1, semicolon"),
    "utf-16": ("a;b\nKöln;2\n".encode("utf-16"), "utf-16, semicolon"),
    "utf-16 without mark": ("a;b\nBonn;2\n".encode("utf-16-le"), "utf-16-le, semicolon"),
    "big-endian utf-16 without mark": ("a;b\nBonn;2\n".encode("utf-16-be"), "utf-16-be, semicolon"),
    "one column": (b"a\n1\n2\n", "utf-8, comma"),
    "one column of names": (b"name\nDoe, Jane\nRoe, Joe\n", "utf-8, semicolon"),
    "a short row": (b"a;b;c\n1,5;2;3\n1,5;2\n", "utf-8, semicolon, decimal comma"),
    "all rows short": (b"a,b,c\n1,2\n3,4\n", "utf-8, comma"),
    "windows line ends": (b"a;b\r\n1;2\r\n", "utf-8, semicolon"),
    "old mac line ends": (b"a;b\r1;2\r", "utf-8, semicolon"),
    "header only": (b"a\tb", "utf-8, tab"),
    "empty": (b"", "utf-8, comma"),
    "zero bytes": (b"a,b\n\0,2\n", "utf-8, comma"),
}


@pytest.mark.parametrize(("content", "expected"), CASES.values(), ids=CASES.keys())
def test_detected(tmp_path: Path, content: bytes, expected: str):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    assert detect_dialect(path, None).describe() == expected


def test_tsv_with_one_column_is_tab_separated(tmp_path: Path):
    path = tmp_path / "x.tsv"
    path.write_bytes(b"a\n1\n")
    assert detect_dialect(path).delimiter == "\t"


@pytest.mark.parametrize(
    "given", [{"delimiter": "|"}, {"encoding": "latin-1"}, {"quote": "'"}, {"quote": "none"}, {"decimal": "."}]
)
def test_what_is_stated_wins(tmp_path: Path, given: dict[str, str]):
    path = tmp_path / "x.csv"
    path.write_bytes('a;b\n"Köln";1,5\n'.encode())
    dialect = detect_dialect(path, CsvDialect(**given))
    assert {k: getattr(dialect, k) for k in given} == given
    assert None not in dialect.get_params().values()


def test_a_character_cut_by_the_end_of_the_sample_does_not_matter(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a,b\n" + "é,1\n".encode() * 300_000)
    for shift in range(4):
        path.write_bytes(b"a,b" + b"x" * shift + b"\n" + "é,1\n".encode() * 300_000)
        assert detect_dialect(path).encoding == "utf-8"


def test_huge_fields_are_no_obstacle(tmp_path: Path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"a;b\n1;2\n" + b"x" * 3_000_000 + b";2\n")
    assert detect_dialect(path).delimiter == ";"


@pytest.mark.parametrize(
    ("given", "sign"), [("tab", "\t"), ("\\t", "\t"), ("Semicolon", ";"), ("comma", ","), (" ", " "), ("^", "^")]
)
def test_delimiters_have_names(given: str, sign: str):
    assert CsvDialect(delimiter=given).delimiter == sign


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ";;"},
        {"delimiter": ""},
        {"delimiter": "§"},
        {"delimiter": "a"},
        {"delimiter": "\n"},
        {"delimiter": '"'},
        {"quote": "`"},
        {"decimal": ";"},
        {"encoding": "utf-9"},
        {"encoding": "hex"},
        {"encoding": 8},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, str]):
    with pytest.raises(JobError) as caught:
        CsvDialect(**wrong)
    assert caught.value.code == "E110"
    assert caught.value.hint
