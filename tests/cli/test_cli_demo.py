"""``demo``: everything in one folder, all of it usable afterwards."""

from __future__ import annotations

import json
from pathlib import Path

from hospital import files

from tarnkappe.cli.demo import job_text
from tarnkappe.datasets import CENSUS_ROLES
from tarnkappe.job.files import job_from_text


def test_the_demo_makes_a_release_that_verifies(cli, folder: Path) -> None:
    result = cli("demo", "--rows", 3000, "--seed", 1)
    assert result.exit_code == 0
    made = files(folder / "demo")
    assert {"census.csv", "job.yaml", "taxonomies/education.csv", "release/public/report.html"} <= made
    for label in ("Before", "Result", "Verify", "Wrote", "Example", "Try"):
        assert f"\n  {label}" in f"\n{result.stdout}"
    assert cli("verify", "demo/release/public/census.csv").exit_code == 0
    command = next(line for line in result.stdout.splitlines() if "criteria.k=50" in line).split()
    assert cli(*command[1:]).exit_code == 0
    assert Path("demo/k50/public/census.csv").is_file()


def test_the_demo_does_not_overwrite_unasked_and_is_repeatable(cli, folder: Path) -> None:
    cli("demo", "--rows", 2000, "--folder", "a", "--seed", 3)
    refused = cli("demo", "--rows", 2000, "--folder", "a")
    assert refused.exit_code == 6
    assert "E601" in refused.stderr
    first = Path("a/release/public/census.csv").read_bytes()
    again = cli("demo", "--rows", 2000, "--folder", "a", "--seed", 3, "--overwrite", "--json")
    assert json.loads(again.stdout)["records"] == 2000
    assert Path("a/release/public/census.csv").read_bytes() == first
    Path("file").write_text("x")
    assert cli("demo", "--folder", "file").exit_code == 6


def test_the_demo_can_leave_the_run_to_its_reader(cli, folder: Path) -> None:
    result = cli("demo", "--rows", 1000, "--no-run")
    assert result.exit_code == 0
    assert not (folder / "demo/release").exists()
    command = next(line for line in result.stdout.splitlines() if "Try" in line).split()
    assert cli(*command[2:]).exit_code == 0
    assert json.loads(cli("demo", "--rows", 1000, "--no-run", "--folder", "b", "--json").stdout) == {
        "job": "b/job.yaml"
    }


def test_the_job_of_the_demo_says_what_it_is_for() -> None:
    text = job_text(30_000)
    job = job_from_text(text)
    assert {c.name: c.role for c in job.columns} == CENSUS_ROLES
    assert all(c.because for c in job.columns if c.role in ("keep", "drop"))
    assert text.count("#") > 10
