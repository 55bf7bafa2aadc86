"""Lattices that no memory holds: refused by what would keep every node, searched well by what does not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import polars as pl
import pytest

import tarnkappe as tk
from tarnkappe.algorithms import all_algorithms
from tarnkappe.algorithms.fulldomain.base import FullDomainSearch
from tarnkappe.errors import LimitError

COLUMNS = 14  # of four levels each: 4^14 nodes are 268 million


def job(algorithm: object, k: int = 5, max_suppressed: float = 0.05) -> tk.Job:
    return tk.Job(
        quasi={f"q{j}": tk.intervals(2, 4, 8) for j in range(COLUMNS)},
        criteria=tk.KAnonymity(k),
        max_suppressed=max_suppressed,
        algorithm=algorithm,  # type: ignore[arg-type]
    )


def table(n: int = 400, seed: int = 1) -> pl.DataFrame:
    """Columns that depend on one another, so that a node with some detail satisfies the goal."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 4, n)
    return pl.DataFrame(
        {f"q{j}": 4 * (level >> (j % 2)) + rng.integers(0, 2, n) * (j % 3 == 0) for j in range(COLUMNS)}
    )


SEARCHES = {name: cls for name, cls in all_algorithms().items() if issubclass(cls, FullDomainSearch)}


@pytest.mark.parametrize("name", [name for name, cls in SEARCHES.items() if cls.keeps_all_nodes])
def test_what_keeps_every_node_refuses_before_it_takes_the_memory(name: str):
    tracemalloc.start()
    try:
        with pytest.raises(LimitError, match="E704") as caught:
            job(name).check(table())
        assert tracemalloc.get_traced_memory()[1] < 100_000_000
    finally:
        tracemalloc.stop()
    told = str(caught.value)
    assert "best-first" in told
    assert "top-down" in told
    assert 'algorithm="best-first"' in told


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("max_suppressed", [0.0, 0.1])
def test_best_first_is_not_worse_than_top_down(seed: int, max_suppressed: float):
    data = table(seed=seed)
    greedy = job("top-down", max_suppressed=max_suppressed).anonymize(data, seed=1)
    best = job({"name": "best-first", "checks": 2000}, max_suppressed=max_suppressed).anonymize(data, seed=1)
    assert best.score("loss") <= greedy.score("loss")
    assert best.private_manifest["search"]["nodes checked"] > 500, "the checks are used"


def test_the_algorithms_that_are_named_do_it():
    for name in (name for name, cls in SEARCHES.items() if not cls.keeps_all_nodes):
        given = {"name": name, "checks": 300} if name == "best-first" else name
        assert all(v.ok for v in job(given).anonymize(table(), seed=1).verdicts)
