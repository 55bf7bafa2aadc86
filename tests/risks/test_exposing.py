from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl

import tarnkappe as tk
from tarnkappe.pipeline import check
from tarnkappe.risks.exposing import exposing


def test_the_worst_combinations_by_brute_force():
    draw = np.random.default_rng(3)
    for n in (2, 7, 60):
        table = pl.DataFrame({name: draw.integers(0, 5, n) for name in "abcd"})
        job = tk.Job(quasi=dict.fromkeys("abcd", tk.suppress()), criteria=tk.KAnonymity(2))
        found = exposing(check(job, table).tally)
        for size in (1, 2, 3):
            wanted = sorted(
                (int((table.group_by(names).len()["len"] == 1).sum()) for names in combinations("abcd", size)),
                reverse=True,
            )
            told = [e for e in found if len(e.columns) == size]
            assert [e.unique for e in told] == [u for u in wanted[:3] if u]
            for e in told:
                assert (table.group_by(e.columns).len()["len"] == 1).sum() == e.unique
                assert e.share == e.unique / n


def test_only_the_publisher_reads_it(tmp_path):
    table = pl.DataFrame({"age": list(range(40)), "sex": ["f", "m"] * 20, "s": ["x", "y"] * 20})
    job = tk.Job(
        quasi={"age": tk.numeric(), "sex": tk.suppress()},
        sensitive=["s"],
        criteria=[tk.KAnonymity(2), tk.LDiversity("s", 2)],
        attacks=["homogeneity"],
    )
    release = tk.run_job(job, table, tmp_path / "out", seed=1)
    assert release.exposing
    assert release.for_readers().exposing == ()
    internal = (tmp_path / "out" / "do-not-share" / "report.html").read_text()
    public = (tmp_path / "out" / "public" / "report.html").read_text()
    for words in ("Riskiest combinations", "Attacks that were tried", "Alternatives"):
        assert words in internal
        assert words not in public
