"""Advice: every figure is that of a job that was really changed so; reasons follow from the written release."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.algorithms import algorithm_class
from tarnkappe.cli.app import app
from tarnkappe.errors import DataError, JobError
from tarnkappe.job.model import replace_job

TOWNS = {"north": ["Kiel", "Husum"], "south": {"Bavaria": ["Passau", "Hof"], "other": ["Ulm", "Basel"]}}


def table(n: int = 300, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "town": rng.choice(["Kiel", "Husum", "Passau", "Hof", "Ulm", "Basel"], n),
            "sex": rng.choice(["f", "m"], n),
            "illness": rng.choice(["flu", "cold", "gout"], n, p=[0.6, 0.3, 0.1]),
        }
    )


def job_for(**changes) -> tk.Job:
    given = {
        "quasi": {"age": tk.intervals(10, 30), "town": tk.tree(TOWNS), "sex": tk.suppress()},
        "sensitive": ["illness"],
        "criteria": [tk.KAnonymity(6), tk.LDiversity("illness", 2)],
        "max_suppressed": 0.02,
        "algorithm": "flash",
    }
    return tk.Job(**{**given, **changes})


def kept_by(release: tk.Release, *names: str) -> float:
    return float(np.mean([c.kept for c in release.columns if c.name in names]))


@pytest.mark.parametrize("algorithm", ["flash", "mondrian"])
def test_figures_are_those_of_changed_jobs(algorithm: str):
    job, data = job_for(algorithm=algorithm), table()
    found = tk.advise(job, data, seed=1)
    release = tk.decide(job, data, seed=1).publish()
    names = ("age", "town", "sex")
    assert found.now.kept() == pytest.approx(kept_by(release, *names))
    assert (found.now.suppressed, found.now.groups) == (release.n_suppressed, release.n_groups)
    told = {c.what: c for c in found.changes}
    for name in names:
        others = [n for n in names if n != name]
        quasi = {c.name: c.taxonomy for c in job.columns if c.name in others}
        dropped = tk.Job(
            quasi=quasi,
            sensitive=["illness"],
            drop=[name],
            criteria=job.goal.criteria,
            max_suppressed=0.02,
            algorithm=algorithm,
        )
        then = tk.decide(dropped, data, seed=1).publish()
        change = told[f"leaving out '{name}'"]
        assert change.figures.kept(name) == pytest.approx(kept_by(then, *others))
        assert change.gain == pytest.approx(kept_by(then, *others) - kept_by(release, *others))
        assert change.records == release.n_suppressed - then.n_suppressed
    weaker = tk.decide(job_for(algorithm=algorithm, criteria=[tk.KAnonymity(6)]), data, seed=1).publish()
    assert told["without l-diversity on 'illness'"].figures.kept() == pytest.approx(kept_by(weaker, *names))
    assert told["without l-diversity on 'illness'"].weakens
    half = job_for(algorithm=algorithm, criteria=[tk.KAnonymity(3), tk.LDiversity("illness", 2)])
    halved = tk.decide(half, data, seed=1).publish()
    assert told["k-anonymity 3 instead of 6"].figures.kept() == pytest.approx(kept_by(halved, *names))
    floor = tk.decide(job_for(algorithm=algorithm, min_level={"age": 1}), data, seed=1).publish()
    assert told["publishing 'age' from level 1 on"].figures.kept() == pytest.approx(kept_by(floor, *names))
    assert {c.kind for c in found.changes} == {"column", "level", "criterion", "limit"}
    gains = [c.gain + c.records / 300 for c in found.changes if c.figures]
    assert gains == sorted(gains, reverse=True)


def test_a_weaker_criterion_is_told_in_the_numbers_that_were_asked_for():
    found = tk.advise(job_for(criteria=[tk.FrequencyLDiversity("illness", 3)]), table(), seed=1)
    weaker = next(c for c in found.changes if c.what.startswith("frequency-l-diversity"))
    assert weaker.what == "frequency-l-diversity on 'illness' 2 instead of 3"
    assert "l: 2" in weaker.fix.in_job


def test_a_job_without_a_release_is_told_what_helps():
    job = job_for(max_level={"age": 1}, criteria=[tk.KAnonymity(40)], max_suppressed=0.0)
    found = tk.advise(job, table(), seed=1)
    assert found.now is None
    assert found.error.startswith("E301")
    helped = [c for c in found.changes if c.figures is not None]
    hopeless = [c for c in found.changes if c.figures is None]
    assert helped
    assert all("there is no release" in c.sentence for c in hopeless)
    assert found.changes[: len(helped)] == tuple(helped)


def test_forms_without_a_loss_are_advised_about_records_only():
    job = job_for(criteria=[tk.LDiversity("illness", 2)], algorithm="anatomize", max_suppressed=0.5)
    found = tk.advise(job, table(), levels=False)
    assert found.now.kept() is None
    assert found.now.risk is None
    assert all(c.gain == 0 for c in found.changes)


@pytest.fixture
def release(tmp_path: Path) -> Path:
    table().write_csv(tmp_path / "people.csv")
    tk.run_job(job_for(data=tk.DataSettings(str(tmp_path / "people.csv"))), folder=tmp_path / "out", seed=5)
    return tmp_path / "out"


def test_the_command(tmp_path: Path):
    table().write_csv(tmp_path / "people.csv")
    (tmp_path / "job.yaml").write_text(job_for(data=tk.DataSettings("people.csv")).to_yaml())
    run = CliRunner().invoke
    done = run(app, ["advise", str(tmp_path / "job.yaml"), "--seed", "1"])
    assert done.exit_code == 0, done.output
    assert "Leaving out 'town'" in done.output
    assert "Protects less." in done.output
    told = json.loads(run(app, ["advise", str(tmp_path / "job.yaml"), "--no-levels", "--json"]).stdout)
    assert {c["kind"] for c in told["changes"]} == {"column", "criterion", "limit"}
    assert sorted(p.name for p in tmp_path.iterdir()) == ["job.yaml", "people.csv"], "nothing is written"


PATHS = {
    "Kiel": ["Kiel", "north", "*"],
    "Husum": ["Husum", "north", "*"],
    "Passau": ["Passau", "Bavaria", "south", "*"],
    "Hof": ["Hof", "Bavaria", "south", "*"],
    "Ulm": ["Ulm", "other", "south", "*"],
    "Basel": ["Basel", "other", "south", "*"],
}


def test_why_counts_what_plain_python_counts(tmp_path: Path):
    """Towns below a label, and sexes below the star: the members of a group counted with dictionaries."""
    data = table(400)
    data.write_csv(tmp_path / "people.csv")
    job = job_for(algorithm="flash", criteria=[tk.KAnonymity(6)], max_level={"age": 2})
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "out", seed=5)
    public = pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False)
    with pytest.raises(JobError, match="names no data file"):
        tk.why(tmp_path / "out", 1)
    groups, checked = Counter(public.select("age", "town", "sex").rows()), 0
    for row in range(1, public.height + 1, 23):
        found = tk.why(tmp_path / "out", row, data=tmp_path / "people.csv")
        age, town, sex = public.row(row - 1)[:3]
        assert found.records == groups[age, town, sex]
        low, high = map(int, age.split("-")) if "-" in age else (int(age), int(age))
        inside = [(t, x) for a, t, x, _ in data.rows() if low <= a <= high and town in PATHS[t] and sex in (x, "*")]
        assert len(inside) == found.records
        reasons = {r.column: r for r in found.columns}
        below = Counter(PATHS[t][PATHS[t].index(town) - 1] for t, _ in inside if PATHS[t].index(town))
        star = Counter(x for _, x in inside) if sex == "*" else {}
        for name, parts in (("town", below), ("sex", star)):
            assert reasons[name].tried == len(parts)
            assert reasons[name].possible == sum(n >= 6 for n in parts.values())
            checked += len(parts) > 1
    assert checked


@pytest.mark.parametrize("algorithm", ["mondrian", "hilb"])
def test_what_breaks_adds_up(tmp_path: Path, algorithm: str):
    table().write_csv(tmp_path / "people.csv")
    job = job_for(algorithm=algorithm, criteria=[tk.KAnonymity(6)])
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "out", seed=5)
    for row in range(1, 300, 60):
        for reason in tk.why(tmp_path / "out", row, data=tmp_path / "people.csv").columns:
            assert sum(reason.broken.values()) == reason.tried - reason.possible


def test_why_says_what_everybody_needs(release: Path):
    """A level that one group could do without is needed elsewhere, and how many records it would cost is told."""
    sentences = [r.sentence for row in range(1, 40) for r in tk.why(release, row).columns]
    assert any("breaks at" in s for s in sentences)
    assert any("everybody is told the same" in s or "chose other levels" in s for s in sentences) or all(
        "This group alone" not in s for s in sentences
    )


def test_why_names_who_formed_the_groups(tmp_path: Path):
    """Not the algorithm of the job, which may have chosen another one, or whose search was stopped."""
    table().write_csv(tmp_path / "people.csv")
    chosen = tk.run_job(job_for(algorithm="auto"), tmp_path / "people.csv", tmp_path / "auto", seed=5)
    assert chosen.public_manifest["algorithm"]["name"] != "auto"
    found = tk.why(tmp_path / "auto", 1, data=tmp_path / "people.csv")
    assert found.algorithm == algorithm_class(chosen.public_manifest["algorithm"]["name"]).title
    job = job_for(algorithm="flash", time_limit="0.0001s")
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "stopped", seed=5)
    found = tk.why(tmp_path / "stopped", 1, data=tmp_path / "people.csv")
    assert "stopped by the time limit; these are groups of mondrian" in found.algorithm
    assert "Flash" not in str(found)


def test_why_needs_the_same_data_and_the_folder_to_keep(release: Path):
    with pytest.raises(JobError, match="E108"):
        tk.why(release, 9999)
    with pytest.raises(JobError, match="E105"):
        tk.why(release, 1, ["agee"])
    with pytest.raises(JobError, match="E107"):
        tk.why(release / "public", 1)
    data = release.parent / "people.csv"
    data.write_text(data.read_text().replace("Kiel", "Husum", 1))
    with pytest.raises(DataError, match="cannot be made again"):
        tk.why(release, 1)


def test_why_on_the_command_line(release: Path):
    done = CliRunner().invoke(app, ["why", str(release), "--row", "3", "--column", "age"])
    assert done.exit_code == 0, done.output
    assert "in a group of" in done.output
    told = json.loads(CliRunner().invoke(app, ["why", str(release), "--row", "3", "--json"]).stdout)
    assert [c["column"] for c in told["columns"]] == ["age", "town", "sex"]
    assert CliRunner().invoke(app, ["why", str(release), "--row", "0"]).exit_code == 2


def test_what_is_not_coarsened_has_no_reasons(tmp_path: Path):
    table().write_csv(tmp_path / "people.csv")
    job = replace_job(job_for(criteria=[tk.LDiversity("illness", 2)], algorithm="anatomize", max_suppressed=0.5))
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "out", seed=5)
    with pytest.raises(JobError, match="E111"):
        tk.why(tmp_path / "out", 1)


@pytest.mark.parametrize(
    "criterion",
    [
        tk.LKCPrivacy(2, 4, 0.95, "illness"),
        tk.NTCloseness("illness", 100, 0.3),
        tk.XYLinkability("illness", 0.65, x=("town",)),
        tk.AverageRisk(0.1),
    ],
    ids=lambda c: c.name,
)
def test_why_asks_about_the_whole_release_where_more_than_a_group_decides(tmp_path: Path, criterion):
    """One level more is told of one group, all else as it was: the criterion is asked about a table that says so."""
    table().write_csv(tmp_path / "people.csv")
    job = job_for(criteria=[tk.KAnonymity(3), criterion], min_level={"age": 2})
    tk.run_job(job, tmp_path / "people.csv", tmp_path / "out", seed=5)
    decided = tk.decide(job, tmp_path / "people.csv", seed=5)
    public = pl.read_csv(tmp_path / "out" / "public" / "people.csv", infer_schema=False)
    asked = False
    for row in range(1, public.height, 29):
        reasons = {r.column: r for r in tk.why(tmp_path / "out", row, data=tmp_path / "people.csv").columns}
        name = next((n for n in ("sex", "town") if reasons[n].tried > 1), None)
        if name is None:
            continue
        labels = public.select("age", "town", "sex").row(row - 1)
        tree = decided.plan.tally.quasi_domains[["age", "town", "sex"].index(name)].taxonomy
        divided = _with_children_told(decided.plan, labels, name, tree)
        found = tk.verify(divided, [criterion], ["age", "town", "sex"], ["illness"])
        broken = sum(n for what, n in reasons[name].broken.items() if what.startswith(criterion.asked))
        assert (broken == 0) == found.ok
        asked = True
    assert asked


def _with_children_told(plan, labels: tuple[str, ...], name: str, tree: tk.Taxonomy) -> pl.DataFrame:
    """The records of a release as it would be written if one group said one level more in a column."""
    names = [d.name for d in plan.tally.quasi_domains]
    rows = []
    for cell, group, quota in zip(plan.grouping.cell, plan.grouping.group, plan.grouping.quota, strict=True):
        if group < 0:
            continue
        said = [x.texts[x.code[group]] for x in plan.labels]
        j = names.index(name)
        if tuple(said) == labels:
            leaf = plan.tally.quasi[cell, j]
            node = next(n for n in range(tree.n_nodes) if tree.labels[n] == labels[j])
            below = [n for n in range(tree.n_nodes) if tree.parent[n] == node and tree.lo[n] <= leaf <= tree.hi[n]]
            said[j] = tree.labels[below[0]]
        secret = plan.tally.sensitive_domains[0].taxonomy.leaves[plan.tally.sensitive[cell, 0]]
        rows += [(*said, secret)] * int(quota)
    return pl.DataFrame(rows, schema=[*names, "illness"], orient="row")
