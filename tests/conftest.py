"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The default run tries the same examples every time; HYPOTHESIS_PROFILE=explore (make test-full) looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with reference data and oracles; tests that need it are skipped where it is absent."""
    folder = Path(os.environ.get("TARNKAPPE_DATA", Path(__file__).parents[2] / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"reference data not found in {folder} (set TARNKAPPE_DATA to a folder with data/ and oracles/)")
    return folder
