"""The page on which a leak is traced says in words whose copy it was."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from started_app import Visit

import tarnkappe as tk
from tarnkappe.datasets import census, census_taxonomies
from tarnkappe.fingerprint import Key, Register, issue, plan_copies

QUASI = ("sex", "education", "marital-status", "workclass", "native-country")


@pytest.fixture
def copies(data: Path) -> Path:
    """A plan with two copies, the key, and a leak."""
    trees = census_taxonomies()
    job = tk.Job(
        quasi={"age": tk.intervals(10, 20, 40), **{name: trees[name] for name in QUASI}},
        drop="rest",
        criteria=[tk.KAnonymity(3)],
        max_suppressed=0.05,
    )
    key = Key(bytes(range(32)))
    key.save(data / "census.key")
    planned = plan_copies(job, census(6000, seed=1), key, recipients=2, colluders=1)
    planned.scheme.save(data / "plan")
    register = Register.open(data / "plan" / "register.jsonl")
    for name in ("Aachen", "Statistik <Berlin>"):
        copy, register = issue(planned, key, name, register=register)
    copy.release.table.write_csv(data / "leak.csv")
    pl.DataFrame({"sex": ["Male"] * 5, "age": ["[20 30["] * 5}).write_csv(data / "foreign.csv")
    return data


def traced(visit: Visit, leak: str) -> str:
    page = visit.page
    page.goto(f"{visit.app.address}/#/trace")
    for name, text in (("path", leak), ("plan", "plan"), ("key", "census.key")):
        page.locator(f"[data-key=trace-{name}]").fill(text)
    page.locator("[data-key=trace]").click()
    page.locator("main .verdict").wait_for()
    return page.locator("main").inner_text()


@pytest.mark.full
def test_the_result_of_a_trace_is_told_in_words(copies: Path, visit: Visit):
    told = traced(visit, "leak.csv")
    assert "The leak was made from what was issued to Statistik <Berlin>" in told
    assert "less than 1 in 10^" in told
    assert "Aachen" in told
    rows = visit.page.locator("main tbody tr")
    assert rows.count() == 2
    assert "yes" in rows.first.inner_text()
    assert "no" in rows.nth(1).inner_text()
    target = os.environ.get("TARNKAPPE_SCREENSHOTS")
    if target:
        visit.page.screenshot(path=Path(target) / "app-trace.jpg", type="jpeg", quality=40)
    visit.page.locator("[data-key=language]").select_option("de")
    visit.see("Die Tabelle stammt aus dem, was an Statistik <Berlin> ging")
    assert "Nobody is accused" not in visit.page.locator("main").inner_text()


def test_nobody_is_named_without_proof(copies: Path, visit: Visit):
    told = traced(visit, "foreign.csv")
    assert "Nobody is accused" in told
    assert "That clears nobody either" in told
