"""Adult with its hierarchies, for fingerprints."""

from __future__ import annotations

from pathlib import Path

import pytest
from adult_cells import EIGHT, adult_tally

from tarnkappe.tally import Tally


@pytest.fixture(scope="session")
def eight(shared: Path) -> Tally:
    return adult_tally(shared / "data" / "adult", EIGHT)
