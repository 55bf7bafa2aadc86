"""The solution space: every node once, with the figures of the release that it would be."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tarnkappe as tk
from tarnkappe.algorithms.fulldomain.search import cuts_at
from tarnkappe.algorithms.fulldomain.solutions import Solutions
from tarnkappe.algorithms.recoding import recode
from tarnkappe.criteria.base import Criterion
from tarnkappe.errors import JobError
from tarnkappe.metrics import score_plan
from tarnkappe.pipeline import counted
from tarnkappe.plan import Plan, suppress_leftovers

TOWNS = {"north": ["Kiel", "Husum"], "south": {"Bavaria": ["Passau", "Hof"], "other": ["Ulm"]}}
RAGGED = {"a": {"x": ["1", "2"]}, "b": ["3"]}


def table(n: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "town": rng.choice(["Kiel", "Husum", "Passau", "Hof", "Ulm"], n),
            "age": rng.integers(20, 60, n),
            "kind": rng.choice(["1", "2", "3"], n),
            "illness": rng.choice(["flu", "cold", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def job_for(*criteria: Criterion, limit: float = 0.0, **changes: object) -> tk.Job:
    quasi = {"town": tk.tree(TOWNS), "age": tk.intervals(10, 20), "kind": tk.tree(RAGGED)}
    return tk.Job(quasi=quasi, sensitive=["illness"], criteria=criteria, max_suppressed=limit, **changes)


GOALS = [
    lambda limit: job_for(tk.KAnonymity(3), limit=limit),
    lambda limit: job_for(tk.KAnonymity(2), tk.LDiversity("illness", 2), limit=limit),
    lambda limit: job_for(tk.KAnonymity(2), tk.TCloseness("illness", 0.25), limit=limit),
]


@settings(max_examples=12, deadline=None)
@given(st.integers(6, 60), st.integers(0, 10**6), st.sampled_from(GOALS), st.sampled_from([0.0, 0.1, 0.4]))
def test_nodes_are_those_of_brute_force_with_the_figures_of_their_plans(n, seed, make, limit):
    job = make(limit)
    tally = counted(job, table(n, seed)).tally
    space = Solutions(tally, job.goal)
    found = {s.levels: s for s in space.satisfying()}
    everything = [s.levels for s in space.every()]
    nodes = list(product(*(range(top + 1) for top in space.lattice.high)))
    assert sorted(everything) == nodes, "each node once"
    for node in nodes:
        settled = suppress_leftovers(tally, recode(tally, cuts_at(tally, node)), job.goal)
        good = settled is not None and settled.n_groups > 0
        assert (node in found) == good
        if good:
            plan, told = Plan.of(tally, job.goal, settled), found[node]
            assert (told.suppressed, told.groups, told.smallest) == (plan.suppressed, plan.n_groups, plan.sizes.min())
            scores = score_plan(plan)
            assert told.scores == {name: pytest.approx(scores[name], rel=1e-9, abs=1e-9) for name in told.scores}
            assert told.group_mean == pytest.approx(plan.n_published / plan.n_groups)
    assert {s.levels: s.ok for s in space.every()} == {node: node in found for node in nodes}


def test_frames_in_batches():
    job = job_for(tk.KAnonymity(2))
    frames = list(tk.solutions(job, table(40, 1), "all", batch=7))
    whole = pl.concat(frames)
    assert {frame.height for frame in frames[:-1]} == {7}
    assert {"level of town", "ok", "suppressed", "groups", "smallest", "lm", "precision", "aecs", "discernibility"} <= {
        *whole.columns
    }
    good = pl.concat(tk.solutions(job, table(40, 1)))
    assert good.equals(whole.filter("ok"))
    with pytest.raises(JobError, match="E110"):
        tk.solutions(job, table(40, 1), "some")


def test_levels_count_from_the_values_whatever_the_floor():
    job = job_for(tk.KAnonymity(2), min_level={"age": 1})
    assert pl.concat(tk.solutions(job, table(40, 1), "all"))["level of age"].min() == 1


@pytest.mark.parametrize("which", ["satisfying", "all"])
def test_they_are_written_for_the_publisher_if_asked_for(tmp_path: Path, which: str):
    table(60, 2).write_csv(tmp_path / "t.csv")
    text = job_for(tk.KAnonymity(3)).to_yaml() + f"output: {{folder: out, solutions: {which}}}\n"
    (tmp_path / "job.yaml").write_text(text)
    job = tk.Job.from_yaml(tmp_path / "job.yaml")
    (tmp_path / "again.yaml").write_text(job.to_yaml(tmp_path))
    assert tk.Job.from_yaml(tmp_path / "again.yaml") == job
    tk.run_job(job, tmp_path / "t.csv")
    written = pl.read_parquet(tmp_path / "out" / "do-not-share" / "solutions.parquet")
    assert written.equals(pl.concat(tk.solutions(job, tmp_path / "t.csv", which)))
    assert not (tmp_path / "out" / "public" / "solutions.parquet").exists()
    internal, public = (tmp_path / "out" / part / "report.html" for part in ("do-not-share", "public"))
    assert "do-not-share/solutions.parquet" in internal.read_text()
    good = written.filter("ok")
    assert f"{good.height} combinations of levels would satisfy the job" in internal.read_text()
    assert f"<td>{good['lm'].min():.4f}</td>" in internal.read_text().replace(' class="num"', "")
    assert "Those that keep most detail" not in public.read_text()
    assert "solutions.parquet" not in public.read_text()
