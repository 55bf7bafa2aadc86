"""Data and taxonomies that are wrong."""

from __future__ import annotations

from office import HEADER, Case, job, records, table, with_cell, with_column

_LINES = table().splitlines()
_SEX_FILE = job(("taxonomy: suppress", "taxonomy: {kind: file, path: sex.csv}"))
_UTF8 = job(("{path: people.csv}", "{path: people.csv, encoding: utf-8}"))


def _with_line(number: int, text: str) -> str:
    lines = [*_LINES]
    lines[number - 1] = text
    return "\n".join(lines) + "\n"


def _data(
    title: str, code: str, where: str, data: str | bytes | None, *says: str, given: str | None = None, examples: int = 0
) -> Case:
    return Case(title, code, where, says, data=data, job=given or job(), examples=examples)


def _sex(title: str, code: str, where: str, content: str | bytes | None, *says: str, examples: int = 0) -> Case:
    files = {} if content is None else {"sex.csv": content}
    return Case(title, code, where, says, job=_SEX_FILE, files=files, examples=examples)


DATA = [
    _data("data file missing", "E401", "people.csv", None, "does not exist", "ls ."),
    _data("data file empty", "E402", "people.csv", "", "is empty"),
    _data("only newlines", "E402", "people.csv", "\n\r\n\n\n", "is empty"),
    _data("header only", "E402", "people.csv", _LINES[0] + "\n", "a header but no rows"),
    _data("row with too many fields", "E403", "people.csv:42", _with_line(42, _LINES[41] + ",x"), "6 fields", "has 5"),
    _data("row with too few fields", "E403", "people.csv:42", _with_line(42, "canary,70000"), "2 fields", "has 5"),
    _data("blank line in between", "E403", "people.csv:42", _with_line(42, ""), "line 42", "is blank"),
    _data("quote never closed", "E403", "people.csv:42", _with_line(42, '"' + _LINES[41]), "never closed", "quote"),
    _data(
        "latin-1 bytes declared as utf-8",
        "E404",
        "people.csv:42",
        with_cell(41, "name", "canary-Zoë").encode("latin-1"),
        "is not utf-8",
        "encoding: cp1252",
        given=_UTF8,
    ),
    _data("binary file", "E408", "people.csv", bytes(range(256)) * 40, "a binary file"),
    _data("spreadsheet called .csv", "E408", "people.csv", b"PK\x03\x04" + b"\0" * 60, "zip archive or spreadsheet"),
    _data("duplicate column", "E405", "people.csv", table(header=["age", *HEADER[1:]]), "more than once", "'age'"),
    _data(
        "column without a name", "E405", "people.csv", table(header=[HEADER[0], "", *HEADER[2:]]), "column 2", "no name"
    ),
    _data(
        "text in a numeric column",
        "E406",
        "people.csv:42",
        with_cell(41, "age", "canary-old"),
        "column 'age'",
        "row 41, line 42",
        "type: categorical",
        examples=3,
    ),
    _data(
        "a numeric column of texts",
        "E406",
        "people.csv:2",
        with_column("age", "canary-" + "x" * 100),
        "60 values",
        "…'",
        examples=3,
    ),
    _data("infinity in a numeric column", "E406", "people.csv:42", with_cell(41, "age", "inf"), "row 41", "missing:"),
    _data("overflow in a numeric column", "E406", "people.csv:42", with_cell(41, "age", "1e999"), "row 41", "missing:"),
    _data("NaN in a numeric column", "E406", "people.csv:42", with_cell(41, "age", "NaN"), "row 41", "missing:"),
    _data(
        "decimal comma",
        "E406",
        "people.csv:42",
        with_cell(41, "age", '"70000,5"'),
        "decimal: ','",
        examples=1,
    ),
    _data("missing value", "E407", "people.csv", with_cell(41, "sex", ""), "'sex' has 1 missing value ", "own-value"),
    _data("column of nulls", "E407", "people.csv", with_column("age", ""), "60 missing values", "missing_rule"),
    _data("column that the job lacks", "E101", "job.yaml", table(header=[*HEADER[:4], "ward"]), "ward", "--update"),
    Case(
        "two hundred columns without a role",
        "E101",
        "job.yaml",
        ("199 columns", "c008 …"),
        data=table([["1"] * 200] * 9, ["age", *(f"c{i:03d}" for i in range(1, 200))]),
        job="data: {path: people.csv}\ncolumns:\n  age: {role: quasi, type: numeric}\n"
        "criteria: [{k-anonymity: {k: 2}}]\noutput: {folder: release}\n",
    ),
    _data(
        "column name of a megabyte",
        "E101",
        "job.yaml",
        table(header=["n" * 1_000_000, *HEADER[1:]]),
        "nnn…",
    ),
    _data("column name that a terminal obeys", "E101", "job.yaml", table(header=["\x1b[31mx", *HEADER[1:]]), "\\x1b"),
    _data("one row", "E301", "job.yaml", "\n".join(_LINES[:2]) + "\n", "k-anonymity", "reaches 1"),
    _data("sensitive column of nulls", "E301", "job.yaml", with_column("illness", ""), "reach 1 on 'illness'"),
    Case(
        "unknown suffix",
        "E408",
        "people.docx",
        (".csv, .dat, .dta", ".ods, .parquet"),
        job=job(("people.csv", "people.docx")),
        files={"people.docx": table()},
    ),
    Case(
        "damaged Parquet file",
        "E408",
        "people.parquet",
        ("is not a Parquet file, or is damaged",),
        job=job(("people.csv", "people.parquet")),
        files={"people.parquet": b"PAR1" + b"x" * 100 + b"PAR1"},
    ),
    Case(
        "direct identifier kept",
        "E604",
        "people.csv",
        ("'name'", "role: identifier", "because:"),
        job=job(("name: {role: identifier}", "name: {role: keep}")),
    ),
    Case(
        "e-mail addresses kept",
        "E604",
        "people.csv",
        ("'contact'", "look like e-mail addresses"),
        data=table([[f"canary{i}@example.org", *row[1:]] for i, row in enumerate(records())], ["contact", *HEADER[1:]]),
        job=job(("name: {role: identifier}", "contact: {role: keep}")),
    ),
]

TAXONOMIES = [
    _sex("taxonomy file missing", "E202", "sex.csv", None, "cannot be read", "relative to the folder of the job file"),
    _sex("taxonomy file empty", "E202", "sex.csv", "", "is empty", "value;level1;*"),
    _sex("taxonomy file in another encoding", "E202", "sex.csv:2", b"a;*\n\xe9;*\n", "is not in UTF-8"),
    _sex(
        "taxonomy that does not cover a value",
        "E204",
        "sex.csv",
        "canary-f;*\nCANARY-M;*\n",
        "1 of 2 values of column 'sex'",
        "case differs",
        "on_unknown: top",
        examples=5,
    ),
    Case(
        "taxonomy of another column",
        "E204",
        "sex.csv",
        ("15 of 15 values of column 'zip'", "it fits column 'sex' 2/2", "and 10 more", "Give it to 'sex'"),
        job=job(("{kind: prefix, keep: [8, 7]}", "{kind: file, path: sex.csv}")),
        files={"sex.csv": "canary-f;*\ncanary-m;*\n"},
        examples=5,
    ),
    _sex("value with two parents", "E201", "sex.csv:2", "canary-f;a;x;*\ncanary-m;a;y;*\n", '"a" has two parents'),
    _sex("value twice", "E201", "sex.csv:3", "x;a;*\ny;a;*\nx;a;*\n", '"x" stands twice (first in line 1)'),
    _sex("ragged taxonomy", "E201", "sex.csv:2", "x;a;*\ny;*\n", "has 2 fields, the first row has 3"),
    Case(
        "cyclic taxonomy file",
        "E201",
        "sex.yaml:3",
        ('"more" is its own ancestor', "Remove the reference"),
        job=job(("taxonomy: suppress", "taxonomy: {kind: file, path: sex.yaml}")),
        files={"sex.yaml": "any: &all\n  people: [canary-f, canary-m]\n  more: *all\n"},
    ),
    Case(
        "cyclic taxonomy in the job",
        "E100",
        "job.yaml:6",
        ("nested too deeply", "references to itself"),
        job=job(("taxonomy: suppress", "taxonomy: {kind: tree, tree: &all {a: [x, y], more: *all}}")),
    ),
    Case(
        "value twice in the job's tree",
        "E201",
        "job.yaml:6",
        ('"x" has two parents: "a" and "b"',),
        job=job(("taxonomy: suppress", "taxonomy: {kind: tree, tree: {a: [x], b: [x]}}")),
    ),
]
