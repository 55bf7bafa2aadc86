"""``tarnkappe query``."""

from __future__ import annotations

import json
import shutil

import pytest


@pytest.fixture
def released(cli):
    assert cli("run", "job.yaml", "-o", "release", "-q").exit_code == 0
    return "release"


def test_an_answer_with_its_bounds(cli, released):
    result = cli("query", released, "count where age in 20..39")
    assert result.exit_code == 0
    assert result.stdout.split()[0] == "Answer"
    assert "between" in result.stdout or "exactly" in result.stdout


def test_json_is_one_document(cli, released):
    result = cli("query", released, "count where age < 60 group by sex", "--json")
    told = json.loads(result.stdout)
    assert 0 < sum(row["value"] for row in told["rows"]) < told["records"]
    assert all(row["low"] <= row["value"] <= row["high"] for row in told["rows"])
    assert set(told) == {"query", "records", "rows", "notes"}


def test_a_stranger_can_ask_the_published_file(cli, released, folder):
    shutil.copytree(folder / released / "public", folder / "got")
    table = next((folder / "got").glob("people.*"))
    assert cli("query", table, "count").stdout.split()[:2] == [
        "Answer",
        cli("query", released, "count").stdout.split()[1],
    ]


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("count wher age = 3", "did you mean 'where'"),
        ("count where aeg = 3", "did you mean 'age'"),
        ("sum(illness)", "holds no numbers"),
    ],
)
def test_what_is_not_understood(cli, released, query, says):
    result = cli("query", released, query)
    assert result.exit_code == 2
    assert "E115" in result.output
    assert says in result.output
    error = json.loads(cli("query", released, query, "--json").stdout)["error"]
    assert error["code"] == "E115"


def test_what_is_no_release(cli):
    assert cli("query", "people.csv", "count").exit_code == 2
    assert cli("query", "nowhere", "count").exit_code == 2
