"""The app as a user starts it, and a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from started_app import Started, Visit, start, visited

from tarnkappe.datasets import census


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder with a small census."""
    folder = tmp_path / "office"
    folder.mkdir()
    kept = ["age", "sex", "education", "occupation", "hours-per-week"]
    census(600, seed=1).select(kept).write_csv(folder / "census.csv")
    return folder


@pytest.fixture
def app(data: Path) -> Iterator[Started]:
    started = start(data, "--upload-limit", "1")
    yield started
    started.end()


@pytest.fixture
def visit(app: Started, browser: Any) -> Iterator[Visit]:
    """The app in a browser; any request to elsewhere, error of a script or breach of the policy fails the test."""
    yield from visited(app, browser)
