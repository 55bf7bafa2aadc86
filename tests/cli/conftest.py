"""A way to call commands in a folder with data and a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hospital import JOB, people
from typer.testing import CliRunner

from tarnkappe.cli.app import app


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the data and the job in it, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    people().write_csv("people.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


@pytest.fixture
def cli(folder: Path) -> Callable[..., Any]:
    """Calls ``tarnkappe`` with some words."""

    def call(*words: object) -> Any:
        result = CliRunner().invoke(app, [str(w) for w in words], prog_name="tarnkappe")
        assert "Traceback" not in result.output
        assert "canary" not in result.output  # nobody's values are ever printed
        return result

    return call
