"""``tarnkappe run`` on Spark as a user meets it: what it prints, and what it says when something is missing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from spark_setup import FEW_TASKS, require_spark

JOB = """
data: {path: people.csv}
columns:
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 2}
output: {folder: release}
engine: spark
master: local[2]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"{20 + i % 7},{'fm'[i % 2]},{'abc'[i % 3]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(["age,sex,illness", *rows]) + "\n")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def run(folder: Path, *arguments: str, before: str = "", **changes: str | None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    for name, value in changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    code = f"import sys\n{before}\nfrom tarnkappe.cli import main\nmain()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def assert_one_clear_line(ran: subprocess.CompletedProcess[str], message: str, fix: str, folder: Path) -> None:
    assert ran.returncode == 2
    assert "E113" in ran.stderr
    assert message in ran.stderr
    assert fix in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert not (folder / "release").exists()


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="PySpark is not installed")
def test_without_java(folder: Path):
    ran = run(folder, "run", "job.yaml", "-q", PATH="", JAVA_HOME=None)
    assert_one_clear_line(ran, "needs Java 17 or newer, and none was found", "apt-get install openjdk-17", folder)
    ran = run(folder, "run", "job.yaml", "-q", JAVA_HOME=str(folder))
    assert_one_clear_line(ran, "JAVA_HOME names a folder without it", "unset JAVA_HOME", folder)


def test_without_pyspark(folder: Path):
    ran = run(folder, "run", "job.yaml", "-q", before="sys.modules['pyspark'] = None")
    assert_one_clear_line(ran, "needs PySpark 4, which is not installed", "pip install 'tarnkappe[spark]'", folder)


def test_a_run_says_nothing_that_is_not_ours(folder: Path):
    require_spark()
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in FEW_TASKS.items()))
    ran = run(folder, "run", "job.yaml", "--json", SPARK_CONF_DIR=str(folder))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["records"] == 60
    known = ("reading and counting", "forming groups", "rewriting", "reading back", "writing the reports", "preparing")
    assert [line for line in ran.stderr.splitlines() if line.strip() and not line.strip().startswith(known)] == []
    again = run(folder, "verify", "release", "--json")
    assert json.loads(again.stdout)["sha256_matches_manifest"] is True
    assert again.returncode == 0, again.stderr
