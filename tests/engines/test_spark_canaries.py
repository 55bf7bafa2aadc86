"""What must stay inside stays inside on Spark too; see ``tests/guarantee/test_canaries.py``."""

from __future__ import annotations

from pathlib import Path

import pytest
from spark_setup import require_spark

from canaries import KINDS, publish, strangers_surroundings
from grids import some

require_spark()

__all__ = ["strangers_surroundings"]  # a fixture

pytestmark = pytest.mark.usefixtures("spark", "strangers_surroundings")

#: Rows of masks and of regenerated records need a fixed order, so Spark refuses them.
REFUSED = ("regenerated-condensation", "masks and groups")
SHARED = [name for name, kind in KINDS.items() if "streaming" in kind.engines and name not in REFUSED]


@pytest.mark.parametrize("kind", some(SHARED, every=len(SHARED)))
def test_no_canary_is_published(kind: str, tmp_path: Path):
    published = publish(KINDS[kind], tmp_path, 1, "spark", "parquet" if len(kind) % 2 else "csv")
    assert published.found() == set()
    assert all(order < 5 for order in published.orders())
