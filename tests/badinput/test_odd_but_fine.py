"""Input that looks odd and is fine: it is read as what it is, and the release keeps its promise."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from office import HEADER, JOB, Office, job, records, table, with_cell, with_column

OWN_VALUE = ("{path: people.csv}", "{path: people.csv, missing_rule: own-value}")
WILDCARD = ("{path: people.csv}", "{path: people.csv, missing_rule: wildcard}")
NO_DIVERSITY = ("  - l-diversity: {column: illness, l: 2}\n", "")

ONE_COLUMN = """\
data: {path: people.csv, missing_rule: own-value}
columns:
  age: {role: quasi, type: numeric}
criteria:
  - k-anonymity: {k: 5}
output: {folder: release}
"""

WIDE = [f"c{i}" for i in range(200)]
WIDE_JOB = (
    "data: {path: people.csv}\ncolumns:\n"
    + "".join(f"  c{i}: {{role: quasi, type: numeric}}\n" for i in range(20))
    + "".join(f"  c{i}: sensitive\n" for i in range(20, 150))
    + "".join(f"  c{i}: drop\n" for i in range(150, 200))
    + "criteria:\n  - k-anonymity: {k: 5}\noutput: {folder: release}\n"
)


def released(office: Office, data: str | bytes, given: str = JOB) -> pl.DataFrame:
    """The table that comes out, once by itself it has been found to keep its promise."""
    office.write("people.csv", data)
    office.write("job.yaml", given)
    seen = office.tarnkappe("run", "job.yaml")
    assert seen.exit_code == 0, seen.stderr
    assert seen.message == []
    assert len(seen.stdout.splitlines()) < 25
    assert "canary" not in seen.stdout
    assert office.tarnkappe("verify", "release/public/people.csv").exit_code == 0
    assert not [path.name for path in office.folder.iterdir() if path.name.startswith(".")]
    return pl.read_csv("release/public/people.csv", infer_schema=False)


def same_groups(one: pl.DataFrame, other: pl.DataFrame) -> bool:
    """Whether two releases say the same about the same number of people; their order is random."""
    return one.sort(one.columns).equals(other.sort(other.columns))


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + table(end="\r\n").encode(),
        table(end="\r\n").encode(),
        table().rstrip("\n").encode(),
        b"\n\n" + table().encode(),
        table().replace(",", ";").encode(),
        table().encode("utf-16"),
        table([[f'"{cell}"' for cell in row] for row in records()]).encode(),
    ],
    ids=["mark and CRLF", "CRLF", "no last line end", "leading blank lines", "semicolons", "UTF-16", "quotes"],
)
def test_the_same_people_however_they_are_written(office: Office, data: bytes) -> None:
    plain = released(office, table(), JOB + "seed: 1\n")
    office.folder.joinpath("release").rename(office.folder / "plain")
    odd = released(office, data, JOB + "seed: 1\n")
    if odd.width == 1:  # read with commas, written with semicolons like the data
        odd = pl.read_csv("release/public/people.csv", separator=";", infer_schema=False)
    assert same_groups(plain, odd)


def test_names_with_spaces_and_signs(office: Office) -> None:
    data, jobs, out = "die Leute äöü 名 #1.csv", "mein Auftrag – neu.yaml", "die Ausgabe ß"
    office.write(data, table())
    office.write(jobs, job(("people.csv", f'"{data}"'), ("release", f'"{out}"')))
    seen = office.tarnkappe("run", jobs)
    assert seen.exit_code == 0
    assert f"{out}/public/{data}" in seen.stdout
    assert office.tarnkappe("verify", Path(out, "public", data)).exit_code == 0
    assert office.tarnkappe("verify", Path(out, "public", data), "--job", jobs).exit_code == 0
    again = office.tarnkappe("run", Path(out, "do-not-share", "job.yaml"), "--overwrite")
    assert again.exit_code == 0, "the job in a release repeats it"


def test_a_missing_role_in_an_odd_file_is_told_with_a_command_that_works(office: Office) -> None:
    office.write("die Leute.csv", table())
    office.write("job.yaml", job(("people.csv", "die Leute.csv"), ("  sex: {role: quasi, taxonomy: suppress}\n", "")))
    assert "tarnkappe init 'die Leute.csv' --update job.yaml" in office.tarnkappe("run", "job.yaml").stderr


@pytest.mark.parametrize("rule", [OWN_VALUE, WILDCARD], ids=["own-value", "wildcard"])
@pytest.mark.parametrize("column", ["age", "sex", "zip"])
def test_a_column_of_nulls(office: Office, column: str, rule: tuple[str, str]) -> None:
    out = released(office, with_column(column, ""), job(rule))
    assert out[column].null_count() == out.height == 60


def test_a_sensitive_column_of_nulls(office: Office) -> None:
    assert released(office, with_column("illness", ""), job(NO_DIVERSITY))["illness"].null_count() == 60


def test_one_row(office: Office) -> None:
    out = released(office, table(records()[:1]), job(NO_DIVERSITY, ("k: 5", "k: 1")))
    assert out.height == 1


def test_one_column(office: Office) -> None:
    assert released(office, "age\n" + "30\n31\n\n" * 20, ONE_COLUMN).height == 60


def test_two_hundred_columns(office: Office) -> None:
    rows = [[str(i * j % 7) for i in range(200)] for j in range(100)]
    out = released(office, table(rows, WIDE), WIDE_JOB)
    assert out.columns == WIDE[:150]


def test_many_warnings_alike_are_counted_not_listed(office: Office) -> None:
    rows = [[str(i * j % 7) for i in range(200)] for j in range(100)]
    office.write("people.csv", table(rows, WIDE))
    office.write("job.yaml", WIDE_JOB)
    lines = office.tarnkappe("check", "job.yaml").stdout.splitlines()
    assert [line[:4] for line in lines].count("W602") == 4
    assert "W602  and 127 more like this; --json lists them all" in lines


def test_zero_bytes_in_a_text_are_part_of_it(office: Office) -> None:
    released(office, with_cell(41, "sex", "canary-\0f"))


def test_long_texts(office: Office) -> None:
    out = released(office, with_cell(41, "illness", "canary " + "x" * 100_000))
    assert out["illness"].str.len_chars().max() == 100_007


def test_columns_called_like_keys_and_patterns(office: Office) -> None:
    header = ["name", "age", "columns", "null", "k"]
    changes = [(f"  {old}:", f"  {new}:") for old, new in zip(HEADER[2:], header[2:], strict=True)]
    given = job(*changes, ("column: illness", "column: k")).replace("  null:", '  "null":')
    assert released(office, table(header=header), given).columns == header[1:]
