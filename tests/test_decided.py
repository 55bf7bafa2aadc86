"""Deciding and publishing are two steps: many releases of one decision."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.datasets import census, census_taxonomies


def job(algorithm: str, engine: str = "memory") -> tk.Job:
    trees = census_taxonomies()
    quasi = {"age": tk.numeric(), "sex": trees["sex"], "education": trees["education"]}
    criteria = [tk.LDiversity("occupation", 3)]
    return tk.Job(
        quasi=quasi, sensitive=["occupation"], drop="rest", criteria=criteria, algorithm=algorithm, engine=engine
    )


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    return census(600, seed=3)


def rows(table: pl.DataFrame) -> Counter:
    return Counter(table.select(pl.all().cast(pl.String)).rows())


@pytest.mark.parametrize("engine", ["memory", "streaming"])
def test_copies_have_the_same_groups_in_another_order(people: pl.DataFrame, engine: str):
    decided = tk.decide(job("mondrian", engine), people, seed=5)
    one, same, other = (decided.publish(copy=copy).table for copy in (0, 0, 1))
    assert one.equals(same)
    assert not one.equals(other)
    assert rows(one) == rows(other)


def test_copies_of_a_deal_have_numbers_of_their_own(people: pl.DataFrame):
    decided = tk.decide(job("anatomize"), people, seed=5)
    one, other = decided.publish(), decided.publish(copy=1)
    assert all(release.verify().ok for release in (one, other))
    assert rows(one.table) != rows(other.table)
    sizes = [sorted(r.table.group_by("group").len()["len"].to_list()) for r in (one, other)]
    assert sizes[0] == sizes[1] == [3] * 200


def test_a_decision_is_published_to_as_many_folders_as_asked_for(people: pl.DataFrame, tmp_path: Path):
    decided = tk.decide(job("mondrian", "streaming"), people, seed=5)
    for copy in (0, 1):
        decided.publish(tmp_path / str(copy), copy=copy)
    tables = [(tmp_path / str(copy) / "public" / "release.parquet").read_bytes() for copy in (0, 1)]
    assert tables[0] != tables[1]
    tk.run_job(job("mondrian", "streaming"), people, tmp_path / "at once", seed=5)
    assert (tmp_path / "at once" / "public" / "release.parquet").read_bytes() == tables[0]
