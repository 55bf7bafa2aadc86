"""Lines that are counted as a whole, and read once each, are the rows that Polars finds one by one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grids import examples
from tarnkappe import KAnonymity
from tarnkappe.goal import Goal
from tarnkappe.io import Cells, CsvDialect, RowCounter, alike, csvfile, open_source
from tarnkappe.verification import verify_table

FIELD = st.sampled_from(["", "a", "b", "?", "ä", "\r", "a\r", "\x1f", "x" * 20, " a", "age", "\ufeff"])


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch):
    """Everything is read as if it were large and its lines often alike."""
    monkeypatch.setattr(csvfile, "_LARGE", 0)
    monkeypatch.setattr(alike, "_OFTEN", 1)


def tallied(cells: Cells) -> Counter[tuple[str | None, ...]]:
    frame = cells.frame().cast(pl.String)
    assert frame.n_unique() == frame.height, "every row once"
    return Counter(dict(zip(frame.rows(), cells.count.tolist(), strict=True)))


@settings(max_examples=examples(80), deadline=None)
@given(
    rows=st.lists(st.tuples(FIELD, FIELD), min_size=1, max_size=12),
    times=st.integers(2, 4),
    missing=st.sampled_from([("",), (), ("?",), ("", "?", "a")]),
    last=st.sampled_from(["", "\n"]),
)
def test_as_row_by_row(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str]],
    times: int,
    missing: tuple[str, ...],
    last: str,
):
    path = tmp_path_factory.mktemp("alike") / "x.csv"
    lines = ["age,age 2", *(f"{a},{b}" for a, b in times * rows)]
    path.write_bytes(("\n".join(lines) + last).encode())
    with open_source(path, CsvDialect(delimiter=",", encoding="utf-8"), missing) as source:
        expected = RowCounter(source, source.columns).cells
        assert tallied(source.cells(source.columns)) == tallied(expected)


def test_a_line_that_begins_like_a_byte_order_mark_keeps_its_first_sign(tmp_path: Path):
    # Different lines come in any order, and what a reader sees first it may take for the mark.
    path = tmp_path / "x.csv"
    for n in range(12):
        rows = [("\ufeff", "a"), *((f"{i}", "b") for i in range(n))]
        path.write_text("\n".join(["x,y", *(f"{a},{b}" for a, b in 6 * rows)]), encoding="utf-8")
        with open_source(path, CsvDialect(delimiter=",", encoding="utf-8"), ("",)) as source:
            assert tallied(source.cells(source.columns)) == Counter(dict.fromkeys(rows, 6))


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    return path


def test_when_it_is_done(tmp_path: Path):
    with open_source(file(tmp_path, "a,b\n" + 9 * "a,b\n" + 3 * ",2\n")) as source:
        assert source.counted_alike(["b", "a"]) is not None
        assert tallied(source.cells(["b", "a"])) == {("b", "a"): 9, ("2", None): 3}
        assert source.counted_alike(["a"]) is None  # then lines may differ that look alike
    with open_source(file(tmp_path, "a,b\n" + "".join(f"{i},2\n" for i in range(9)))) as source:
        assert source.counted_alike(["a", "b"]) is None  # nothing repeats
    for odd in ('"1",2', "1\r,2", "1,\x1f"):
        with open_source(file(tmp_path, "a,b\n" + 9 * f"{odd}\n")) as source:
            assert source.counted_alike(["a", "b"]) is None


def test_a_small_group_among_many_lines_is_found(tmp_path: Path):
    """What verification must see: one record that stands alone."""
    text = "age,sex\n" + 500 * "20-29,F\n" + "30-39,M\n" + 500 * "20-29,M\n"
    with open_source(file(tmp_path, text)) as source:
        assert source.counted_alike(source.columns) is not None
        found = verify_table(source, ["age", "sex"], [], Goal([KAnonymity(2)]))
    assert not found.ok
    assert sorted(found.sizes.tolist()) == [1, 500, 500]
