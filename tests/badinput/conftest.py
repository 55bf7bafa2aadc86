"""A folder with data and a job in it, which is the current one."""

from __future__ import annotations

from pathlib import Path

import pytest
from office import Office


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """An empty folder in which commands are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return Office(tmp_path)
