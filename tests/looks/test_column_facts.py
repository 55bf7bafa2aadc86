"""What is said about columns holds for all rows, though only some are looked at at a time."""

from __future__ import annotations

import polars as pl
import pytest

from tarnkappe.io import open_source
from tarnkappe.looks import facts
from tarnkappe.looks.facts import column_facts

ROWS = 500

TABLE = pl.DataFrame(
    {
        "number": [float(i % 50) - 25 for i in range(ROWS)],
        "zeros": [(0.0, -0.0, float("nan"), None)[i % 4] for i in range(ROWS)],
        "late letter": [str(i) if i < ROWS - 1 else "x" for i in range(ROWS)],
        "late zero": [str(i + 1) if i < ROWS - 1 else "007" for i in range(ROWS)],
        "late gap": [f"v{i % 9}" if i < ROWS - 3 else "N/A" for i in range(ROWS)],
        "day": [f"{1 + i % 28:02}.03.1987" for i in range(ROWS)],
        "late day": [f"{1 + i % 28:02}.03.1987" if i < ROWS - 1 else "31.02.1987" for i in range(ROWS)],
        "thousands": [f"{1 + i % 7},000" if i % 2 else "12" for i in range(ROWS)],
        "open": ["90+" if i % 90 == 0 else str(i % 90) for i in range(ROWS)],
        "nothing": [None] * ROWS,
        "lists": [[i] for i in range(ROWS)],
    },
    strict=False,
)


@pytest.mark.parametrize("rows", [10, 64, 10_000])
def test_facts_are_those_of_all_rows_however_they_are_cut(monkeypatch: pytest.MonkeyPatch, rows: int):
    monkeypatch.setattr(facts, "_CELLS", 1)
    monkeypatch.setattr(facts, "SAMPLE", rows)
    found = {f.name: f for f in column_facts(open_source(TABLE))}
    assert {name: (f.distinct, f.missing) for name, f in found.items()} == {
        "number": (50, 0),
        "zeros": (1, ROWS // 2),
        "late letter": (ROWS, 0),
        "late zero": (ROWS, 0),
        "late gap": (9, 3),
        "day": (28, 0),
        "late day": (29, 0),
        "thousands": (8, 0),
        "open": (90, 0),
        "nothing": (0, ROWS),
        "lists": (0, ROWS),
    }
    assert [name for name, f in found.items() if f.numeric] == ["number", "zeros"]
    assert [name for name, f in found.items() if f.whole] == ["number", "zeros"]
    assert found["late gap"].markers == ("N/A",)
    assert [name for name, f in found.items() if f.date_format] == ["day"]
    assert [name for name, f in found.items() if f.separated] == ["thousands"]
    assert [name for name, f in found.items() if f.open_ended] == ["open"]
    assert (found["day"].length, found["late zero"].length) == (10, None)
    assert found["lists"].odd
