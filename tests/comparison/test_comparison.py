"""Comparisons: figures are those of real releases, a stopped comparison goes on, and the front is what nobody beats."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.comparison.comparing import PAGE, POINTS, TABLE, Spread
from tarnkappe.comparison.grid import Grid
from tarnkappe.comparison.page import render_comparison
from tarnkappe.comparison.plot import Axis, Scale
from tarnkappe.errors import JobError, RefusedError

JOB = """
title: People <b>
data: {path: people.csv}
columns:
  age: {role: quasi, type: numeric}
  town: {role: quasi, taxonomy: {kind: prefix, keep: [2, 1]}}
  illness: {role: sensitive}
criteria:
  - k-anonymity: {k: 3}
limits: {suppressed_rows: 10%}
output: {folder: out}
compare:
  algorithms: [mondrian, {name: flash, metric: lm}]
  vary: {criteria.k: [2, 8, 9999]}
  seeds: 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(5)
    n = 300
    towns = rng.choice(["111", "112", "121", "211", "221", "222"], n)
    illness = rng.choice(["flu", "cold", "gout"], n)
    pl.DataFrame({"age": rng.integers(18, 90, n), "town": towns, "illness": illness}).write_csv(tmp_path / "people.csv")
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def run(*arguments: str):
    return CliRunner().invoke(app, ["compare", *arguments])


def test_every_combination_is_tried_and_measured_like_a_release(folder: Path):
    found = tk.compare(Grid.load(folder / "job.yaml"))
    assert [(s.algorithm, s.varied["criteria.k"]) for s in found.setups] == [
        (name, k) for name in ("mondrian", "flash (metric lm)") for k in (2, 8, 9999)
    ]
    for setup in found.setups:
        if setup.varied["criteria.k"] == 9999:
            assert setup.error is not None
            assert setup.error.startswith("E301")
            continue
        for point, measured in zip(setup.points, setup.measured, strict=True):
            release = tk.decide(point.job, folder / "people.csv", seed=point.seed).publish()
            assert measured.scores == {s.name: pytest.approx(s.value) for s in release.scores}
            assert (measured.groups, measured.suppressed) == (release.n_groups, release.n_suppressed)
            assert measured.smallest == release.smallest_group
            assert measured.risks == {
                "highest": 1 / release.smallest_group,
                "average": pytest.approx(release.n_groups / release.n_published),
            }


def test_parameters_of_the_algorithms_that_are_compared_are_varied(folder: Path):
    grid = Grid.load(folder / "job.yaml", algorithms=["hilb", "k-member"], vary={"algorithm.effort": [0.5, 2]}, seeds=1)
    tried = [(p.job.algorithm.name, p.job.algorithm.get_params()["effort"]) for p in grid.points()]
    assert tried == [("hilb", 0.5), ("hilb", 2), ("k-member", 0.5), ("k-member", 2)]


def test_the_front_is_what_nobody_beats(folder: Path):
    found = tk.compare(
        Grid.load(folder / "job.yaml", algorithms=["mondrian", "flash", "datafly"], vary={"criteria.k": [2, 3, 5, 8]})
    )
    places = {s.number: (s.risk.mean, s.loss.mean) for s in found.setups}
    beaten = {
        a
        for a, (risk, loss) in places.items()
        if any(r <= risk and x <= loss and (r, x) != (risk, loss) for r, x in places.values())
    }
    front = {s.number for s in found.front}
    assert not front & beaten
    assert {places[n] for n in places if n not in beaten} == {places[n] for n in front}
    assert [s.risk.mean for s in found.front] == sorted(s.risk.mean for s in found.front)


def test_processes_find_the_same(folder: Path):
    grid = Grid.load(folder / "job.yaml")
    alone, together = (tk.compare(grid, processes=n).table().drop("seconds") for n in (1, 2))
    assert alone.equals(together)


def test_what_is_known_is_not_tried_again(folder: Path, monkeypatch: pytest.MonkeyPatch):
    first = tk.compare(Grid.load(folder / "job.yaml"), folder=folder / "c")
    assert (first.resumed, sorted(p.name for p in (folder / "c").iterdir())) == (0, [TABLE, PAGE, POINTS])
    lines = (folder / "c" / POINTS).read_text().splitlines()
    # Killed in the middle of a line, and somebody wrote something else.
    (folder / "c" / POINTS).write_text("\n".join([*lines[:5], "nonsense", lines[5][:40]]))
    again = tk.compare(Grid.load(folder / "job.yaml"), folder=folder / "c")
    assert again.resumed == 5
    assert again.table().drop("seconds").equals(first.table().drop("seconds"))
    assert (folder / "c" / POINTS).read_text().splitlines()[:5] == lines[:5]
    larger = tk.compare(Grid.load(folder / "job.yaml", seeds=3), folder=folder / "c")
    assert larger.resumed == len(first.setups) * 2, "only the new seed is tried"
    (folder / "people.csv").write_text((folder / "people.csv").read_text().replace("flu", "flux"))
    assert tk.compare(Grid.load(folder / "job.yaml"), folder=folder / "c").resumed == 0, "the data are others"
    fresh = tk.compare(Grid.load(folder / "job.yaml"), folder=folder / "c", overwrite=True)
    assert fresh.resumed == 0


def test_a_killed_comparison_goes_on(folder: Path):
    out = folder / "c"
    command = [sys.executable, "-m", "tarnkappe", "compare", str(folder / "job.yaml"), "-o", str(out), "--quiet"]
    command += ["--seeds", "20", "--processes", "2"]
    started = subprocess.Popen(command, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and started.poll() is None:
            if (out / POINTS).exists() and (out / POINTS).read_bytes().count(b"\n") >= 5:
                break
            time.sleep(0.01)
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    whole = (out / POINTS).read_bytes()
    kept = whole[: whole.rfind(b"\n") + 1]
    assert not (out / PAGE).exists()
    assert 5 <= kept.count(b"\n") < 120
    found = tk.compare(Grid.load(folder / "job.yaml", seeds=20), folder=out)
    assert found.resumed >= 5
    assert (out / POINTS).read_bytes().startswith(kept)
    assert (out / POINTS).read_bytes().count(b"\n") == 120


def nobody_left(group: int) -> bool:
    """Whether all processes of a group have ended, at once or soon."""
    for _ in range(200):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.full
def test_an_interrupted_comparison_ends_at_once_and_leaves_nobody_behind(folder: Path):
    (folder / "job.yaml").write_text(JOB.replace("seeds: 2", "seeds: 300"))
    out = folder / "c"
    command = [
        sys.executable,
        "-m",
        "tarnkappe",
        "compare",
        str(folder / "job.yaml"),
        "-o",
        str(out),
        "--processes",
        "2",
    ]
    started = subprocess.Popen(
        command, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and not ((out / POINTS).exists() and (out / POINTS).stat().st_size):
            time.sleep(0.02)
        os.killpg(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 130
        assert "what was measured is kept" in said
        assert "Traceback" not in said
        assert nobody_left(started.pid)
    finally:
        if started.poll() is None:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()


def test_the_command_and_the_job_of_a_chosen_point(folder: Path):
    job = str(folder / "job.yaml")
    done = run(job, "--processes", "1", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert len(told["points"]) == 6
    chosen = told["front"][0]
    done = run(job, "--processes", "1", "--choose", str(chosen))
    assert done.exit_code == 0, done.output
    made = folder / f"job-point-{chosen}.yaml"
    release = tk.run_job(tk.Job.from_yaml(made))
    row = next(p for p in told["points"] if p["point"] == chosen)
    assert release.score("lm") == pytest.approx(row["loss (lm)"])
    assert run(job, "--processes", "1", "--choose", "77").exit_code == 2
    nothing = next(p["point"] for p in told["points"] if p["no release because"])
    assert run(job, "--processes", "1", "--choose", str(nothing)).exit_code == 2


def test_the_command_that_is_told_to_choose_a_point_works_when_pasted(folder: Path):
    job = folder / "plain.yaml"
    job.write_text((folder / "job.yaml").read_text().split("compare:")[0])
    options = ["--algorithms", "mondrian,flash", "--vary", "criteria.k=2,4", "--seeds", "1", "--set", "seed=3"]
    done = run(str(job), *options, "--processes", "1", "--output", str(folder / "a map"))
    assert done.exit_code == 0, done.output
    (told,) = [line for line in done.stdout.splitlines() if "--choose" in line]
    command = shlex.split(told.partition("tarnkappe compare ")[2])
    done = run(*command, "--processes", "1")
    assert done.exit_code == 0, done.output
    assert "known from before" in done.stdout
    assert (folder / f"plain-point-{command[-1]}.yaml").exists()
    lost = run(str(job), "--processes", "1", "--choose", "77")
    assert lost.exit_code == 2
    assert "--vary" in str(lost.exception) + getattr(lost.exception, "hint", "") + lost.output


def test_a_grid_in_a_file_of_its_own_or_on_the_command_line(folder: Path):
    (folder / "grids").mkdir()
    (folder / "grids" / "grid.yaml").write_text("compare: {job: ../job.yaml, vary: {criteria.k: [4]}}\n")
    found = tk.compare(Grid.load(folder / "grids" / "grid.yaml"))
    assert [s.varied for s in found.setups] == [{"criteria.k": 4}]
    options = ["--algorithms", "mondrian", "--vary", "criteria.k=2,4", "--seeds", "1", "--processes", "1", "--json"]
    assert len(json.loads(run(str(folder / "job.yaml"), *options).stdout)["points"]) == 2
    assert tk.Job.from_yaml(folder / "job.yaml").goal.min_size == 3, "a job may have the section"


def test_forms_that_do_not_hide_people_are_told_and_not_drawn(folder: Path):
    text = JOB.replace("k-anonymity: {k: 3}", "l-diversity: {column: illness, l: 2}").replace(
        "criteria.k", "criteria.l"
    )
    text = text.replace("mondrian, {name: flash, metric: lm}", "anatomize, mondrian").replace("[2, 8, 9999]", "[2]")
    (folder / "job.yaml").write_text(text)
    found = tk.compare(Grid.load(folder / "job.yaml"))
    assert [s.on_map for s in found.setups] == [False, True]
    assert "cannot be on the map" in render_comparison(found)


def test_a_metric_that_says_nothing_of_centres_is_told_and_another_taken(folder: Path):
    options = ["--algorithms", "mdav", "--vary", "criteria.k=3,6", "--seeds", "1", "--processes", "1"]
    said = " ".join(run(str(folder / "job.yaml"), *options).stdout.split())
    assert "none: lm says nothing of what is published" in said
    assert "sse" in said
    said = run(str(folder / "job.yaml"), *options, "--loss", "sse").stdout
    assert "less loss (sse)" in said
    assert "Loss over k" in (folder / "job-comparison" / "comparison.html").read_text()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("algorithms: [mondrian, {name: flash, metric: lm}]", "algorithms: []"),
        ("[mondrian, {name", "[mondrain, {name"),
        ("{criteria.k: [2, 8, 9999]}", "{criteria.k: 2}"),
        ("{criteria.k: [2, 8, 9999]}", "[2]"),
        ("{criteria.k: [2, 8, 9999]}", "{criteria.q: [2]}"),
        ("seeds: 2", "seeds: 0"),
        ("seeds: 2", "seeds: [1, 1]"),
        ("seeds: 2", "seeds: 2\n  loss: lmm"),
        ("seeds: 2", "seeds: 2\n  risk: none"),
        ("seeds: 2", "sedes: 2"),
    ],
)
def test_wrong_grids_are_explained(folder: Path, old: str, new: str):
    assert old in JOB
    (folder / "job.yaml").write_text(JOB.replace(old, new))
    with pytest.raises(JobError) as caught:
        list(Grid.load(folder / "job.yaml").points())
    assert caught.value.hint
    assert run(str(folder / "job.yaml")).exit_code == 2
    assert not (folder / "job-comparison").exists()


def test_folders_of_others_are_left_alone(folder: Path):
    with pytest.raises(RefusedError, match="E601"):
        tk.compare(Grid.load(folder / "job.yaml"), folder=folder)
    assert not (folder / POINTS).exists()


def test_the_page_is_internal_and_loads_nothing(folder: Path):
    page = render_comparison(tk.compare(Grid.load(folder / "job.yaml")))
    assert "INTERNAL" in page
    assert "People &lt;b&gt;" in page
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("The same figures as a table") == 2


def test_spreads_and_scales():
    assert Spread.of([1.0, 3.0]) == Spread(2.0, pytest.approx(2**0.5))
    scale = Scale(Axis("risk", log=True), [0.01, 0.5])
    assert 0 < scale.at(0.01) < scale.at(0.1) < scale.at(0.5) < 1
    assert scale.ticks() == pytest.approx([0.01, 0.02, 0.05, 0.1, 0.2, 0.5])
    assert Scale(Axis("loss", from_zero=True), [0.2, 0.4]).at(0.0) == 0.0
    assert Scale(Axis("loss"), [0.3]).at(0.3) == pytest.approx(0.5)
