"""Estimates are there for any algorithm, cost little themselves, and are not far off."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe import pipeline
from tarnkappe.algorithms import algorithm_class
from tarnkappe.cli.app import app
from tarnkappe.datasets import census, census_taxonomies

TREES = census_taxonomies()
QUASI = {"age": tk.numeric(), **{name: TREES[name] for name in ("education", "marital-status", "race", "sex")}}


def job(algorithm: str, k: int = 5) -> tk.Job:
    return tk.Job(quasi=QUASI, drop="rest", criteria=tk.KAnonymity(k), algorithm=algorithm)


@pytest.mark.parametrize("name", ["mondrian", "flash", "hilb", "k-member", "mdav"])
def test_an_estimate_is_not_far_off(name: str):
    asked = job(name)
    checked = pipeline.check(asked, census(6000, seed=3))
    expected = pipeline.foresee(asked, checked)
    start = time.process_time()
    asked.algorithm.decide(checked.tally, asked.goal, rng=np.random.default_rng(0))
    taken = time.process_time() - start
    assert expected.seconds is not None
    assert expected.seconds < 5 * taken + 0.5
    assert taken < 5 * expected.seconds + 0.5
    assert expected.memory > checked.tally.quasi.nbytes


@pytest.mark.full
def test_an_estimate_of_what_takes_minutes_takes_seconds():
    asked = job("k-optimize")
    checked = pipeline.check(asked, census(6000, seed=3))
    start = time.process_time()
    pipeline.foresee(asked, checked)
    assert time.process_time() - start < 30


def test_no_sample_may_be_large_enough():
    asked = job("mondrian", k=5900)
    checked = pipeline.check(asked, census(6000, seed=3))
    assert pipeline.foresee(asked, checked).seconds is None


def test_check_tells_time_memory_and_the_size_of_the_search(tmp_path: Path):
    census(800, seed=3).select("age", "race", "sex").write_csv(tmp_path / "people.csv")
    text = "data: {path: people.csv}\ncolumns:\n  age: {role: quasi, taxonomy: {kind: intervals, widths: [5, 20]}}\n"
    text += "  race: {role: quasi, taxonomy: suppress}\n  sex: {role: quasi, taxonomy: suppress}\n"
    text += "criteria: [{k-anonymity: {k: 5}}]\nalgorithm: flash\n"
    (tmp_path / "job.yaml").write_text(text)
    words = ["check", str(tmp_path / "job.yaml")]
    shown = CliRunner().invoke(app, words).stdout
    assert "16 nodes of the lattice" in shown
    assert "of processor time" in shown
    assert "of memory" in shown
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["estimate"]
    assert told["seconds"] > 0
    assert told["memory"] > 0


@pytest.mark.full
def test_an_estimate_does_not_take_the_overhead_of_a_small_sample_for_growth():
    """Best-first checks as many nodes for 60 cells as for 3000, so one sample says 40 times the truth."""
    draw = np.random.default_rng(1)
    names = [f"q{i}" for i in range(14)]
    table = pl.DataFrame({name: [f"{v:03}" for v in draw.integers(0, 1000, 3000)] for name in names})
    asked = tk.Job(quasi={name: tk.prefix(2, 1) for name in names}, criteria=tk.KAnonymity(5), algorithm="best-first")
    checked = pipeline.check(asked, table)
    expected = pipeline.foresee(asked, checked)
    start = time.process_time()
    asked.algorithm.decide(checked.tally, asked.goal, rng=np.random.default_rng(0))
    taken = time.process_time() - start
    assert expected.seconds is not None
    assert expected.seconds < 6 * taken + 0.5


@pytest.mark.parametrize("name", ["diameter-cover", "kanonymeans-star", "suppression-forest"])
def test_check_says_what_is_quadratic_and_what_takes_more_records(name: str):
    cls = algorithm_class(name)
    checked = pipeline.check(job(name), census(100, seed=3))
    told = cls().search_size(checked.tally)
    assert "square of the records" in told
    assert f"{cls.most_records} of them at most" in told
    assert cls.for_more in told
