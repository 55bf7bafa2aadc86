"""``taxonomy``: build, show, check and convert, with counts and without values of the data."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hospital import people

from tarnkappe.taxonomy import read_taxonomy


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("age", ["--intervals", "5,10,20"]),
        ("zip", ["--prefix", "4,3"]),
        ("birth", ["--dates"]),
        ("sex", ["--order", "female,male"]),
        ("illness", ["--frequency", "0.01,0.5"]),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".yaml"])
def test_a_built_taxonomy_covers_its_column(cli, column: str, words: list[str], suffix: str) -> None:
    people().with_columns(birth=pl.date(1950, 1, 1) + pl.duration(days=pl.col("age"))).write_csv("more.csv")
    target = f"tree{suffix}"
    result = cli("taxonomy", "build", column, "--from", "more.csv", *words, "-o", target)
    assert result.exit_code == 0
    tree = read_taxonomy(target)
    values = pl.read_csv("more.csv", infer_schema=False)[column].unique()
    assert set(tree.leaves) == set(values)
    assert f"Groups     {tree.n_leaves} → " in result.stdout
    checked = cli("taxonomy", "check", target, "--from", "more.csv", "--column", column)
    assert checked.exit_code == 0
    assert f"✓ all {tree.n_leaves} values of {column}" in checked.stdout


def test_the_line_to_use_it_works(cli, folder: Path) -> None:
    result = cli("taxonomy", "build", "age", "--from", "people.csv", "--intervals", "10,20", "-o", "age.csv")
    line = result.stdout.split("Use ")[1].strip()
    job = Path("job.yaml").read_text().replace("age: {role: quasi, type: numeric}", line)
    Path("job.yaml").write_text(job)
    assert cli("run", "job.yaml").exit_code == 0


def test_without_output_nothing_is_written(cli, folder: Path) -> None:
    before = sorted(folder.iterdir())
    assert cli("taxonomy", "build", "age", "--from", "people.csv", "--intervals", "10").exit_code == 0
    assert sorted(folder.iterdir()) == before


def test_a_taxonomy_is_shown_and_converted(cli, folder: Path) -> None:
    Path("marital.csv").write_text("civil;Married;*\nchurch;Married;*\nnever;Single;*\n")
    shown = cli("taxonomy", "show", "marital.csv")
    assert "Groups     3 → 2 → 1" in shown.stdout
    assert "├── Married" in shown.stdout
    data = json.loads(cli("taxonomy", "show", "marital.csv", "--json").stdout)
    assert data["levels"] == [{"level": 0, "groups": 3}, {"level": 1, "groups": 2}, {"level": 2, "groups": 1}]
    assert cli("taxonomy", "convert", "marital.csv", "marital.yaml").exit_code == 0
    assert read_taxonomy("marital.yaml").paths() == read_taxonomy("marital.csv").paths()
    again = cli("taxonomy", "convert", "marital.csv", "marital.yaml")
    assert again.exit_code == 6
    assert cli("taxonomy", "convert", "marital.csv", "marital.yaml", "--overwrite").exit_code == 0


def test_one_of_several_taxonomies_is_picked(cli, folder: Path) -> None:
    one = '<taxonomy attribute="{}"><node value="ANY"><node value="{}1"/><node value="{}2"/></node></taxonomy>'
    Path("t.xml").write_text(f"<taxonomies>{one.format('a', 'a', 'a')}{one.format('b', 'b', 'b')}</taxonomies>")
    assert cli("taxonomy", "convert", "t.xml", "b.csv", "--attribute", "b").exit_code == 0
    assert read_taxonomy("b.csv").leaves == ("b1", "b2")
    assert cli("taxonomy", "show", "t.xml").exit_code == 3


@pytest.mark.parametrize(
    ("words", "exit_code", "says"),
    [
        (["build", "age", "--from", "people.csv"], 2, "choose one of --intervals"),
        (["build", "age", "--from", "people.csv", "--dates", "--prefix", "2"], 2, "exclude each other"),
        (["build", "age", "--from", "people.csv", "--intervals", "5,x"], 2, "numbers separated by commas"),
        (["build", "age", "--from", "people.csv", "--prefix", "2.5"], 2, "whole numbers"),
        (["build", "agee", "--from", "people.csv", "--prefix", "2"], 3, "did you mean 'age'"),
        (["build", "age", "--from", "people.csv", "--intervals", "5,7"], 3, "multiple"),
        (["build", "age", "--from", "none.csv", "--prefix", "2"], 3, "does not exist"),
        (["build", "age", "--from", "people.csv", "--prefix", "1", "-o", "t.txt"], 3, "E203"),
        (["show", "none.csv"], 3, "E202"),
    ],
)
def test_what_cannot_be_built_is_told(cli, words: list[str], exit_code: int, says: str) -> None:
    result = cli("taxonomy", *words)
    assert result.exit_code == exit_code
    assert says in result.stderr


def test_a_taxonomy_for_another_column_is_recognised(cli, folder: Path) -> None:
    Path("sex.csv").write_text("female;*\nmale;*\n")
    result = cli("taxonomy", "check", "sex.csv", "--from", "people.csv", "--column", "zip")
    assert result.exit_code == 3
    assert "it fits column 'sex' 2/2" in result.stderr
