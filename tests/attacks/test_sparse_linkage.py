"""A few items of a long record: found where they are rare together, not where k records share them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.errors import JobError


def ratings(n: int, films: int, each: int, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [(str(i), f"film {f}") for i in range(n) for f in rng.choice(films, each, replace=False)]
    return pl.DataFrame(rows, schema=["user", "film"], orient="row")


def attack(release: pl.DataFrame, known: pl.DataFrame, how: object = "sparse-linkage", **more: object):
    return tk.attack(how, release, known=known, key="user", **{"quasi": ["film"], **more})[0]


def test_six_ratings_find_nearly_everybody():
    table = ratings(400, 1000, 30)
    found = attack(table, table, tk.SparseLinkage(items=6))
    assert found.trials == 400
    assert found.rate > 0.95
    assert found.baseline == 1 / 400
    assert found.control < 0.3
    fewer = attack(table, table, tk.SparseLinkage(items=1))
    assert fewer.rate < found.rate


def test_everybody_has_films_of_their_own():
    rows = [(str(i), f"film {i}-{j}") for i in range(20) for j in range(5)]
    table = pl.DataFrame(rows, schema=["user", "film"], orient="row")
    found = attack(table, table)
    assert (found.rate, found.control) == (1, 0)


def test_km_anonymity_protects():
    """Every three films of anybody are those of at least two people: everybody has a twin."""
    one = ratings(50, 200, 10)
    twins = pl.concat([one, one.with_columns(("t" + pl.col("user")).alias("user"))])
    sets = twins.group_by("user").agg("film")["film"].to_list()
    for some in combinations(sorted(sets[0]), 3):
        assert sum(set(some) <= set(other) for other in sets) >= 2
    found = attack(twins, twins)
    assert (found.rate, found.beats_baseline) == (0, False)


def test_coarse_items_are_read_by_their_taxonomy():
    films = tk.tree({"horror": ["saw", "scream"], "drama": ["ran", "dogville"]})
    known = pl.DataFrame({"user": ["1", "2", "3"], "film": ["saw", "ran", "dogville"]})
    coarse = pl.DataFrame({"user": ["1", "2", "3"], "film": ["horror", "drama", "drama"]})
    found = attack(coarse, known, tk.SparseLinkage(items=1, eccentricity=0), quasi={"film": films})
    assert found.rate == pytest.approx(1 / 3), "only the one with the horror film"


def test_items_in_one_cell():
    table = pl.DataFrame({"user": ["1", "2"], "film": ["a; b; c", "d; e; f"]})
    assert attack(table, table, tk.SparseLinkage(separator=";", eccentricity=0)).rate == 1


def test_the_same_seed_gives_the_same():
    table = ratings(300, 100, 8)
    how = tk.SparseLinkage(items=2, people=50)
    assert attack(table, table, how, seed=3) == attack(table, table, how, seed=3)
    assert attack(table, table, how, seed=3).trials == 50


def test_items_stand_in_one_column():
    """With several, the others would silently be left out."""
    wide = pl.DataFrame({"user": ["1", "2"], "film 1": [5, None], "film 2": [None, 3]})
    with pytest.raises(JobError, match="E110 it looks for items, which stand in one column, and 2 are named"):
        attack(wide, wide, quasi=["film 1", "film 2"])
