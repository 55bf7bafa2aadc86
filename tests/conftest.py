"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# The default run tries the same examples every time; HYPOTHESIS_PROFILE=explore (make test-full) looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Whoever runs the suite in the background has SIGINT ignored, and so would have the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: What takes longest begins first, so that no process waits for it in the end.
LONGEST = (
    "test_spark_engine.py",
    "test_algorithms_contract.py",
    "test_odd_files.py",
    "test_spark_command.py",
    "test_bad_surroundings.py",
    "test_bad_input.py",
    "test_written_release.py",
    "test_criteria_contract.py",
    "test_docs.py",
    "test_neighbours.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first; `--dist loadfile` keeps tests of a file together, and so what they share."""
    first = {file: i for i, file in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(LONGEST)))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with reference data and oracles; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TARNKAPPE_DATA", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"reference data not found in {folder} (set TARNKAPPE_DATA to a folder with data/ and oracles/)")
    return folder


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A real browser; one per process, because its driver does not start twice in one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install -e '.[dev]'")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=chromium, args=flags)
        yield opened
        opened.close()
