"""Folders to work in, and users without power."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from office import Office, lay_down_power


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Office:
    """An empty folder in which commands are run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return Office(tmp_path)


@pytest.fixture
def powerless(tmp_path: Path) -> Callable[[], None]:
    """What makes a child process respect the rights of files; skips where that cannot be had."""
    locked = tmp_path / "locked"
    locked.write_text("")
    locked.chmod(0)
    opened = subprocess.run(["cat", str(locked)], preexec_fn=lay_down_power, capture_output=True, check=False)
    locked.unlink()
    if opened.returncode == 0:
        pytest.skip("whoever runs the tests may read every file, and cannot lay down that power here")
    return lay_down_power
