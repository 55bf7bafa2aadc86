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

import grids

# The default run tries the same examples every time; HYPOTHESIS_PROFILE=explore (make test-full) looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=20)
settings.register_profile("explore", deadline=None, max_examples=50)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

# Whoever runs the suite in the background has SIGINT ignored, and so would have the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


#: What takes longest begins first, so that no process waits for it in the end. While one process compiles nearly every
#: kernel for the written releases, the other one has what needs few of them: both would compile the same otherwise.
LONGEST = (
    "test_spark_engine.py",
    "test_written_release.py",
    "test_spark_command.py",
    "test_bad_surroundings.py",
    "test_app_in_a_browser.py",
    "test_cli_failures.py",
    "test_bad_input.py",
    "test_public_figures.py",
    "test_neighbours.py",
    "test_docs.py",
    "test_algorithms_contract.py",
    "test_microaggregation_contract.py",
    "test_separable.py",
    "test_fingerprint_attacks.py",
    "test_beyond_groups.py",
    "test_secrets.py",
    "test_numbered_release.py",
    "test_tables_files.py",
    "test_killed.py",
    "test_cli_fingerprint.py",
    "test_fulldomain_searches.py",
    "test_criteria_contract.py",
    "test_golden_arx.py",
)


#: What a file says whose tests need a Spark session.
ON_SPARK = 'pytest.mark.usefixtures("spark"'


def pytest_configure(config: pytest.Config) -> None:
    """What the marker leaves out is not made, which would take each process longer than many a test."""
    grids.everything = config.option.markexpr != "not full"


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(obj: object) -> list[pytest.Item] | None:
    """No test of a function that is marked `full` in the usual suite; None lets pytest make them."""
    marks = getattr(obj, "pytestmark", [])
    full = isinstance(marks, list) and any(mark.name == "full" for mark in marks)
    return [] if full and not grids.everything else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files come first; `--dist loadfile` keeps tests of a file together, and so what they share.

    PART=2/4 (make test-full) is every fourth file, from the second one on.
    """
    first = {file: i for i, file in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.name, len(LONGEST)))
    part, parts = map(int, (os.environ.get("PART") or "1/1").split("/"))
    files = set(list(dict.fromkeys(item.path for item in items))[part - 1 :: parts])
    items[:] = [item for item in items if item.path in files]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Files whose tests share what takes long are one file to `--dist loadfile`, so that one process makes it.

    That is a Spark session, or the syntax trees of the package.
    """
    from xdist.scheduler import LoadFileScheduling

    class SharedTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "Spark" if file in on_spark else "trees" if file.startswith("tests/architecture/") else file

    files = Path(__file__).parent.glob("engines/test_*.py")
    on_spark = {f"tests/engines/{file.name}" for file in files if ON_SPARK in file.read_text("utf-8")}
    return SharedTogether(config, log) if config.option.dist == "loadfile" else None


@pytest.fixture(scope="session", autouse=True)
def _nobody_cuts_the_power() -> Iterator[None]:
    """Files of tests need not reach the disk: each of the dozen files of a release would wait some 2 ms for it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


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
