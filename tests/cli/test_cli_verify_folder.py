"""``verify`` of a release folder: criteria about people and public tables need what the publisher keeps."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk

JOB = """\
data: {path: visits.csv}
population: {path: register.csv}
columns:
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  illness: sensitive
  patient: subject
criteria:
  - k-anonymity: {k: 3}
  - k-map: {k: 12}
  - xy-anonymity: {y: patient, k: 4}
output: {folder: visited}
"""
FILE = "visited/public/visits.csv"


@pytest.fixture
def visited(cli, folder: Path) -> Path:
    rng = np.random.default_rng(3)
    register = pl.DataFrame({"age": rng.integers(20, 80, 900), "sex": rng.choice(["f", "m"], 900)})
    register.write_csv("register.csv")
    who = np.repeat(np.arange(120), 2)
    people = register.sample(120, seed=1)[who.tolist()]
    people.with_columns(illness=pl.Series(rng.choice(["flu", "gout"], 240)), patient=pl.Series(who)).write_csv(
        "visits.csv"
    )
    (folder / "visits.yaml").write_text(JOB)
    result = cli("run", "visits.yaml", "--seed", 1)
    assert result.exit_code == 0, result.output
    return folder / "visited"


def test_the_folder_verifies(cli, visited: Path):
    for words in (("visited",), (FILE,), (FILE, "--job", "visits.yaml")):
        result = cli("verify", *words)
        assert result.exit_code == 0, result.output
        assert "✓ k-map ≥ 12" in result.stdout
        assert "✓ different 'patient' ≥ 4" in result.stdout
        assert "✓ the file keeps the promise" in result.stdout


def test_a_folder_of_an_earlier_version_is_read(cli, visited: Path):
    (visited / "do-not-share").rename(visited / "internal")
    result = cli("verify", "visited")
    assert result.exit_code == 0, result.output
    assert "✓ k-map ≥ 12" in result.stdout


def test_without_the_internal_folder_it_says_what_is_lacking(cli, visited: Path):
    shutil.rmtree(visited / "do-not-share")
    result = cli("verify", "visited")
    assert result.exit_code == 5
    assert "✓ k-anonymity ≥ 3" in result.stdout
    assert "? k-map ≥ 12 · cannot be checked without the public table" in result.stdout
    assert "cannot be checked without the column 'patient', which is not published" in result.stdout
    assert "? the promise is only checked in part" in result.stdout
    data = json.loads(cli("verify", "visited", "--json").stdout)
    assert not data["ok"]
    assert [u["criterion"] for u in data["unchecked"]] == ["k-map", "xy-anonymity"]


def test_nothing_that_can_be_checked(cli, visited: Path):
    shutil.rmtree(visited / "do-not-share")
    result = cli("verify", FILE, "--quasi", "age,sex", "--criterion", "k-map:k=3")
    assert result.exit_code == 2
    assert "k-map cannot be checked without the public table" in result.output


def test_what_was_tampered_with_is_found(cli, visited: Path):
    witness = visited / "do-not-share/witness.parquet"
    pl.read_parquet(witness).with_columns(patient=pl.lit(1)).write_parquet(witness)
    result = cli("verify", "visited")
    assert result.exit_code == 5
    assert "✗ different 'patient' ≥ 4 · reached 1" in result.stdout
    pl.read_parquet(witness).head(3).write_parquet(witness)
    result = cli("verify", "visited")
    assert result.exit_code == 5
    assert "240 records, but the unpublished columns have 3" in result.output
    population = visited / "do-not-share/population.parquet"
    table = pl.read_parquet(population)
    table.with_columns(pl.lit(1).alias(table.columns[0])).group_by(table.columns[1:]).agg(pl.first("people")).select(
        table.columns
    ).write_parquet(population)
    assert "✗ k-map ≥ 12" in cli("verify", FILE, "--quasi", "age,sex", "--criterion", "k-map:k=12").stdout


def test_a_folder_that_is_no_release(cli, folder: Path):
    (folder / "empty").mkdir()
    result = cli("verify", "empty")
    assert result.exit_code == 2
    assert "'empty' is no release folder" in result.output


def test_check_and_the_report_work(cli, visited: Path):
    result = cli("check", "visits.yaml")
    assert result.exit_code == 0, result.output
    assert "1 person key dropped" in result.stdout
    assert "key of a person" in (visited / "public/report.html").read_text("utf-8")


def test_the_command_in_the_report_leaves_out_what_readers_cannot_check(cli, visited: Path):
    from tarnkappe.job.files import load_job
    from tarnkappe.pipeline import run_job
    from tarnkappe.report.facts import verify_command

    release = run_job(load_job("visits.yaml"), folder="again", seed=1)
    assert verify_command(release) == "tarnkappe verify visits.csv --qi age,sex --criterion k-anonymity:k=3"
    text = JOB.replace("xy-anonymity: {y: patient, k: 4}", "xy-linkability: {y: illness, h: 0.9, x: [age, sex]}")
    text = text.replace("  - k-map: {k: 12}\n", "").replace("patient: subject", "patient: identifier")
    Path("other.yaml").write_text(text + "algorithm: datafly\n")
    release = run_job(load_job("other.yaml"), folder="other", seed=1)
    words = verify_command(release).split()
    assert words[-1] == "xy-linkability:y=illness,h=0.9,x=age,x=sex"
    assert cli("verify", "other/public/visits.csv", *words[3:]).exit_code == 0


def test_a_table_that_its_private_folder_was_not_kept_for(cli, folder: Path):
    """It was released long ago, so nobody is told that it was not written, or that a disk is damaged."""
    frame = pl.DataFrame({"age": [30, 31, 32, 50, 51, 52] * 4, "illness": ["flu", "gout", "ache"] * 8})
    asked = [tk.KAnonymity(3), tk.SecurityRatio("age", epsilon=1)]
    job = tk.Job(quasi={"age": tk.numeric()}, sensitive=["illness"], criteria=asked, algorithm="mdav")
    tk.run_job(job, frame, folder / "out", seed=1)
    assert cli("verify", "out").exit_code == 0
    table = folder / "out" / "public" / "release.parquet"
    pl.read_parquet(table)[:-1].write_parquet(table)
    result = cli("verify", "out")
    assert result.exit_code == 5
    assert "E505" in result.stderr
    assert "NOT written" not in result.stderr
    (folder / "out" / "do-not-share" / "originals.parquet").write_bytes(b"rubbish")
    result = cli("verify", "out")
    assert result.exit_code == 3
    assert "E401  'originals.parquet' cannot be read" in result.stderr
