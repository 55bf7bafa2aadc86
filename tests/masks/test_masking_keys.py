"""Keys of people in tables that are only masked."""

from __future__ import annotations

import polars as pl

import tarnkappe as tk
from tarnkappe.schema import Column

VISITS = pl.DataFrame({"pid": [i // 3 for i in range(150)], "age": [20 + i * 7 % 41 for i in range(150)]})


def said(data: pl.DataFrame, *columns: Column) -> list[str]:
    release = tk.mask(data, [tk.RankSwapping(["age"], window_percent=10)], columns=columns, seed=1)
    return [n.message for n in release.notices if n.code == "W604"]


def test_a_key_of_people_that_no_mask_changes_is_said():
    (words,) = said(VISITS)
    assert "100 of 150 rows repeat an earlier value of 'pid', which no mask changes" in words
    assert not said(VISITS, Column("pid", "drop"))
    assert not said(VISITS.rename({"pid": "beds"}))
