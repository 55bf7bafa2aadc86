"""The rows of numbered tables as watchers see them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from tarnkappe import sheet_runs
from tarnkappe.errors import DataError
from tarnkappe.io import open_source
from tarnkappe.sheet_runs import runs

TABLE = pl.DataFrame({"group": np.repeat(np.arange(1, 41), 5), "value": ["a", "b", None, "d", "e"] * 40})


@pytest.fixture
def small_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet_runs, "_ROWS", 32)


@pytest.mark.usefixtures("small_runs")
def test_texts_are_looked_up_once_for_all_runs_of_a_table():
    asked: list[list[str | None]] = []
    place = {"a": 3, "b": 1, None: 7, "d": -1, "e": 0}

    def find(texts: pl.Series) -> np.ndarray:
        asked.append(texts.to_list())
        return np.array([place[text] for text in texts.to_list()], np.int32)

    seen = [run.looked_up("value", find) for run in runs(open_source(TABLE, missing=()), "group", ["value"])]
    assert len(seen) > 1
    assert np.concatenate(seen).tolist() == [place[text] for text in TABLE["value"].to_list()]
    assert asked == [["a", "b", None, "d", "e"]]


@pytest.mark.usefixtures("small_runs")
def test_what_was_found_is_forgotten_when_there_are_many_texts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sheet_runs, "_MANY_TEXTS", 8)
    table = TABLE.with_columns(pl.Series("value", [f"text {i // 3}" for i in range(200)]))
    given = runs(open_source(table, missing=()), "group", ["value"])
    found = []
    for run in given:
        found.append(run.looked_up("value", lambda texts: texts.str.slice(5).cast(pl.Int32).to_numpy()))
        assert all(len(known) <= 8 + 32 for known in run.known.values())
    assert np.concatenate(found).tolist() == [i // 3 for i in range(200)]


@pytest.mark.parametrize("count", ["", " 1", "1.5", "0", "-1", "many", 1.5, 0, None])
def test_every_row_stands_for_some_records(count: object):
    """An empty count read as the smallest number there is, and one that was no number ended in Polars' own words."""
    rows = pl.DataFrame({"group": [1, 1], "records": [1 if not isinstance(count, str) else "1", count]}, strict=False)
    (run,) = runs(open_source(rows, missing=("",)), "group", ["records"])
    with pytest.raises(DataError, match="how many records") as caught:
        run.records("records")
    assert caught.value.code == "E403"


def test_numbers_between_whole_ones_are_none():
    rows = pl.DataFrame({"group": [1.0, 1.5, 2.0], "value": ["a", "b", "c"]})
    with pytest.raises(DataError, match="E403"):
        list(runs(open_source(rows, missing=()), "group", ["value"]))
