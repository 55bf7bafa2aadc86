"""How many records share their published values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tarnkappe.errors import JobError
from tarnkappe.evaluate import joint_anonymity


def test_groups_are_counted_as_by_hand():
    rng = np.random.default_rng(0)
    for _ in range(20):
        table = pl.DataFrame({"a": rng.integers(0, 4, 30), "b": rng.integers(0, 4, 30)})
        rows = table.rows()
        sizes = [rows.count(row) for row in rows]
        found = joint_anonymity(table, ["a", "b"], 3)
        assert found.alone == pytest.approx(sizes.count(1) / 30)
        assert found.below == pytest.approx(sum(s < 3 for s in sizes) / 30)
        assert found.smallest == min(sizes)
        assert found.n_records == 30
        assert found.ok == (min(sizes) >= 3)


def test_missing_values_are_equal():
    table = pl.DataFrame({"a": [None, None, 1, 1]})
    assert joint_anonymity(table, ["a"], 2).ok


def test_a_file_is_read(tmp_path: Path):
    pl.DataFrame({"a": [1, 1, 2]}).write_parquet(tmp_path / "table.parquet")
    assert joint_anonymity(tmp_path / "table.parquet", ["a"], 2).alone == pytest.approx(1 / 3)


@pytest.mark.parametrize(("columns", "k"), [([], 2), (["a"], 0)])
def test_senseless_questions_are_refused(columns: list[str], k: int):
    with pytest.raises(JobError):
        joint_anonymity(pl.DataFrame({"a": [1]}), columns, k)
