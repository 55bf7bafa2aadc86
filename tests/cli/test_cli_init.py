"""``init`` and ``inspect``: from a file to a job, with reasons and without values."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from hospital import JOB, files, people

from tarnkappe.datasets import write_census
from tarnkappe.job.files import load_job


def test_two_commands_make_a_release(cli, folder: Path) -> None:
    write_census("census.csv", 2000, seed=4)
    first = cli("init", "census.csv")
    assert first.exit_code == 0
    assert "review the roles in census.yaml, then  tarnkappe run census.yaml" in first.stdout
    second = cli("run", "census.yaml")
    assert second.exit_code == 0
    assert "census-release/public/census.csv" in second.stdout


def test_suggestions_are_shown_and_written(cli, folder: Path) -> None:
    result = cli("init", "people.csv", "-o", "jobs/mine.yaml")
    assert result.exit_code == 0
    job = load_job("jobs/mine.yaml")
    assert {c.name: c.role for c in job.columns} == {
        "name": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "illness": "sensitive",
    }
    assert Path(str(job.data.path)).resolve() == (folder / "people.csv").resolve()
    assert "quasi      age, sex, zip" in result.stdout
    assert cli("run", "jobs/mine.yaml").exit_code == 0


def test_a_job_file_is_not_overwritten_unasked(cli, folder: Path) -> None:
    result = cli("init", "people.csv", "-o", "job.yaml")
    assert result.exit_code == 6
    assert "E601" in result.stderr
    assert Path("job.yaml").read_text() == JOB
    assert cli("init", "people.csv", "-o", "job.yaml", "--overwrite").exit_code == 0
    assert Path("job.yaml").read_text() != JOB


def test_columns_nobody_knows_are_left_to_the_steward(cli, folder: Path) -> None:
    people().with_columns(ward=pl.lit("A") + pl.col("age").mod(3).cast(str)).write_csv("wards.csv")
    result = cli("init", "wards.csv")
    assert "1 column without a role: ward" in result.stdout
    stopped = cli("run", "wards.yaml")
    assert stopped.exit_code == 2
    assert "ward: 3 different texts" in stopped.stderr
    assert "Choose a role for every column that is undecided in wards.yaml" in stopped.stderr
    again = cli("init", "wards.csv", "--update", "wards.yaml")
    assert again.exit_code == 0
    assert "1 column without a role: ward" in again.stdout
    decided = Path("wards.yaml").read_text().replace("{role: undecided}", "{role: quasi, taxonomy: suppress}")
    Path("wards.yaml").write_text(decided)
    assert cli("run", "wards.yaml").exit_code == 0


def test_update_adds_what_is_missing_and_keeps_the_rest(cli, folder: Path) -> None:
    text = JOB.replace("  sex: {role: quasi, taxonomy: suppress}\n", "  # my comment\n").replace("\n", "\r\n")
    Path("job.yaml").write_bytes(text.encode())
    Path("job.yaml").chmod(0o640)
    result = cli("init", "people.csv", "--update", "job.yaml")
    assert result.exit_code == 0
    assert "Added      sex" in result.stdout
    after = Path("job.yaml").read_bytes().decode()
    added = [line for line in after.splitlines(keepends=True) if line.startswith("  sex:")]
    assert len(added) == 1
    assert after.replace(added[0], "") == text
    assert Path("job.yaml").stat().st_mode & 0o777 == 0o640
    assert cli("run", "job.yaml").exit_code == 0
    assert "nothing" in cli("init", "people.csv", "--update", "job.yaml").stdout
    assert Path("job.yaml").read_bytes().decode() == after


@pytest.mark.parametrize(
    ("words", "exit_code", "code"),
    [
        (["none.csv"], 3, "E401"),
        (["people.csv", "--update", "none.yaml"], 2, "E107"),
        (["people.csv", "--update", "job.yaml", "-o", "x.yaml"], 2, "E108"),
        (["none.xml"], 2, "E107"),
        (["job.yaml"], 3, "E408"),
    ],
)
def test_what_init_cannot_do_is_told(cli, folder: Path, words: list[str], exit_code: int, code: str) -> None:
    before = files(folder)
    result = cli("init", *words)
    assert result.exit_code == exit_code
    assert f"{code}  " in result.stderr
    assert files(folder) == before


def test_an_xml_configuration_becomes_a_job(cli, folder: Path) -> None:
    Path("config.xml").write_text(
        '<config method="Unheard" k="5" l="2"><input filename="people.csv"/>'
        '<identifiers><attribute name="name" index="0" type="CATEGORICAL"/></identifiers>'
        '<quasi_identifiers><attribute name="age" index="1" type="NUMERICAL"/>'
        '<attribute name="sex" index="2" type="CATEGORICAL"/><attribute name="zip" index="3" type="CATEGORICAL"/>'
        '</quasi_identifiers><sensitive_attributes><attribute name="illness" index="4" type="CATEGORICAL"/>'
        "</sensitive_attributes></config>"
    )
    Path("taxonomies.xml").write_text(
        '<taxonomies><taxonomy attribute="sex"><node value="ANY"><node value="male"/><node value="female"/></node>'
        "</taxonomy></taxonomies>"
    )
    result = cli("init", "config.xml", "-o", "jobs/old.yaml")
    assert result.exit_code == 0
    assert "'Unheard' of the configuration is not known" in result.stdout
    job = load_job("jobs/old.yaml")
    assert job.columns[2].taxonomy is not None
    assert job.columns[2].taxonomy.name == "file"
    assert cli("run", "jobs/old.yaml", "-o", "out").exit_code == 0


def test_inspect_profiles_without_writing(cli, folder: Path) -> None:
    before = files(folder)
    result = cli("inspect", "people.csv")
    assert result.exit_code == 0
    assert files(folder) == before
    unique = int((people().group_by("age", "sex", "zip").len()["len"] == 1).sum())
    assert f"{unique} people are unique" in result.stdout
    assert "suggested quasi-identifiers: age, sex, zip" in result.stdout
    assert "identifier: its name says that it holds names of people" in result.stdout


def test_inspect_takes_chosen_columns_and_speaks_json(cli) -> None:
    data = json.loads(cli("inspect", "people.csv", "--quasi", "sex,age", "--json").stdout)
    sizes = people().group_by("sex", "age").len()["len"]
    assert data["unique"]["columns"] == ["sex", "age"]
    assert data["unique"]["unique"] == int((sizes == 1).sum())
    assert data["unique"]["in_small_groups"] == int(sizes.filter(sizes < 5).sum())
    by_name = {c["name"]: c for c in data["columns"]}
    assert by_name["age"]["kind"] == "number"
    assert by_name["name"]["distinct_share"] == 1.0
    assert (by_name["illness"]["role"], by_name["illness"]["distinct"]) == ("sensitive", 4)


def test_inspect_without_any_quasi_identifier(cli) -> None:
    pl.DataFrame({"ward": ["a", "b"]}).write_csv("w.csv")
    assert "no quasi-identifier is suggested" in cli("inspect", "w.csv").stdout
    unknown = cli("inspect", "people.csv", "--qi", "agee")
    assert unknown.exit_code == 3
    assert "did you mean 'age'" in unknown.stderr
