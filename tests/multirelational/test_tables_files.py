"""Job files about several tables."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.app import app
from tarnkappe.errors import JobError, VerificationError
from tarnkappe.job.files import load_job
from tarnkappe.multirelational import decide_multirelational, run_multirelational
from tarnkappe.multirelational.files import load_tables_job
from tarnkappe.multirelational.model import Relation
from tarnkappe.multirelational.plan import Labelling
from tarnkappe.multirelational.published import TablesDraft
from tarnkappe.publish.labels import Labels

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


@pytest.mark.parametrize(
    "words", [("risk", "OUT"), ("attack", "all", "OUT"), ("query", "OUT", "count"), ("utility", "PEOPLE", "OUT")]
)
def test_commands_about_records_do_not_take_the_first_table_for_the_release(folder: Path, words: tuple[str, ...]):
    assert run(str(folder / "job.yaml")).exit_code == 0
    places = {"OUT": str(folder / "out"), "PEOPLE": str(folder / "people.csv")}
    done = CliRunner().invoke(app, [places.get(word, word) for word in words])
    assert done.exit_code == 6, done.output
    assert "E609" in done.output
    assert "tarnkappe verify" in done.output


def test_the_checker_without_tarnkappe_says_what_it_does_not_know(folder: Path):
    assert run(str(folder / "job.yaml")).exit_code == 0
    assert verify(str(folder / "out"), "--standalone").exit_code == 0
    checker = folder / "out" / "public" / "check_release.py"
    done = subprocess.run([sys.executable, checker], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "does not know them" in done.stdout
    assert "Error" not in done.stdout
    (folder / "out" / "public" / "visits.csv").write_text("patient\n1\n")
    assert subprocess.run([sys.executable, checker], capture_output=True, check=False).returncode == 1


def verify(*arguments: str):
    return CliRunner().invoke(app, ["verify", *arguments])


def test_the_folder_can_be_verified_and_changes_are_found(folder: Path):
    assert run(str(folder / "job.yaml")).exit_code == 0
    for what in (folder / "out", folder / "out" / "public" / "people.csv"):
        assert verify(str(what)).exit_code == 0
    table = folder / "out" / "public" / "visits.csv"
    whole = table.read_text()
    table.write_text(whole.replace("*", "May", 1) if "*" in whole else whole.replace("May", "Mai", 1))
    done = verify(str(folder / "out"), "--json")
    assert done.exit_code == 5
    told = json.loads(done.stdout)
    assert told["sha256_matches_manifest"] is False
    assert told["verdicts"][0]["ok"] is False, "somebody stands out by the changed row"
    table.write_text(whole)
    assert verify(str(folder / "out")).exit_code == 0
    manifest = folder / "out" / "public" / "manifest.json"
    told = json.loads(manifest.read_text())
    for wrong in ({"relations": []}, {"persons": "nobody"}, {"k": None}):
        manifest.write_text(json.dumps({**told, "joined": {**told["joined"], **wrong}}))
        assert "E408" in verify(str(folder / "out")).output


def test_the_kept_job_makes_the_same_release_again(folder: Path):
    assert run(str(folder / "job.yaml")).exit_code == 0
    public = folder / "out" / "public"
    first = {name: (public / name).read_bytes() for name in ("people.csv", "visits.csv", "codebook.csv")}
    kept = folder / "out" / "do-not-share" / "job.yaml"
    assert load_tables_job(kept).job == load_tables_job(folder / "job.yaml").job
    assert run(str(kept), "--overwrite").exit_code == 0
    assert first == {name: (public / name).read_bytes() for name in first}


def test_nothing_public_tells_what_only_the_publisher_knows(folder: Path):
    assert run(str(folder / "job.yaml"), "--seed", "987654321").exit_code == 0
    public, private = folder / "out" / "public", folder / "out" / "do-not-share"
    shared = "".join(p.read_text() for p in public.iterdir())
    kept = json.loads((private / "manifest.json").read_text())
    assert {"seed", "loss", "levels", "input", "seconds"} <= set(kept)
    assert "987654321" not in shared
    assert "somebody 1" not in shared
    assert str(folder) not in shared
    manifest = json.loads((public / "manifest.json").read_text())
    assert not {"seed", "loss", "levels", "input"} & set(manifest)
    assert "987654321" in (private / "report.html").read_text()
    assert "INTERNAL" not in (public / "report.html").read_text()


def test_the_report_says_what_belongs_together(folder: Path):
    assert run(str(folder / "job.yaml")).exit_code == 0
    page = (folder / "out" / "public" / "report.html").read_text()
    for words in ("looks like at least 2 other persons in all tables together", "people.csv", "visits.csv"):
        assert words in page
    assert "tarnkappe verify people.csv" in page.replace("<span>", "").replace("</span>", "")
    assert "<script" not in page


@pytest.mark.parametrize("wrong", ["swapped rows", "untrue label"])
def test_sabotage_that_keeps_the_groups_is_caught(folder: Path, monkeypatch: pytest.MonkeyPatch, wrong: str):
    """The groups are as planned, but something is not true of the persons."""
    given = load_tables_job(folder / "job.yaml")
    if wrong == "swapped rows":
        tables = TablesDraft.tables

        def swapped(self):
            made = tables(self)
            illness = made["visits"]["diagnosis"]
            return {**made, "visits": made["visits"].with_columns(illness.reverse())}

        monkeypatch.setattr(TablesDraft, "tables", swapped)
    else:
        of = Labelling.of

        def renamed(*given):
            made = of(*given)
            return replace(made, labels=Labels(made.labels.texts[::-1], made.labels.code))

        monkeypatch.setattr(Labelling, "of", renamed)
    with pytest.raises(VerificationError):
        run_multirelational(given, given.paths, folder / "out")
    assert not (folder / "out").exists()


def test_many_releases_of_one_decision(folder: Path):
    given = load_tables_job(folder / "job.yaml")
    decided = decide_multirelational(given, given.paths)
    one, again, other = (decided.publish(copy=copy).tables for copy in (0, 0, 1))
    assert one["people"].equals(again["people"])
    assert not one["people"].equals(other["people"])
    assert Counter(one["people"].drop("patient").rows()) == Counter(other["people"].drop("patient").rows())


def test_settings_that_would_be_ignored_are_refused(folder: Path):
    for line in ("data: {missing: [NA]}", "limits: {time: 3s}"):
        key = line.split(":", maxsplit=1)[0]
        (folder / "job.yaml").write_text("\n".join([x for x in JOB.split("\n") if not x.startswith(key)] + [line]))
        with pytest.raises(JobError):
            load_tables_job(folder / "job.yaml")


def test_sensitive_columns_that_point_at_people_need_a_reason(folder: Path):
    """They are published as they are, in every table, so they are looked at like those of any release."""
    visits = pl.read_csv(folder / "visits.csv")
    named = visits.with_columns(diagnosis=pl.format("p{}@mail.example.org", "bill"))
    named.write_csv(folder / "visits.csv")
    refused = run(str(folder / "job.yaml"))
    assert refused.exit_code == 6
    assert "E604 column 'diagnosis'" in " ".join(refused.output.split())
    assert not (folder / "out").exists()
    reason = "made up, reviewed by A. Meyer"
    text = JOB.replace("diagnosis: {role: sensitive}", f"diagnosis: {{role: sensitive, because: '{reason}'}}")
    (folder / "job.yaml").write_text(text)
    done = run(str(folder / "job.yaml"))
    assert done.exit_code == 0, done.output
    assert "W609" in done.output
    for part in ("public", "do-not-share"):
        assert reason in (folder / "out" / part / "report.html").read_text()
    again = load_tables_job(folder / "out" / "do-not-share" / "job.yaml").job.satellites[0]
    assert again.because == {"diagnosis": reason}


def test_a_reason_for_a_column_that_is_not_published_is_refused():
    with pytest.raises(JobError, match="'because' names 'ward'"):
        Relation("visits", ["month"], because={"ward": "an internal code, reviewed by the board"})


def test_of_two_criteria_about_a_column_the_stricter_one_holds(folder: Path):
    asked = "  - frequency-l-diversity: {column: visits.diagnosis, l: 2}\n"
    (folder / "job.yaml").write_text(JOB.replace(asked, asked.replace("l: 2", "l: 3") + asked))
    assert load_tables_job(folder / "job.yaml").job.satellites[0].diversity == {"diagnosis": 3}


@pytest.mark.parametrize("file", ["../../people.csv", "/people.csv", ""])
def test_a_manifest_that_names_files_elsewhere_is_refused(folder: Path, file: str):
    assert run(str(folder / "job.yaml")).exit_code == 0
    manifest = folder / "out" / "public" / "manifest.json"
    told = json.loads(manifest.read_text())
    told["tables"][1]["file"] = file
    manifest.write_text(json.dumps(told))
    done = CliRunner().invoke(app, ["verify", str(folder / "out")])
    assert done.exit_code == 3
    assert "E408" in done.output


@pytest.mark.parametrize("name", ["../../visits", "a/b", "", "People"])
def test_tables_are_called_like_files_that_can_lie_beside_each_other(folder: Path, name: str):
    text = JOB.replace("  visits:", f'  "{name}":').replace("visits.diagnosis, l: 2", f"'{name}.diagnosis', l: 2")
    (folder / "job.yaml").write_text(text.replace("  - frequency", "  # - frequency"))
    done = run(str(folder / "job.yaml"))
    assert done.exit_code == 2, done.output
    assert not (folder / "out").exists()
