"""Job files about several tables."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.app import app
from tarnkappe.errors import JobError
from tarnkappe.job.files import load_job
from tarnkappe.multirelational.files import load_tables_job

JOB = """
key: patient
persons: people
tables:
  people:
    path: people.csv
    columns:
      age: {role: quasi, taxonomy: {kind: intervals, widths: [10, 50]}}
      sex: {role: quasi, taxonomy: suppress}
      name: identifier
  visits:
    path: visits.csv
    rows: set
    rest: drop
    columns:
      month: {role: quasi, taxonomy: suppress}
      diagnosis: {role: sensitive}
criteria:
  - k-anonymity: {k: 3}
  - frequency-l-diversity: {column: visits.diagnosis, l: 2}
limits: {suppressed_rows: 50%}
output: {folder: out}
seed: 4
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    n = 40
    people = {"patient": range(n), "age": [20 + i % 30 for i in range(n)], "sex": ["f", "m"] * (n // 2)}
    pl.DataFrame(people).with_columns(name=pl.format("somebody {}", "patient")).write_csv(tmp_path / "people.csv")
    visits = [(i % n, ["May", "June"][i % 2], f"illness {i * 7 % 9}", i) for i in range(60)]
    frame = pl.DataFrame(visits, schema=["patient", "month", "diagnosis", "bill"], orient="row")
    frame.write_csv(tmp_path / "visits.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, ["run", *arguments])


def test_several_tables_are_run_from_a_job_file(folder: Path):
    done = run(str(folder / "job.yaml"))
    assert done.exit_code == 0, done.output
    assert "persons who look the same" in done.output
    people, visits = (pl.read_csv(folder / "out" / "public" / f"{name}.csv") for name in ("people", "visits"))
    assert people.columns == ["patient", "age", "sex"]
    assert visits.columns == ["patient", "month", "diagnosis"]
    # Plain Python: what is seen of a person, in both tables together, is seen of two others.
    months: dict[int, set] = {}
    for patient, month, _ in visits.rows():
        months.setdefault(patient, set()).add(month)
    seen = Counter((age, sex, frozenset(months.get(patient, ()))) for patient, age, sex in people.rows())
    assert min(seen.values()) >= 3
    manifest = json.loads((folder / "out" / "public" / "manifest.json").read_text())
    assert [v["ok"] for v in manifest["verdicts"]] == [True, True]


def test_a_dry_run_writes_nothing(folder: Path):
    done = run(str(folder / "job.yaml"), "--dry-run")
    assert done.exit_code == 0, done.output
    assert not (folder / "out").exists()


def test_settings_override(folder: Path):
    assert load_tables_job(folder / "job.yaml", ["criteria.k=5"]).job.k == 5


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("persons: people", "persons: peple", "E105 there is no table 'peple'"),
        ("visits.diagnosis", "visits.bill", "E105 a criterion looks at 'visits.bill'"),
        ("visits.diagnosis", "diagnosis", "E105 'diagnosis' is no column of a table"),
        ("  - k-anonymity: {k: 3}\n", "", "E106 the job has no k-anonymity"),
        ("k-anonymity: {k: 3}", "k-map: {k: 3}", "E111 k-map is not known"),
        ("sex: {role: quasi, taxonomy: suppress}", "sex: {role: quasi}", "E112 quasi-identifier 'sex' has no taxonomy"),
        ("name: identifier", "name: {role: keep, because: a long reason here}", "E111 column 'name' of 'people'"),
        ("rows: set", "rows: bag", "E110"),
        ("key: patient\n", "", "E1"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, old: str, new: str, what: str):
    assert old in JOB
    (folder / "job.yaml").write_text(JOB.replace(old, new))
    with pytest.raises(JobError, match=what):
        load_tables_job(folder / "job.yaml")
    assert run(str(folder / "job.yaml")).exit_code != 0
    assert not (folder / "out").exists()


def test_other_commands_say_what_it_is(folder: Path):
    with pytest.raises(JobError, match="E102 this job file is about several tables"):
        load_job(folder / "job.yaml")
