"""Distributions, populations, queries and analyses of a pair, by hand and by plain twins."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from itertools import combinations, product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import tarnkappe as tk
from tarnkappe.cli.app import app
from tarnkappe.errors import JobError
from tarnkappe.metrics.query_error import Workload
from tarnkappe.usefulness.analyses import _least_squares, _overlap, eigenvalues, propensity, regression
from tarnkappe.usefulness.distributions import associations, column_differences, cramers_v, jensen_shannon
from tarnkappe.usefulness.populations import population_loss
from tarnkappe.usefulness.queries import pair_query_error
from tarnkappe.usefulness.reading import open_pair

TREE = {"A": ["a1", "a2"], "B": ["b1", "b2", "b3"]}
QUASI = {"x": tk.tree(TREE), "y": tk.suppress()}


def tables(seed: int = 4, n: int = 120) -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(seed)
    x = rng.choice(["a1", "a2", "b1", "b2", "b3"], n)
    y = rng.choice(["u", "v"], n)
    s = np.where((x == "a1") | (rng.random(n) < 0.4), "ill", "well")
    before = pl.DataFrame({"x": x, "y": y, "s": s})
    up = {leaf: node for node, leaves in TREE.items() for leaf in leaves}
    shown = [x[i] if i % 3 == 0 else up[x[i]] if i % 3 == 1 else "*" for i in range(n)]
    return before, pl.DataFrame({"x": shown, "y": [v if i % 2 else "*" for i, v in enumerate(y)], "s": s})


def covered(text: str, column: str) -> list[str]:
    leaves = [v for vs in TREE.values() for v in vs] if column == "x" else ["u", "v"]
    return leaves if text == "*" else TREE.get(text, [text]) if column == "x" else [text]


def share(text: str, column: str, values: list[str]) -> float:
    mine = covered(text, column)
    return sum(v in values for v in mine) / len(mine)


def divergence(p: list[float], q: list[float]) -> float:
    def kl(a, b):
        return sum(x * math.log2(x / y) for x, y in zip(a, b, strict=True) if x > 0)

    middle = [(a + b) / 2 for a, b in zip(p, q, strict=True)]
    return (kl(p, middle) + kl(q, middle)) / 2


def test_divergence_by_hand():
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.5, 0.5])) == pytest.approx(0.3113, abs=5e-5)
    assert jensen_shannon(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1.0


def test_columns_and_pairs_by_a_plain_twin():
    before, after = tables()
    pair = open_pair(before, after, QUASI)
    n = before.height
    for found in column_differences(pair, {}):
        values = sorted(before[found.column].unique().to_list())
        p = [before[found.column].to_list().count(v) / n for v in values]
        if found.column == "s":
            q = [after["s"].to_list().count(v) / n for v in values]
        else:
            q = [sum(share(t, found.column, [v]) for t in after[found.column]) / n for v in values]
        assert found.distance == pytest.approx(sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2)
        assert found.divergence == pytest.approx(divergence(p, q))
    for found in associations(pair):
        one, two = sorted(before[found.first].unique()), sorted(before[found.second].unique())
        joint = np.zeros((len(one), len(two)))
        for row in after.iter_rows(named=True):
            for (i, a), (j, b) in product(enumerate(one), enumerate(two)):
                of = [
                    float(row[c] == v) if c == "s" else share(row[c], c, [v])
                    for c, v in ((found.first, a), (found.second, b))
                ]
                joint[i, j] += of[0] * of[1]
        assert found.release == pytest.approx(cramers_v(joint))


def test_populations_by_a_plain_twin():
    before, after = tables()
    pair = open_pair(before, after, QUASI)
    n, support = before.height, 0.1
    found = population_loss(pair, "s", support)
    items = {"x": [[v] for vs in TREE.values() for v in vs] + list(TREE.values()), "y": [["u"], ["v"]]}
    classes = ["ill", "well"]
    overall = [before["s"].to_list().count(c) / n for c in classes]
    off, trivial = [], []
    named = [[(c, item)] for c in items for item in items[c]]
    named += [[("x", a), ("y", b)] for a in items["x"] for b in items["y"]]
    for population in named:
        inside = before
        for column, item in population:
            inside = inside.filter(pl.col(column).is_in(item))
        if inside.height < support * n:
            continue
        truth = [inside["s"].to_list().count(c) / inside.height for c in classes]
        guess = [
            sum(
                math.prod(share(row[column], column, item) for column, item in population)
                for row in after.iter_rows(named=True)
                if row["s"] == c
            )
            for c in classes
        ]
        off.append(divergence([g / sum(guess) for g in guess], truth))
        trivial.append(divergence(overall, truth))
    assert found.n_populations == len(off)
    assert found.uloss == pytest.approx(sum(off) / len(off))
    assert found.trivial == pytest.approx(sum(trivial) / len(trivial))
    told = []
    for _, rows in after.group_by("x", "y"):
        p = [rows["s"].to_list().count(c) / rows.height for c in classes]
        told.append(divergence(p, overall))
    assert found.ploss == pytest.approx(max(told))


def test_of_the_trivially_anonymised_table_nothing_is_kept():
    before, _ = tables()
    trivial = before.with_columns(pl.lit("*").alias("x"), pl.lit("*").alias("y"))
    found = population_loss(open_pair(before, trivial, QUASI), "s")
    assert found.ploss == 0
    assert found.uloss == pytest.approx(found.trivial)
    assert found.kept == pytest.approx(0.0, abs=1e-9)
    itself = population_loss(open_pair(before, before, QUASI), "s")
    assert itself.uloss == 0
    assert itself.kept == 1


def test_populations_that_are_cut_are_said():
    before, after = tables()
    assert population_loss(open_pair(before, after, QUASI), "s", most=3).is_cut
    with pytest.raises(JobError):
        population_loss(open_pair(before, after, QUASI), "s", support=0)
    with pytest.raises(JobError):
        population_loss(open_pair(before, after, QUASI), "x")


def test_queries_as_of_the_plan():
    """The same queries on the plan of a run and on its written table."""
    before, _ = tables(n=400)
    job = tk.Job(quasi=QUASI, sensitive=["s"], criteria=[tk.KAnonymity(8)], algorithm="mondrian", seed=1)
    release = job.anonymize(before, seed=1)
    workload = {"queries": 50, "predicates": 2}
    by_plan = tk.query_error(release, rng=np.random.default_rng(3), column="s", **workload)
    pair = open_pair(before, release.table, job=job)
    by_pair = pair_query_error(pair, Workload(**workload), np.random.default_rng(3), "s")
    assert by_pair.actual.tolist() == by_plan.actual.tolist()
    assert by_pair.estimated == pytest.approx(by_plan.estimated)


@pytest.fixture(scope="module")
def numbers() -> tuple[pl.DataFrame, pl.DataFrame]:
    rng = np.random.default_rng(8)
    n = 400
    a = rng.normal(0, 1, n).round(2)
    b = (0.8 * a + rng.normal(0, 0.5, n)).round(2)
    before = pl.DataFrame({"a": a, "b": b, "c": (2 * a - b + rng.normal(0, 0.3, n)).round(2)})
    job = tk.Job(
        quasi={"a": tk.numeric(), "b": tk.numeric()}, keep=["c"], because={"c": "a measurement, reviewed by hand"},
        criteria=[tk.KAnonymity(4)], algorithm="mdav", seed=1,
    )  # fmt: skip
    return before, job.anonymize(before, seed=1).table


def test_regression_by_numpy(numbers):
    before, after = numbers
    pair = open_pair(before, after, {"a": tk.numeric(), "b": tk.numeric()})
    found = regression(pair, "c")
    for side, frame in (("original", before), ("release", after)):
        scaled = [(frame[n] - before[n].mean()) / before[n].std(ddof=0) for n in ("a", "b")]
        x = np.column_stack([np.ones(frame.height), *(s.to_numpy() for s in scaled)])
        beta = np.linalg.lstsq(x, frame["c"].to_numpy(), rcond=None)[0]
        assert [getattr(c, side) for c in found.coefficients] == pytest.approx(beta.tolist())
    assert 0 < found.overlap < 1
    same = regression(open_pair(before, before, {"a": tk.numeric(), "b": tk.numeric()}), "c")
    assert same.overlap == pytest.approx(1.0)


def test_standard_errors_and_overlap_by_hand():
    x = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([1.0, 2.9, 5.1, 7.0])
    beta, error, explained = _least_squares(x, y, np.ones(4))
    slope = ((x[:, 0] - 1.5) * (y - y.mean())).sum() / 5
    rest = y - y.mean() - slope * (x[:, 0] - 1.5)
    assert beta[1] == pytest.approx(slope)
    assert error[1] == pytest.approx(math.sqrt((rest**2).sum() / 2 / 5))
    assert explained > 0.99
    assert _overlap(0.0, 1.0, 0.0, 1.0) == 1.0
    assert _overlap(0.0, 1.0, 1.0, 1.0) == pytest.approx(0.5)
    assert _overlap(0.0, 1.0, 3.0, 1.0) < 0


def test_eigenvalues_by_numpy(numbers):
    before, after = numbers
    found = eigenvalues(open_pair(before, after, {"a": tk.numeric(), "b": tk.numeric()}))
    assert found is not None
    for side, frame in zip(found, numbers, strict=True):
        right = np.linalg.eigvalsh(np.corrcoef(frame.select("a", "b", "c").to_numpy().astype(float), rowvar=False))[
            ::-1
        ]
        assert side == pytest.approx(right.tolist())


def test_two_equal_tables_cannot_be_told_apart(numbers):
    before, after = numbers
    quasi = {"a": tk.numeric(), "b": tk.numeric()}
    assert propensity(open_pair(before, before, quasi)).pmse == pytest.approx(0.0, abs=1e-12)
    told = propensity(open_pair(before, after, quasi))
    assert told.converged
    assert 0 <= told.pmse <= 0.25
    shifted = open_pair(
        before.with_columns(c=pl.col("c").round(0)),
        before.with_columns(c=pl.col("c").round(0), a=pl.col("a").sort()),
        quasi,
    )
    assert propensity(shifted).pmse < 0.25


def test_pmse_by_a_plain_logistic_regression(numbers):
    """The score is that of a fit by plain gradient ascent, with twice as many records in the release as suits it."""
    before, _ = numbers
    after = pl.concat([before.with_columns(c=pl.col("c") + 0.4), before.head(100)])
    told = propensity(open_pair(before, after, {"a": tk.numeric(), "b": tk.numeric()}))
    mean, spread = (before.select("a", "b", "c").to_numpy().mean(0), before.select("a", "b", "c").to_numpy().std(0))
    scaled = [(f.select("a", "b", "c").to_numpy() - mean) / spread for f in (before, after)]
    x = np.column_stack([np.ones(before.height + after.height), np.vstack(scaled)])
    y = np.repeat([0.0, 1.0], [before.height, after.height])
    beta = np.zeros(4)
    for _ in range(20_000):
        beta += 0.002 * x.T @ (y - 1 / (1 + np.exp(-x @ beta)))
    c, n = y.mean(), len(y)
    pmse = ((1 / (1 + np.exp(-x @ beta)) - c) ** 2).mean()
    assert told.pmse == pytest.approx(pmse, rel=1e-4)
    assert told.ratio == pytest.approx(pmse / (3 * (1 - c) ** 2 * c / n), rel=1e-4)
    assert told.ratio > 5


def test_training_on_the_release():
    pytest.importorskip("sklearn")
    before, after = tables(n=600)
    found = tk.utility(before, after, QUASI, target="s", learn=True, queries=10).learning
    assert found is not None
    assert found.guess <= found.release <= found.original + 0.1
    again = tk.utility(before, after, QUASI, target="s", learn=True, queries=10).learning
    assert again == found
    nothing = before.with_columns(pl.lit("*").alias("x"), pl.lit("*").alias("y"))
    lost = tk.utility(before, nothing, QUASI, target="s", learn=True, queries=10).learning
    assert lost is not None
    assert lost.release == pytest.approx(lost.guess, abs=0.05)


def test_without_scikit_learn_one_line_says_so(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    before, after = tables()
    with pytest.raises(JobError, match=r"E119.*scikit-learn") as caught:
        tk.utility(before, after, QUASI, target="s", learn=True)
    assert "pip install 'tarnkappe[learn]'" in str(caught.value)


def test_the_command(tmp_path):
    before, after = tables()
    before = before.with_columns(pl.lit("canary").alias("note"))
    after = after.with_columns(pl.lit("canary").alias("note"))
    before.write_csv(tmp_path / "before.csv")
    after.write_csv(tmp_path / "after.csv")
    words = ["utility", str(tmp_path / "before.csv"), str(tmp_path / "after.csv"), "--quasi", "y", "--column", "s"]
    shown = CliRunner().invoke(app, [*words, "--target", "s"])
    assert shown.exit_code == 0, shown.output
    for word in ("Discernibility", "ULoss", "PLoss", "pMSE", "Queries", "Regression"):
        assert word in shown.output
    told = CliRunner().invoke(app, [*words, "--json"])
    data = json.loads(told.stdout)
    assert {f["name"] for f in data["figures"]} >= {"lm", "iloss", "gcp", "precision", "level-share", "aecs", "aes"}
    assert "canary" not in shown.output + told.stdout
    assert CliRunner().invoke(app, [*words, "--learn"]).exit_code == 2


def test_same_tables_same_figures(numbers):
    before, after = numbers
    one, two = (tk.utility(before, after.sample(fraction=1, shuffle=True, seed=s)) for s in (1, 2))
    assert one.as_dict()["figures"] == two.as_dict()["figures"]
    assert one.query_error == two.query_error
    assert Counter(c.column for c in one.columns) == Counter(before.columns)
    assert len(one.associations) == len(list(combinations(before.columns, 2)))


def test_a_decimal_comma_is_no_sign_between_two_numbers(tmp_path, monkeypatch):
    """A centre such as 25,27 is one number where the comma is the decimal sign, not the range from 25 to 27."""
    rng = np.random.default_rng(3)
    ages, ills = rng.integers(20, 60, 60), rng.choice(["flu", "gout", "cold"], 60)
    said = []
    for decimal in (".", ","):
        monkeypatch.chdir(tmp_path_of(tmp_path, decimal))
        rows = [f"{age}{decimal}5;{ill}" for age, ill in zip(ages, ills, strict=True)]
        Path("people.csv").write_text("\n".join(["age;illness", *rows]) + "\n")
        job = "data: {path: people.csv}\ncolumns: {age: {role: quasi, type: numeric}, illness: sensitive}\n"
        Path("job.yaml").write_text(job + "criteria: [{k-anonymity: {k: 3}}]\nalgorithm: mdav\noutput: {folder: out}\n")
        assert CliRunner().invoke(app, ["run", "job.yaml", "--seed", "1"]).exit_code == 0
        found = CliRunner().invoke(app, ["utility", "people.csv", "out", "--json"])
        assert found.exit_code == 0, found.output
        said.append(json.loads(found.stdout))
    assert said[0] == said[1]


def tmp_path_of(folder, decimal):
    place = folder / ("comma" if decimal == "," else "point")
    place.mkdir()
    return place
