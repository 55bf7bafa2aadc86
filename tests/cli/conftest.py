"""A small hospital file, a job for it, and a way to call commands in an empty folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from tarnkappe.cli.app import app

Cli = Callable[..., Any]

JOB = """\
title: Hospital
data: {path: people.csv}
columns:
  name: {role: identifier}
  age: {role: quasi, type: numeric}
  sex: {role: quasi, taxonomy: suppress}
  zip: {role: quasi, taxonomy: {kind: prefix, keep: [4, 3, 2, 1]}}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 5}
  - l-diversity: {column: illness, l: 2}
output: {folder: release}
"""

ROWS = 400


def people() -> pl.DataFrame:
    """Invented patients; every name and postcode begins with a word that must never be printed."""
    rng = np.random.default_rng(7)
    return pl.DataFrame(
        {
            "name": [f"canary-{i}" for i in range(ROWS)],
            "age": rng.integers(18, 90, ROWS),
            "sex": rng.choice(["female", "male"], ROWS),
            "zip": [f"2{n:04d}" for n in rng.integers(0, 3000, ROWS)],
            "illness": rng.choice(["canary-flu", "canary-gout", "canary-cough", "canary-burn"], ROWS),
        }
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the data and the job in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    people().write_csv("people.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.fixture
def cli(folder: Path) -> Cli:
    """Calls ``tarnkappe`` with some words."""

    def call(*words: object) -> Any:
        result = CliRunner().invoke(app, [str(w) for w in words], prog_name="tarnkappe")
        assert "Traceback" not in result.output
        assert "canary" not in result.output  # nobody's values are ever printed
        return result

    return call


def files(folder: Path) -> set[str]:
    """All files below a folder."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
